"""How each MCP client writes down a server: which file, which keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["CLIENTS", "Server", "snippet"]


@dataclass(frozen=True, slots=True)
class Server:
    """A server to point at: by the command that runs it, or by its URL."""

    name: str
    command: tuple[str, ...]
    url: str | None = None
    token_env: str | None = None
    """The environment variable that holds the bearer token for the URL."""

    @property
    def stdio(self) -> dict[str, Any]:
        """The command as nearly every client writes it."""
        return {"command": self.command[0], "args": list(self.command[1:])}

    def remote(self, key: str, variable: str, **more: Any) -> dict[str, Any]:
        """The URL under `key`, with the token where `variable` says how the client spells environment variables."""
        headers = {}
        if self.token_env:
            headers = {"headers": {"Authorization": f"Bearer {variable.format(self.token_env)}"}}
        return {**more, key: self.url, **headers}


def snippet(client: str, server: Server) -> tuple[str, str]:
    """The text for the client's configuration, and where it belongs."""
    make, place = CLIENTS[client]
    return make(server), place


def _json(key: str, entry: Callable[[Server], Mapping[str, Any]]) -> Callable[[Server], str]:
    return lambda server: json.dumps({key: {server.name: entry(server)}}, indent=2, ensure_ascii=False)


def _plain(server: Server) -> Mapping[str, Any]:
    return server.stdio if server.url is None else server.remote("url", "${{{}}}")


def _claude_desktop(server: Server) -> Mapping[str, Any]:
    if server.url is None:
        return server.stdio
    # Its file knows only commands: mcp-remote is the usual bridge to a URL.
    args = ["-y", "mcp-remote", server.url]
    if server.token_env:
        args += ["--header", f"Authorization: Bearer ${{{server.token_env}}}"]
    return {"command": "npx", "args": args}


def _typed(server: Server) -> Mapping[str, Any]:
    if server.url is None:
        return {"type": "stdio", **server.stdio}
    return server.remote("url", "${{{}}}", type="http")


def _vscode(server: Server) -> Mapping[str, Any]:
    if server.url is None:
        return {"type": "stdio", **server.stdio}
    return server.remote("url", "${{env:{}}}", type="http")


def _cursor(server: Server) -> Mapping[str, Any]:
    return server.stdio if server.url is None else server.remote("url", "${{env:{}}}")


def _windsurf(server: Server) -> Mapping[str, Any]:
    return server.stdio if server.url is None else server.remote("serverUrl", "${{env:{}}}")


def _zed(server: Server) -> Mapping[str, Any]:
    return {**server.stdio, "env": {}} if server.url is None else server.remote("url", "<the value of {}>")


def _gemini(server: Server) -> Mapping[str, Any]:
    return server.stdio if server.url is None else server.remote("httpUrl", "${}")


def _codex(server: Server) -> str:
    # A TOML basic string is a JSON string, as long as characters beyond ASCII are written as they are.
    def quoted(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False)

    is_bare = server.name.isascii() and server.name.replace("-", "_").isidentifier()
    lines = [f"[mcp_servers.{server.name if is_bare else quoted(server.name)}]"]
    if server.url is None:
        lines += [f"command = {quoted(server.command[0])}", f"args = {quoted(list(server.command[1:]))}"]
    else:
        lines.append(f"url = {quoted(server.url)}")
        if server.token_env:
            lines.append(f"bearer_token_env_var = {quoted(server.token_env)}")
    return "\n".join(lines)


CLIENTS: Final[Mapping[str, tuple[Callable[[Server], str], str]]] = {
    "claude": (
        _json("mcpServers", _claude_desktop),
        "claude_desktop_config.json, which Claude Desktop opens under Settings › Developer › Edit Config",
    ),
    "claude-code": (_json("mcpServers", _typed), ".mcp.json in the project"),
    "codex": (_codex, "~/.codex/config.toml, or .codex/config.toml in a trusted project"),
    "cursor": (_json("mcpServers", _cursor), "~/.cursor/mcp.json, or .cursor/mcp.json in the project"),
    "gemini": (_json("mcpServers", _gemini), "~/.gemini/settings.json, or .gemini/settings.json in the project"),
    "generic": (_json("mcpServers", _plain), "the client's mcp.json"),
    "vscode": (
        _json("servers", _vscode),
        ".vscode/mcp.json in the workspace, or the user's: MCP: Open User Configuration",
    ),
    "windsurf": (_json("mcpServers", _windsurf), "~/.codeium/windsurf/mcp_config.json"),
    "zed": (_json("context_servers", _zed), "Zed's settings.json (zed: open settings file)"),
}
"""Client → how it writes a server, and into which file. Checked against the clients' documentation in November 2026."""
