"""`envace-sdk serve`: rehearsed tools for any MCP client."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from envace_sdk.variables import AUTH_TOKEN, CONTROL_TOKEN, STORE_URL

from .extras import listening_address, load
from .tools_options import named_source

__all__ = ["serve"]

_FILE = click.Path(exists=True, dir_okay=False)


@click.command(
    epilog="""\b
Examples:
  envace-sdk serve --tools retail
      one client, on standard input and output: what a client's configuration starts
  envace-sdk serve --tools ./tools.json --seed-data customers.csv
      your own catalogue, starting with your own data
  envace-sdk serve --tools retail --http 127.0.0.1:8000
      http://127.0.0.1:8000/retail/mcp, and a world of its own for each test worker at
      http://127.0.0.1:8000/retail/worlds/worker-1/mcp (or by the header x-envace-world)
  envace-sdk serve --tools retail --tools crm=./crm/ --http 8000 --control-token "$TOKEN"
      two toolsets; curl -X POST -H "Authorization: Bearer $TOKEN" localhost:8000/control/list
  envace-sdk serve --tools retail --faults flaky
      some calls fail, always the same ones for the same --seed
  envace-sdk serve --tools ./tools.json --model openai:qwen3@http://localhost:8000/v1
      what the rules leave open, a model answers; its answers say so
  envace-sdk serve --tools retail --store sqlite:///worlds.db
      worlds that are still there after a restart
  envace-sdk serve --tools retail --http 8000 --workers 4 --store postgresql://localhost/envace --migrate
      several processes that serve the same worlds on one port
\b
While it runs, `envace-sdk world` looks into its worlds, resets, forks and restores them.
The server ends, with exit code 0, at the end of input and on SIGINT and SIGTERM.
""",
)
@click.option(
    "--tools",
    "sources",
    required=True,
    multiple=True,
    metavar="[NAME=]SOURCE",
    help="Shipped name, file, folder or URL. Several, with --http, each get their own path.",
)
@click.option("--http", "address", metavar="HOST:PORT", help="Serve over HTTP instead of standard input and output.")
@click.option("--world", default="default", show_default=True, metavar="NAME", help="World of requests that name none.")
@click.option("--seed", default=0, show_default=True, help="Of new worlds: the same seed gives the same answers.")
@click.option("--clock", metavar="TIME", help="Of new worlds, as in 2026-01-01T09:00:00Z.")
@click.option("--seed-data", multiple=True, metavar="FILE", help="Start data: .json, .jsonl, .csv or .yaml.")
@click.option("--fixtures", multiple=True, type=_FILE, metavar="FILE", help="Recordings to answer from.")
@click.option("--ignore", multiple=True, metavar="[TOOL:]PATH", help="Part of requests that never matters to them.")
@click.option("--recorded-only", is_flag=True, help="Answer what is recorded; all else is an error that says why.")
@click.option("--dynamics", type=_FILE, metavar="FILE", help="Rules to use instead of the toolset's own.")
@click.option("--faults", metavar="PLAN", help="Make calls fail: plan.yaml, flaky, rate-limited, read-only or slow.")
@click.option(
    "--model", metavar="URI", help="Model that answers what no rule does: openai:NAME@URL, transformers:FOLDER, …"
)
@click.option(
    "--store",
    metavar="URL",
    envvar=STORE_URL,
    show_envvar=True,
    help="Keep worlds in this database: sqlite:///FILE or postgresql://…",
)
@click.option("--migrate", is_flag=True, help="Make, or bring up to date, the tables in the --store first.")
@click.option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="HTTP: so many processes, on worlds in PostgreSQL."
)
@click.option(
    "--cache-worlds",
    type=click.IntRange(min=1),
    default=1_000,
    show_default=True,
    help="With --workers: most worlds that each of them holds in memory.",
)
@click.option(
    "--store-connections",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="With --workers: most connections of each to the database; as many calls run at once.",
)
@click.option(
    "--max-worlds",
    type=click.IntRange(min=1),
    help="Most worlds of a toolset: held (default 10000), or with --workers stored (default 1000000).",
)
@click.option(
    "--max-request-bytes",
    type=click.IntRange(min=1),
    default=4 * 1024 * 1024,
    show_default=True,
    help="HTTP: largest request.",
)
@click.option(
    "--max-depth",
    type=click.IntRange(min=8),
    default=100,
    show_default=True,
    help="HTTP: most arrays and objects in one another in a request.",
)
@click.option(
    "--call-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=300.0,
    show_default=True,
    help="Most seconds for a call; one that takes longer has not happened.",
)
@click.option(
    "--grace",
    type=click.FloatRange(min=0),
    default=3.0,
    show_default=True,
    help="HTTP: seconds for requests in flight to end when the server is told to.",
)
@click.option("--exact", is_flag=True, help="List every definition byte for byte, malformed ones and all.")
@click.option("--page-size", type=click.IntRange(min=1), help="Page the tool list, to see whether a client follows.")
@click.option(
    "--json-response", is_flag=True, help="HTTP: answer handshake clients with plain JSON, not event streams."
)
@click.option("--allow-remote", is_flag=True, help="HTTP: allow an address that other machines can reach.")
@click.option("--allow-host", "allowed_hosts", multiple=True, metavar="NAME", help="HTTP: a further own host name.")
@click.option("--auth-token", envvar=AUTH_TOKEN, show_envvar=True, help="HTTP: bearer token that clients must send.")
@click.option("--control-token", envvar=CONTROL_TOKEN, show_envvar=True, help="HTTP: switch /control on.")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="What is logged to standard error.",
)
def serve(
    sources: tuple[str, ...],
    address: str | None,
    seed_data: tuple[str, ...],
    fixtures: tuple[str, ...],
    dynamics: str | None,
    clock: str | None,
    allow_remote: bool,
    **options: Any,
) -> None:
    """Serve rehearsed tools to any MCP client, on standard input and output or over HTTP.

    The catalogue is the original's; the answers are rehearsed: schema-valid, stateful, the same every time, and each
    labelled with where it came from. Nothing real is touched.
    """
    named = tuple(named_source(source) for source in sources)
    if len(named) > 1 and (address is None or seed_data or fixtures or dynamics):
        missing = (
            "--http" if address is None else "no --seed-data, --fixtures or --dynamics: they belong to one toolset"
        )
        raise click.UsageError(f"several --tools need {missing}")
    if options["workers"] is not None:
        _require_workers(address, options["store"], named)
    if address is None and named[0][1] == "-":
        raise click.UsageError("--tools - needs --http: here standard input carries the client's requests")
    serving = load("mcp_servers.serving", command="serve", extra="mcp")
    settings = serving.Options(
        sources=named,
        clock=_clock(clock),
        seed_data=seed_data,
        fixtures=tuple(map(Path, fixtures)),
        dynamics=Path(dynamics) if dynamics else None,
        **options,
    )
    if address is None:
        serving.serve_stdio(settings)
        return
    listening = _address(address, allow_remote=allow_remote, has_token=settings.auth_token is not None)
    try:
        if settings.workers is None:
            serving.serve_http(settings, listening)
        else:
            load("mcp_servers.workers", command="serve", extra="mcp").serve_workers(settings, listening)
    except OSError as error:
        raise click.ClickException(f"cannot listen on {address}: {error.strerror or error}") from error


def _require_workers(address: str | None, store: str | None, named: tuple[tuple[str | None, str], ...]) -> None:
    """Raises: click.UsageError where several processes cannot serve."""
    if address is None:
        raise click.UsageError("--workers needs --http: standard input and output have one client, and one process")
    if store is None or not store.startswith(("postgresql:", "postgresql+", "postgres:")):
        kept = "in memory" if store is None else "there"
        raise click.UsageError(
            f"--workers needs --store postgresql://HOST/NAME: several processes cannot share worlds kept {kept}; or "
            "leave --workers out, and one process serves"
        )
    if not hasattr(os, "fork"):
        raise click.UsageError("--workers needs a system that can fork processes; leave it out, and one process serves")
    if any(source == "-" for _, source in named):
        raise click.UsageError("--workers cannot read --tools from standard input; name a file")


def _clock(text: str | None) -> datetime | None:
    from envace_sdk.world.clock import parse_clock

    return None if text is None else parse_clock(text, "--clock")


def _address(text: str, *, allow_remote: bool, has_token: bool) -> Any:
    address = listening_address(text, command="serve", allow_remote=allow_remote)
    if not address.is_loopback and not has_token:
        click.echo(f"warning: anyone who can reach {text} can use this server: there is no --auth-token", err=True)
    return address
