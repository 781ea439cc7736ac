"""`envace-sdk guard settle`: what came of an action that is in doubt, said by who has looked."""

from __future__ import annotations

import json

import click

from .ledger_options import by_option, ledger_option, me, open_ledger

__all__ = ["settle"]


@click.command(
    epilog="""\b
Examples:
  envace-sdk guard settle 5d41… --did-not-happen       it may be judged and executed again
  envace-sdk guard settle 5d41… --happened             it never is; who asks is told that somebody said so
  envace-sdk guard settle 5d41… --happened --result '{"refunded": 20}'
\b
An action is in doubt when it was sent and its outcome was never heard. Look at the real system first. What you say
stands in the ledger as your claim, not as an observation.
""",
)
@click.argument("action", metavar="ACTION")
@click.option("--happened/--did-not-happen", default=None, help="What you found.")
@click.option("--result", "result", metavar="JSON", help="With --happened: what it answered, as far as you know.")
@by_option
@ledger_option
def settle(action: str, happened: bool | None, result: str | None, by: str | None, where: str | None) -> None:
    """Say whether an action that is in doubt has happened."""
    from envace_sdk.guard.settling import settle as settled
    from envace_sdk.tools.model import ToolResult

    if happened is None:
        raise click.UsageError("say what you found: --happened or --did-not-happen")
    if result is not None and not happened:
        raise click.UsageError("--result belongs to --happened")
    try:
        told = None if result is None else ToolResult.json(json.loads(result), structured=True)
    except (ValueError, RecursionError) as error:
        raise click.ClickException(f"--result is not JSON: {error}") from error
    with open_ledger(where) as opened:
        tool = settled(opened, action, by=by or me(), happened=happened, result=told)
    click.echo(f"{tool}: settled; {'it is not executed again' if happened else 'it may be executed again'}")
