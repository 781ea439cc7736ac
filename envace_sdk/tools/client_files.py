"""The servers in a client's configuration: `mcp.json` and its relatives, with variables filled in."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from envace_sdk.errors import ToolsetError
from envace_sdk.json import Json

from .upstream import Target

__all__ = ["choose_server", "read_servers"]

_KEYS: Final = ("mcpServers", "servers", "context_servers")
_URLS: Final = ("url", "httpUrl", "serverUrl")
_VARIABLE: Final = re.compile(r"\$\{(?:(?P<kind>[A-Za-z]+):(?!-))?(?P<name>[^}:]+)(?::-(?P<default>[^}]*))?\}")


def read_servers(document: Json, where: str) -> dict[str, Json]:
    """The servers a configuration names (`mcpServers`, `servers`, `context_servers`), as they are written there.

    Raises:
        ToolsetError: it names none.
    """
    holders = [document, document.get("mcp")] if isinstance(document, dict) else []
    servers: dict[str, Json] = {}
    for holder in holders:
        for key in _KEYS:
            if isinstance(holder, dict) and isinstance(holder.get(key), dict):
                servers |= holder[key]
    if not servers:
        raise ToolsetError(f"{where}: names no server")
    return servers


def choose_server(
    servers: Mapping[str, Json], name: str | None, where: str, file: Path | None = None
) -> tuple[str, Target]:
    """The server of that name, or the only one, and where it is.

    Variables are filled in as clients do: `${env:NAME}`, `${NAME}`, `${NAME:-default}`, `${workspaceFolder}`,
    `${userHome}`.

    Raises:
        ToolsetError: there is no such server, there are several to choose from, or its entry is wrong.
    """
    names = ", ".join(sorted(servers))
    if name is None:
        if len(servers) > 1:
            raise ToolsetError(f"{where}: names several servers; add one to it, as in {where}#NAME: {names}")
        name = next(iter(servers))
    if name not in servers:
        raise ToolsetError(f"{where}#{name}: no such server; there are: {names}")
    return name, _Entry(servers[name], f"{where}#{name}", file).target()


class _Entry:
    """One server's entry, read field by field."""

    def __init__(self, entry: Json, where: str, file: Path | None) -> None:
        if not isinstance(entry, dict):
            raise ToolsetError(f"{where}: expected an object")
        self._entry = entry
        self._where = where
        self._file = file

    def target(self) -> Target:
        url = next((key for key in _URLS if self._entry.get(key) is not None), None)
        if url is not None:
            if self._entry.get("type") == "sse":
                raise ToolsetError(
                    f"{self._where}: the transport `sse` was replaced in 2025; use the server's streamable HTTP URL"
                )
            return Target(url=self._text(url), headers=self._texts("headers"))
        command = [self._text("command"), *self._list("args")]
        cwd = Path(self._text("cwd")).expanduser() if self._entry.get("cwd") is not None else None
        return Target(command=tuple(command), env=self._texts("env"), cwd=cwd)

    def _text(self, key: str) -> str:
        value = self._entry.get(key)
        if not isinstance(value, str) or not value:
            raise ToolsetError(f"{self._where}: {key}: expected a string (a server has a `command` or a `url`)")
        return self._fill(value, key)

    def _list(self, key: str) -> list[str]:
        value = self._entry.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ToolsetError(f"{self._where}: {key}: expected a list of strings")
        return [self._fill(item, key) for item in value]

    def _texts(self, key: str) -> dict[str, str]:
        value = self._entry.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(isinstance(item, str | int | float) for item in value.values()):
            raise ToolsetError(f"{self._where}: {key}: expected an object of strings")
        return {name: self._fill(_plain(item), f"{key}.{name}") for name, item in value.items()}

    def _fill(self, text: str, key: str) -> str:
        return _VARIABLE.sub(lambda found: self._variable(found, key), text)

    def _variable(self, found: re.Match[str], key: str) -> str:
        kind, name, default = found["kind"], found["name"], found["default"]
        if kind not in (None, "env"):
            raise ToolsetError(f"{self._where}: {key}: {found[0]} is for a client to ask; write its value there")
        if kind is None and name in ("workspaceFolder", "userHome"):
            return str(self._workspace() if name == "workspaceFolder" else Path.home())
        value = os.environ.get(name, default)
        if value is None:
            raise ToolsetError(f"{self._where}: {key}: the environment variable {name} is not set")
        return value

    def _workspace(self) -> Path:
        folder = self._file.resolve().parent if self._file else Path.cwd()
        return folder.parent if folder.name in (".vscode", ".cursor", ".zed", ".gemini") else folder


def _plain(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
