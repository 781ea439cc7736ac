"""`envace-sdk report`: the studio's views of a run in one HTML file."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import click

from .extras import load
from .ledger_options import ledger_option
from .outputs import check_output, write_output
from .tools_options import named_source

__all__ = ["report"]


@click.command(
    epilog="""\b
RUN is one of these; several are shown one after the other:
  runs/seed-0/           a training run, or a folder with several: curves, and the trajectories that were kept
  thread-7               a run of the ledger: its turns, rehearsed beside observed, and its approvals
  ledger.db              a whole ledger: its runs, approvals, and how often predictions came true
  sqlite:///worlds.db    the worlds that servers keep with --store, and what changed in them since the start
  fidelity.json          what `envace-sdk eval fidelity --json` printed: scores, and the worst answers
\b
Examples:
  envace-sdk report runs/seed-0 -o report.html
  envace-sdk report thread-7 --ledger ledger.db
  envace-sdk report sqlite:///worlds.db --tools twin/ -o worlds.html
  envace-sdk eval fidelity --tools twin/ --recordings heldout.jsonl --json > fidelity.json
  envace-sdk report fidelity.json runs/seed-0 --title "Before the release"
\b
The file needs nothing else: it loads nothing, runs no script, and can be sent to somebody who has nothing
installed. It shows what the studio shows, secrets redacted as they are in the ledger, so look at it first.
\b
Exit codes:
  0  written
  1  written, but a page in it says why it could not be shown, as where a ledger was tampered with
  3  a RUN is not there or cannot be read, or the file may not be overwritten
""",
)
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="Where to write it; - is stdout.",
)
@click.option("--title", metavar="TEXT", help="Its title; default: the names of what it shows.")
@click.option(
    "--tools", "sources", multiple=True, metavar="SOURCE", help="Toolsets of stored worlds; default: the shipped ones."
)
@click.option(
    "--most",
    type=click.FloatRange(0.1, 500),
    default=8,
    show_default=True,
    metavar="MIB",
    help="Size from which on pages are left out; the file says which.",
)
@click.option("--force", is_flag=True, help="Overwrite a file that is no report.")
@ledger_option
def report(
    runs: tuple[str, ...],
    output: Path,
    title: str | None,
    sources: tuple[str, ...],
    most: float,
    force: bool,
    where: str | None,
) -> None:
    """Write the studio's views of one or more RUNs into one HTML file that needs nothing else."""
    reported = load("studio.reported", command="report", extra="studio")
    to_stdout = str(output) == "-"
    if not to_stdout:
        check_output(output, f'<meta name="generator" content="{reported.GENERATOR}', force=force)
    given = reported.Given(runs, ledger=where, tools=tuple(map(named_source, sources)))
    made = asyncio.run(reported.make(given, title, most=round(most * 2**20)))
    data = made.html.encode(errors="backslashreplace")
    if to_stdout:
        sys.stdout.buffer.write(data)
    else:
        write_output(output, data)
        pages = f"{made.pages} page{'' if made.pages == 1 else 's'}"
        left_out = f", {len(made.left_out)} left out: --most makes room" if made.left_out else ""
        click.echo(f"{output}: {pages}, {len(data) / 1024:.0f} KiB{left_out}", err=True)
    for address in made.problems:
        click.echo(f"warning: {address}: cannot be shown; the report says why", err=True)
    if made.problems:
        sys.exit(1)
