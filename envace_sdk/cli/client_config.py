"""`envace-sdk client-config`: the snippet that points an MCP client at a rehearsed server, or at a gateway."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

import click

from .client_snippets import CLIENTS, Server, snippet

__all__ = ["client_config"]


@click.command(
    name="client-config",
    epilog=f"""\b
Examples:
  envace-sdk client-config retail --client claude
  envace-sdk client-config ./twin --client vscode > .vscode/mcp.json
  envace-sdk client-config retail --client codex --url http://127.0.0.1:8000/mcp --token-env RETAIL_TOKEN
  envace-sdk client-config retail --client cursor -- --seed 7 --world demo
  envace-sdk client-config --gateway --client claude -- npx -y @modelcontextprotocol/server-filesystem ~/Documents
  envace-sdk client-config --gateway --client zed -- --policy policy.yaml -- my-server --verbose
\b
Clients: {", ".join(CLIENTS)}.
\b
Where the snippet belongs is said on standard error. Without --url the client starts the server itself, on stdio;
what follows -- is passed on to `envace-sdk serve`. With --gateway, what follows -- is what `envace-sdk gateway` takes.
\b
Exit codes: 0 done; 2 wrong command line.
""",
)
@click.argument("source", metavar="[SOURCE]", required=False)
@click.argument("serve_options", nargs=-1, type=click.UNPROCESSED, metavar="[-- SERVE OPTIONS]")
@click.option("--gateway", is_flag=True, help="Point the client at the guard in front of a real server.")
@click.option("--client", type=click.Choice(list(CLIENTS)), default="generic", show_default=True)
@click.option("--name", help="The server's name in the client. Default: after SOURCE.")
@click.option("--url", help="A server that is already running, over HTTP.")
@click.option("--token-env", metavar="NAME", help="The environment variable that holds the server's bearer token.")
def client_config(
    source: str | None,
    serve_options: tuple[str, ...],
    gateway: bool,
    client: str,
    name: str | None,
    url: str | None,
    token_env: str | None,
) -> None:
    """Print the configuration that points a client at the rehearsed tools of SOURCE, or at a gateway."""
    if gateway:
        if url is not None or token_env is not None:
            raise click.UsageError("--url and --token-env are for a rehearsed server; --gateway has its own --upstream")
        _print(client, _gateway([*([] if source is None else [source]), *serve_options], name))
        return
    if source is None:
        raise click.UsageError("name the tools: SOURCE; or a server to guard: --gateway -- COMMAND")
    if url is not None and not url.lower().startswith(("http://", "https://")):
        raise click.UsageError("--url: expected an http or https URL, such as http://127.0.0.1:8000/mcp")
    if url is None and token_env is not None:
        raise click.UsageError("--token-env goes with --url: a server on stdio takes no token")
    if url is not None and serve_options:
        raise click.UsageError("options for `serve` go to the server itself where it already runs")
    from envace_sdk.tools.shipped import shipped

    path = Path(source)
    if url is None and not path.exists() and "#" not in source and "://" not in source and source not in shipped():
        raise click.UsageError(f"{source!r} is no file, folder or URL, and no toolset of that name is shipped")
    # Clients start servers in a folder of their own choosing, often with a bare PATH.
    where = str(path.resolve()) if path.exists() else source
    command = (*_program(), "serve", "--tools", where, *serve_options)
    _print(client, Server(name or _name(source), command, url, token_env))


def _gateway(arguments: list[str], name: str | None) -> Server:
    from .client_gateway import GatewayEntry

    entry = GatewayEntry(arguments)
    if entry.url is not None:
        click.echo(f"first start the gateway: {entry.start}", err=True)
    return Server(name or _plain(entry.name), (*_program(), "gateway", *entry.words()), entry.url)


def _print(client: str, server: Server) -> None:
    text, place = snippet(client, server)
    click.echo(text)
    click.echo(f"→ {place}", err=True)
    if client == "claude-code":
        entry = json.dumps(json.loads(text)["mcpServers"][server.name])
        click.echo(f"  or run: claude mcp add-json {shlex.quote(server.name)} {shlex.quote(entry)}", err=True)


def _program() -> tuple[str, ...]:
    beside = Path(sys.executable).with_name("envace-sdk.exe" if sys.platform == "win32" else "envace-sdk")
    if beside.exists():
        return (str(beside),)
    return (shutil.which("envace-sdk") or "envace-sdk",)


def _name(source: str) -> str:
    base = source.rpartition("#")[2] if "#" in source else source
    path = Path(base)
    stem = path.stem if path.suffix in (".json", ".yaml", ".yml") else path.name
    if stem in ("tools", "openapi") and path.resolve().parent.name:
        stem = path.resolve().parent.name
    return _plain(stem)


def _plain(name: str) -> str:
    return "".join(character if character.isalnum() or character in "-_" else "-" for character in name) or "envace"
