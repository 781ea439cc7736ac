"""`envace-sdk record`: a recording of a real server, made by standing between it and its clients."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from .extras import listening_address, load
from .tools_options import oauth_access_options, target_of

__all__ = ["record"]


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="""\b
Examples:
  envace-sdk record -o recordings/memory.jsonl -- npx -y @modelcontextprotocol/server-memory
      put this where your client's configuration has the server's own command
  envace-sdk record -o recordings/crm.jsonl --upstream https://mcp.example.com/mcp --token "$TOKEN"
      and point the client at http://127.0.0.1:8808/mcp
  envace-sdk serve --tools recordings/memory.jsonl
      the twin: the recorded catalogue, every recorded answer, and rehearsed ones for all else
  envace-sdk record -o recordings/memory.jsonl --verify -- npx -y @modelcontextprotocol/server-memory
      does the real server still answer as it was recorded?
\b
Record modes: `all` records everything, on top of what the file holds; `new` answers what the file holds, and asks the
real server the rest; `once` records when there is no file yet, and only replays when there is; `none` only replays.
\b
Secrets are taken out before anything is written: values of fields named like secrets, and texts that look like tokens.
\b
Exit codes: 0 done; with --verify, 1 something has changed; 2 wrong command line; 3 the server cannot be reached, or the
file cannot be used. A command's own exit code is passed on.
""",
)
@click.argument("server", nargs=-1, metavar="[--] [COMMAND...]", type=click.UNPROCESSED)
@click.option("-o", "--output", required=True, metavar="FILE", help="The recording, .jsonl; added to if it is there.")
@click.option("--upstream", metavar="URL", help="A server reached over HTTP, instead of a command.")
@click.option("--from", "config", metavar="FILE#NAME", help="A server of a client's configuration instead.")
@click.option(
    "--http",
    "address",
    default="127.0.0.1:8808",
    show_default=True,
    metavar="HOST:PORT",
    help="With --upstream: where clients connect.",
)
@click.option("--mode", default="all", show_default=True, metavar="MODE", help="none, new, once or all; see below.")
@click.option("--verify", is_flag=True, help="Replay the file against the real server and report what has changed.")
@click.option("--ignore", multiple=True, metavar="[TOOL:]PATH", help="Part of the arguments that never matters.")
@click.option("--redact-key", "redact_keys", multiple=True, metavar="NAME", help="A further field that holds a secret.")
@click.option("--redact-pattern", "redact_patterns", multiple=True, metavar="REGEX", help="A further shape of secrets.")
@click.option("--no-redact", is_flag=True, help="Keep everything as it is, secrets too.")
@click.option("--durable", is_flag=True, help="Also survive a loss of power: wait for the disk on each line.")
@click.option("--allow-remote", is_flag=True, help="HTTP: allow an address that other machines can reach.")
@click.option("--allow-host", "allowed_hosts", multiple=True, metavar="NAME", help="HTTP: a further own host name.")
@click.option("--timeout", default=60.0, show_default=True, metavar="SECONDS", help="With --verify: for each answer.")
@click.option(
    "--protocol",
    type=click.Choice(["auto", "legacy", "modern"]),
    default="auto",
    show_default=True,
    help="With --verify: the protocol to speak.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Of the report of --verify."
)
@click.option("--cwd", type=click.Path(exists=True, file_okay=False), help="Working directory of the command.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="What is logged to standard error.",
)
@oauth_access_options
def record(
    server: Sequence[str],
    output: str,
    upstream: str | None,
    config: str | None,
    address: str,
    mode: str,
    verify: bool,
    ignore: tuple[str, ...],
    redact_keys: tuple[str, ...],
    redact_patterns: tuple[str, ...],
    no_redact: bool,
    durable: bool,
    allow_remote: bool,
    allowed_hosts: tuple[str, ...],
    timeout: float,
    protocol: str,
    form: str,
    cwd: str | None,
    log_level: str,
    **access: Any,
) -> None:
    """Record a real MCP server: stand between it and any client, and write down what passes.

    Frames go through as they are. The file holds calls with their results and timing, the catalogue, resources,
    prompts, notifications, progress and questions to the client, in no protocol era's own form. Killing the recorder at
    any moment loses no finished call.
    """
    from envace_sdk.recordings import RecordMode

    try:
        record_mode = RecordMode.parse(mode)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--mode") from error
    if upstream is not None and server:
        raise click.UsageError("give a command or --upstream URL, not both")
    given = (upstream,) if upstream is not None else tuple(server)
    recording = load("mcp_servers.recording", command="record", extra="mcp")
    path = Path(output)
    if not given and config is None and record_mode is RecordMode.NONE:
        _replay(path, address, http=False)
        return
    target = target_of(given, config, access, protocol=protocol, timeout=timeout, cwd=cwd)
    if verify:
        # As the relay does: a server that was recorded on scratch data must not be verified on the real one.
        _verify(path, replace(target, env={**os.environ, **target.env}), ignore, form)
        return
    options = recording.Options(
        target=target,
        output=path,
        mode=record_mode,
        address=listening_address(address, command="record", allow_remote=allow_remote)
        if target.url is not None
        else None,
        ignore=ignore,
        redact=not no_redact,
        redact_keys=redact_keys,
        redact_patterns=redact_patterns,
        durable=durable,
        allowed_hosts=allowed_hosts,
        log_level=log_level,
    )
    if recording.replays_only(options):
        _replay(path, address, http=target.url is not None)
        return
    try:
        sys.exit(recording.run(options))
    except OSError as error:
        raise click.ClickException(f"cannot listen on {address}: {error.strerror or error}") from error


def _replay(path: Path, address: str, *, http: bool) -> None:
    """Serve nothing but what is recorded."""
    serving = load("mcp_servers.serving", command="record", extra="mcp")
    settings = serving.Options(sources=((None, str(path)),), recorded_only=True)
    if http:
        serving.serve_http(settings, listening_address(address, command="record", allow_remote=False))
    else:
        serving.serve_stdio(settings)


def _verify(path: Path, target: Any, ignore: tuple[str, ...], form: str) -> None:
    import asyncio
    import json

    from .tools_commands import quiet_clients

    quiet_clients()
    verifying = load("mcp_servers.verifying", command="record", extra="mcp")
    report = asyncio.run(verifying.verify(path, target, ignore=ignore))
    if form == "json":
        click.echo(json.dumps(report.to_json(), indent=2, ensure_ascii=False))
    else:
        click.echo(str(report))
    sys.exit(1 if report.changes else 0)
