"""`envace-sdk train runs`: the training runs whose metrics are in the store."""

from __future__ import annotations

import difflib
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from envace_sdk.variables import STORE_URL

if TYPE_CHECKING:
    from envace_sdk.store import TrainingRun

__all__ = ["runs"]


@click.command(
    epilog="""\b
Examples:
  envace-sdk train runs
  envace-sdk train runs --metric eval/success --metric reward/rehearse
  envace-sdk train runs --store postgresql://db/envace --json
\b
Training writes to the same store where its `trackers` name `store`, as they do by default.
"""
)
@click.option(
    "--store", metavar="URL", envvar=STORE_URL, show_envvar=True, help="The database; default: the user's own SQLite."
)
@click.option("--migrate", is_flag=True, help="Make, or bring up to date, the tables first.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    default=("eval/success", "eval/fidelity", "success"),
    show_default=True,
    help="Metrics whose newest value is shown.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON: settings and all metrics.")
def runs(store: str | None, metrics: tuple[str, ...], *, migrate: bool, as_json: bool) -> None:
    """List the training runs in the store, the newest first, with the last step and scores of each."""
    from envace_sdk.store import TrainingRuns
    from envace_sdk.store.engine import absent

    missing = None if migrate else absent(store)
    if missing is not None and store is not None:
        raise click.ClickException(f"{missing}: there is no database; training makes it, and so does --migrate")
    found: list[TrainingRun] = []
    if missing is None:
        with TrainingRuns.open(store, migrate=migrate or None) as stored:
            found = stored.runs()
    known = {name for one in found for name in one.latest}
    given = click.get_current_context().get_parameter_source("metrics") is ParameterSource.COMMANDLINE
    for name in metrics if found and given else ():
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            raise click.ClickException(
                f"no run has a metric {name!r}" + (f"; did you mean {close[0]}?" if close else "; --json shows all")
            )
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found], default=str, indent=2, ensure_ascii=False))
    elif not found:
        click.echo("no training run is in the store yet")
    else:
        _print(found, metrics)


def _print(found: list[TrainingRun], metrics: tuple[str, ...]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE)
    table.add_column("run", overflow="fold")
    table.add_column("step", justify="right")
    for name in metrics:
        table.add_column(name, justify="right")
    table.add_column("written")
    several = len({one.host for one in found}) > 1
    for one in found:
        name = f"{one.host}:{one.directory}" if several else one.directory
        values = [f"{one.latest[metric]:.3f}" if metric in one.latest else "" for metric in metrics]
        step = "" if one.step is None else str(one.step)
        table.add_row(Text(name), step, *values, f"{one.updated_at.astimezone():%Y-%m-%d %H:%M}")
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(table)
