"""`envace-sdk gateway`: the guard in front of a real MCP server, for any client and without code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from .extras import listening_address, load
from .tools_options import oauth_access_options, target_of

__all__ = ["ACCESS", "gateway"]

TOKEN = "ENVACE_GATEWAY_TOKEN"  # noqa: S105  the name of a variable

ACCESS = (
    "header",
    "env",
    "token",
    "oauth",
    "oauth_client_id",
    "oauth_client_secret",
    "oauth_issuer",
    "oauth_scope",
)
"""What `oauth_access_options` adds."""
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(
    context_settings={"allow_interspersed_args": False},
    epilog="""\b
Examples:
  envace-sdk gateway -- npx -y @modelcontextprotocol/server-filesystem ~/Documents
      put this where your client's configuration has the server's own command;
      `envace-sdk client-config --gateway -- npx …` writes it
  envace-sdk gateway --policy policy.yaml --tools ./twin -- my-server
      your rules, and rehearsals by a toolset that has some of its own
  envace-sdk gateway --policy policy.yaml --upstream https://mcp.example.com/mcp --token "$TOKEN"
      and point the client at http://127.0.0.1:8809/mcp
  envace-sdk approvals list
      what waits for you; `approvals approve ID`, and the agent may make that one call
  envace-sdk gateway --shadow -- my-server
      judge and write down, stop nothing: to see what a policy would do
  ENVACE_GATEWAY_TOKEN=… envace-sdk gateway --api 127.0.0.1:8810 --tools retail --policy policy.yaml
      no MCP: an API that your own gateway asks; http://127.0.0.1:8810/openapi.json describes it
\b
Each tools/call is rehearsed, judged, perhaps asked about, sent at most once, and scored afterwards. A person is asked
at the client where it can show a form, and otherwise with `envace-sdk approvals`. All else passes as it is.
Without --policy, what is known to change nothing passes, and a person is asked about everything else.
\b
Exit codes: 0 done; 2 wrong command line; 3 the server, the policy, the tools or the ledger cannot be used. A command's
own exit code is passed on.
""",
)
@click.argument("server", nargs=-1, metavar="[--] [COMMAND...]", type=click.UNPROCESSED)
@click.option("--upstream", metavar="URL", help="A server reached over HTTP, instead of a command.")
@click.option("--from", "config", metavar="FILE#NAME", help="A server of a client's configuration instead.")
@click.option("--policy", type=_FILE, metavar="FILE", help="What becomes of calls; `envace-sdk guard check` checks it.")
@click.option("--tools", metavar="SOURCE", help="What to rehearse with; default: what the server lists.")
@click.option("--dynamics", type=_FILE, metavar="FILE", help="Rules of what the tools do, to rehearse by.")
@click.option("--seed-data", multiple=True, metavar="FILE", help="What is known at the start: .json, .jsonl, .csv …")
@click.option("--complete", is_flag=True, help="That is all there is at the start: what is not in it is missing.")
@click.option(
    "--ledger", envvar="ENVACE_LEDGER", show_envvar=True, metavar="FILE|URL", help="Default: your own ledger."
)
@click.option("--model", metavar="URI", help="Model that predicts what no rule does.")
@click.option("--trust-hints", is_flag=True, help="Believe the server when it says of a tool that it only reads.")
@click.option("--samples", default=1, show_default=True, type=click.IntRange(1, 32), help="Rehearsals per prediction.")
@click.option("--shadow", is_flag=True, help="Judge and write down, stop nothing; only the kill switch does.")
@click.option("--name", default="", metavar="NAME", help="Of the server, in policies; default: what it calls itself.")
@click.option("--thread", default="", metavar="NAME", help="The conversation, in the ledger.  [default: gateway]")
@click.option("--approver", default="", metavar="NAME", help="Who answers at the client; default: your user name here.")
@click.option(
    "--asked-by", default="", metavar="NAME", help="Whom the agent acts for: with four eyes, not the approver."
)
@click.option(
    "--patience",
    default=300.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="For an answer at the client.",
)
@click.option(
    "--known-since",
    metavar="TIME",
    help="When the start state of the tools was true; what the ledger says was observed since then is followed.",
)
@click.option("--webhook", metavar="URL", help="Is told of each approval that is asked for.")
@click.option("--webhook-secret", envvar="ENVACE_WEBHOOK_SECRET", show_envvar=True, default="", metavar="SECRET")
@click.option(
    "--http",
    "address",
    default="127.0.0.1:8809",
    show_default=True,
    metavar="HOST:PORT",
    help="With --upstream: where clients connect.",
)
@click.option("--api", metavar="HOST:PORT", help="Serve the HTTP API for gateways of your own, and no MCP.")
@click.option("--api-token", envvar=TOKEN, show_envvar=True, metavar="TOKEN", help="That callers of the API must send.")
@click.option("--allow-remote", is_flag=True, help="HTTP: allow an address that other machines can reach.")
@click.option("--allow-host", "allowed_hosts", multiple=True, metavar="NAME", help="HTTP: a further own host name.")
@click.option("--timeout", default=60.0, show_default=True, metavar="SECONDS", help="For the list of tools.")
@click.option(
    "--protocol",
    type=click.Choice(["auto", "legacy", "modern"]),
    default="auto",
    show_default=True,
    help="To list the tools with; clients speak whichever they like.",
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
def gateway(
    server: Sequence[str],
    upstream: str | None,
    config: str | None,
    address: str,
    api: str | None,
    api_token: str | None,
    allow_remote: bool,
    protocol: str,
    timeout: float,
    cwd: str | None,
    known_since: str | None,
    **options: Any,
) -> None:
    """Guard a real MCP server: stand between it and any client, and judge each tool call before it happens.

    The catalogue and everything else pass as they are. What was not executed says so first of all, what was is labelled
    observed, and nobody but the gateway can label anything.
    """
    module = load("mcp_servers.gateway", command="gateway", extra="mcp")
    if options["webhook"] and not options["webhook_secret"]:
        raise click.UsageError("--webhook needs --webhook-secret, which its messages are signed with")
    if known_since is not None:
        from envace_sdk.world.clock import parse_clock

        options["known_since"] = parse_clock(known_since, "--known-since")
    access = {name: options.pop(name) for name in ACCESS}
    given = (upstream,) if upstream is not None else tuple(server)
    if upstream is not None and server:
        raise click.UsageError("give a command or --upstream URL, not both")
    if api is not None:
        if given or config is not None:
            raise click.UsageError("--api judges what other gateways ask it: give it no server")
        if not api_token:
            raise click.UsageError(f"--api needs a token that callers must send: --api-token, or {TOKEN}")
        listening = listening_address(api, command="gateway", allow_remote=allow_remote, option="--api")
        _listening(api, lambda: module.run_api(module.Options(address=listening, token=api_token, **options)))
        return
    target = target_of(given, config, access, protocol=protocol, timeout=timeout, cwd=cwd)
    if target.url is None:
        sys.exit(module.run(module.Options(target=target, **options)))
    listening = listening_address(address, command="gateway", allow_remote=allow_remote, option="--http")
    settings = module.Options(target=target, address=listening, **options)
    sys.exit(_listening(address, lambda: module.run(settings)))


def _listening(address: str, run: Any) -> Any:
    try:
        return run()
    except OSError as error:
        raise click.ClickException(f"cannot listen on {address}: {error.strerror or error}") from error
