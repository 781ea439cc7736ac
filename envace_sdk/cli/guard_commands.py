"""`envace-sdk guard`: how good its predictions are, what a policy would say, and the kill switch."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from .guard_settle import settle

if TYPE_CHECKING:
    from envace_sdk.guard import Action
    from envace_sdk.ledger import Ledger
    from envace_sdk.rehearse import Environment

__all__ = ["guard"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _ledger_option(command: _Command) -> _Command:
    return click.option(
        "--ledger",
        "url",
        metavar="URL",
        envvar="ENVACE_LEDGER",
        show_envvar=True,
        help="A database's URL or an SQLite file; default: your own ledger.",
    )(command)


def _json_option(command: _Command) -> _Command:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


@click.group(
    epilog="""\b
Examples:
  envace-sdk guard check policy.yaml --tools retail
  envace-sdk guard check policy.yaml --tools retail --call cancel_order '{"order_id": "TT-26-04102"}'
  envace-sdk guard report
  envace-sdk guard report --tool cancel_order --json
  envace-sdk guard stop --by ann --reason "incident 7"
  envace-sdk guard go-on --by ann
""",
)
def guard() -> None:
    """Check a policy, see how often predictions come true, and stop everything at once."""


@guard.command(
    epilog="""\b
A prediction is right when its status was observed, and the change that it told, where the answer shows one.
Brier score and calibration error are 0 at best: how far the confidence lies from what came.
\b
Exit codes:
  0  printed
  1  the latest predictions of a tool are worse than the earlier ones
  3  the ledger cannot be read, or has no such tool
""",
)
@_ledger_option
@click.option("--tool", metavar="NAME", help="Only this tool (server/tool where there is a server).")
@_json_option
def report(url: str | None, tool: str | None, as_json: bool) -> None:
    """Show accuracy and calibration of the guard's predictions, tool by tool."""
    from envace_sdk.errors import LedgerError
    from envace_sdk.guard.report import guard_report

    with _opened(url) as ledger:
        found = guard_report(ledger, tool=tool)
    if tool is not None and not found.tools:
        raise LedgerError(f"the ledger tells nothing of a tool {tool!r}")
    if as_json:
        click.echo(json.dumps(found.as_json(), ensure_ascii=False, indent=2))
    elif not found.tools:
        click.echo("nothing was judged yet", err=True)
    else:
        from .guard_print import calibration_table, report_table

        _print(report_table(found.tools), *(calibration_table(one) for one in found.tools if tool is not None))
    if found.drifting:
        click.echo(f"worse than before: {', '.join(found.drifting)}", err=True)
        sys.exit(1)


@guard.command(
    epilog="""\b
A sample is a recorded call of the tool, where the toolset has one, and otherwise made from its schema. Each is
rehearsed in the toolset's start state, and judged. Without a ledger there is no track record.
\b
Exit codes:
  0  the policy is valid
  1  it is valid, and something in it is likely to be a mistake
  3  the policy or the toolset is wrong; the message names the file and the rule
""",
)
@click.argument("policy", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--tools", "source", required=True, metavar="SOURCE", help="A toolset's folder, file, URL or shipped name."
)
@click.option("--tool", "only", multiple=True, metavar="NAME", help="Only this tool; may be repeated.")
@click.option("--call", "call", nargs=2, metavar="TOOL JSON", help="Judge this call instead of samples.", default=None)
@_json_option
def check(policy: Path, source: str, only: tuple[str, ...], call: tuple[str, str] | None, as_json: bool) -> None:
    """Check a policy file, and show what it says of sample actions."""
    from envace_sdk.guard import load_policy
    from envace_sdk.guard.checking import check_policy, findings
    from envace_sdk.rehearse import Environment

    rules = load_policy(policy)
    environment = Environment.load(source)
    samples = asyncio.run(check_policy(rules, environment, _actions(environment, only, call)))
    found = findings(rules, environment)
    if as_json:
        document = {"policy": str(policy), "samples": [one.as_json() for one in samples], "findings": found}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2, default=str))
    else:
        from .guard_print import sample_table

        _print(sample_table(samples))
        for line in found:
            click.echo(f"{policy}: {line}", err=True)
    if found:
        sys.exit(1)


@guard.command()
@_ledger_option
@click.option("--by", required=True, metavar="NAME", help="Who stops it.")
@click.option("--reason", required=True, metavar="TEXT", help="What everybody who is stopped will read.")
@click.option("--mode", type=click.Choice(["block", "ask"]), default="block", show_default=True)
def stop(url: str | None, by: str, reason: str, mode: str) -> None:
    """Stop every guard that uses the ledger: everything blocks, or asks, from the next action on."""
    from envace_sdk.guard.journal import Journal

    with _opened(url, new=True) as ledger:
        Journal(ledger).throw("ask" if mode == "ask" else "block", by, reason)
    click.echo(f"stopped: every action {'asks' if mode == 'ask' else 'blocks'} until `envace-sdk guard go-on`")


@guard.command("go-on")
@_ledger_option
@click.option("--by", required=True, metavar="NAME", help="Who lets it go on.")
@click.option("--reason", default="", metavar="TEXT")
def go_on(url: str | None, by: str, reason: str) -> None:
    """Take a stop back."""
    from envace_sdk.guard.journal import Journal

    with _opened(url) as ledger:
        Journal(ledger).throw("off", by, reason)
    click.echo("going on")


@guard.command()
@_ledger_option
@_json_option
def status(url: str | None, as_json: bool) -> None:
    """Say whether the guards that use the ledger are stopped, by whom and why."""
    from envace_sdk.guard.journal import Journal

    with _opened(url) as ledger:
        switch = Journal(ledger).switch()
        waiting = len(ledger.approvals.pending())
    if as_json:
        document = {"mode": switch.mode, "by": switch.by, "reason": switch.reason, "pending": waiting}
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    said = "not stopped" if switch.mode == "off" else f"everything is to {switch.mode}: {switch.reason} ({switch.by})"
    click.echo(f"{said}; {waiting} approvals wait")


guard.add_command(settle)


def _opened(url: str | None, *, new: bool = False) -> Ledger:
    from envace_sdk.errors import LedgerError
    from envace_sdk.ledger import Ledger

    if url is None or "://" in url:
        return Ledger.open(url)
    if not new and not Path(url).is_file():
        raise LedgerError(f"{url}: there is no such file")
    return Ledger.open(Path(url))


def _actions(environment: Environment, only: tuple[str, ...], call: tuple[str, str] | None) -> list[Action]:
    from envace_sdk.errors import ToolsetError, UnknownToolError
    from envace_sdk.guard import Action
    from envace_sdk.guard.checking import samples_of

    for name in (*only, *(call[:1] if call else ())):
        if name not in environment.toolset:
            raise UnknownToolError(name)
    if call is None:
        return samples_of(environment, only)
    try:
        arguments = json.loads(call[1])
    except (ValueError, RecursionError) as error:
        raise ToolsetError(f"the arguments of {call[0]} are not JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise ToolsetError(f"the arguments of {call[0]} are not a JSON object")
    return [Action(call[0], arguments)]


def _print(*tables: Any) -> None:
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    for table in tables:
        console.print(table)
