"""`envace-sdk approvals`: what agents may not do without a person, and the person's answers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from .ledger_options import approvers_option, by_option, ledger_option, me, open_ledger, read_approvers

if TYPE_CHECKING:
    from envace_sdk.ledger import Approval, Ledger

__all__ = ["approvals"]

_COMMENT = click.option("--comment", default="", help="Why; goes into the ledger, and can be erased.")
_FORMAT = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)


@click.group(
    epilog="""\b
Examples:
  envace-sdk approvals list                              what waits for an answer
  envace-sdk approvals show ap_5f0c…                     action, predicted change, risk, reasons
  envace-sdk approvals approve ap_5f0c… --comment "checked with the customer"
  envace-sdk approvals reject ap_5f0c…
  envace-sdk approvals edit ap_5f0c… '{"order": "A", "amount": 3}'
  envace-sdk approvals wait ap_5f0c… --timeout 600       exit code 0 once it is approved
\b
An approval allows one action with just these arguments, once, until it expires; and only while the world that the
rehearsal rested on is as it was. What is expired or stale cannot be approved: let the agent make the call again.
""",
)
def approvals() -> None:
    """List, show and answer what agents may not do without a person."""


@approvals.command("list")
@click.option("--run", metavar="RUN", help="Only of this run.")
@click.option("--all", "everything", is_flag=True, help="Also those that are answered, used, expired or stale.")
@_FORMAT
@ledger_option
def list_approvals(run: str | None, everything: bool, form: str, where: str | None) -> None:
    """List the approvals that wait for an answer."""
    with open_ledger(where) as opened:
        every = opened.approvals.select(run)
    found = every if everything else [approval for approval in every if approval.state == "pending"]
    if form == "json":
        click.echo(json.dumps([_as_json(approval) for approval in found], indent=2))
        return
    from .ledger_print import approval_line

    for approval in found:
        click.echo(approval_line(approval))
    if not found:
        click.echo("nothing waits for an answer" if not everything else "no approval was ever asked for", err=True)
    over = 0 if everything else sum(approval.state in {"expired", "stale"} for approval in every)
    if over:
        click.echo(f"{over} expired or went stale before anybody answered: --all", err=True)


@approvals.command()
@click.argument("approval", metavar="ID")
@_FORMAT
@ledger_option
def show(approval: str, form: str, where: str | None) -> None:
    """Show an approval: the action, the predicted change, the risk and the reasons."""
    with open_ledger(where) as opened:
        _show(opened, opened.approvals.get(approval), form)


@approvals.command()
@click.argument("approval", metavar="ID")
@_COMMENT
@approvers_option
@by_option
@_FORMAT
@ledger_option
def approve(approval: str, comment: str, approvers: str | None, by: str | None, form: str, where: str | None) -> None:
    """Allow the action, once."""
    _decide(approval, "approve", comment, approvers, by, form, where)


@approvals.command()
@click.argument("approval", metavar="ID")
@_COMMENT
@approvers_option
@by_option
@_FORMAT
@ledger_option
def reject(approval: str, comment: str, approvers: str | None, by: str | None, form: str, where: str | None) -> None:
    """Forbid the action."""
    _decide(approval, "reject", comment, approvers, by, form, where)


@approvals.command()
@click.argument("approval", metavar="ID")
@click.argument("arguments", metavar="[ARGUMENTS]", required=False)
@_COMMENT
@approvers_option
@by_option
@_FORMAT
@ledger_option
def edit(
    approval: str,
    arguments: str | None,
    comment: str,
    approvers: str | None,
    by: str | None,
    form: str,
    where: str | None,
) -> None:
    """Ask for the same tool with other ARGUMENTS (JSON) instead; without them, an editor opens.

    The edited action is another one: it is rehearsed and judged anew, and has an approval request of its own.
    """
    with open_ledger(where, approvers=read_approvers(approvers)) as opened:
        asked = opened.approvals.get(approval)
        if arguments is None:
            shown = {} if not isinstance(asked.arguments, dict) else asked.arguments
            arguments = click.edit(json.dumps(shown, ensure_ascii=False, indent=2), extension=".json")
            if arguments is None:
                raise click.ClickException("nothing was saved in the editor, so nothing is changed")
        made = opened.approvals.edit(approval, _object(arguments), by=by or me(), comment=comment, via=_via())
        if form == "text":
            click.echo(f"{approval}: edited. The new action waits for an approval of its own:\n")
        _show(opened, made, form)


@approvals.command()
@click.argument("approval", metavar="ID")
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="How long; default: until it is settled."
)
@_FORMAT
@ledger_option
def wait(approval: str, timeout: float | None, form: str, where: str | None) -> None:
    """Wait until an approval is answered. Exit code 0: approved; 1: anything else."""
    with open_ledger(where) as opened:
        found = opened.approvals.wait(approval, timeout)
    click.echo(json.dumps(_as_json(found), indent=2) if form == "json" else f"{found.id}: {found.state}")
    if found.state not in {"approved", "used"}:
        sys.exit(1)


def _decide(
    approval: str, answer: Any, comment: str, approvers: str | None, by: str | None, form: str, where: str | None
) -> None:
    with open_ledger(where, approvers=read_approvers(approvers)) as opened:
        found = opened.approvals.decide(approval, answer, by=by or me(), comment=comment, via=_via())
    if form == "json":
        click.echo(json.dumps(_as_json(found), indent=2))
        return
    missing = found.needed - len({d.by for d in found.decisions if d.answer == "approve"})
    more = f", {missing} more must approve" if found.state == "pending" else ""
    click.echo(f"{found.id}: {found.state}{more}")


def _show(opened: Ledger, approval: Approval, form: str) -> None:
    from .ledger_print import approval_text

    if form == "json":
        click.echo(json.dumps(_as_json(approval), indent=2))
        return
    since = sum(1 for e in opened.entries(approval.run, kind="observed") if e.at > approval.requested_at)
    click.echo(approval_text(approval, since))


def _as_json(approval: Approval) -> dict[str, Any]:
    from envace_sdk.ledger.export import approval_as_json

    return approval_as_json(approval)


def _via() -> str:
    return f"terminal of {me()}"


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"the arguments are not JSON: {error}") from error
    if not isinstance(found, dict):
        raise click.ClickException("the arguments are not a JSON object")
    return found
