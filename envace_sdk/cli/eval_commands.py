"""`envace-sdk eval`: how close a rehearsed environment comes to the recorded one."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from envace_sdk.evaluate import Exam, FidelityReport, Loop, Player

__all__ = ["evaluate"]


@click.group(
    "eval",
    epilog="""\b
Examples:
  envace-sdk eval fidelity --tools twin/ --recordings heldout.jsonl
  envace-sdk eval fidelity --tools twin/ --recordings heldout.jsonl --loop both --html report.html
""",
)
def evaluate() -> None:
    """Measure how close a rehearsed environment comes to the real one."""


@evaluate.command()
@click.option(
    "--tools", "source", required=True, metavar="SOURCE", help="A toolset's folder, file or URL, or a shipped one."
)
@click.option(
    "--recordings",
    "files",
    required=True,
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Held-out recordings; may be repeated.",
)
@click.option("--loop", type=click.Choice(["closed", "open", "both"]), default="closed", show_default=True)
@click.option(
    "--tool", "only", multiple=True, metavar="NAME", help="Score the calls of this tool only; may be repeated."
)
@click.option("--episodes", type=click.IntRange(min=1), metavar="N", help="Play the first N episodes only.")
@click.option("--gate", type=click.FloatRange(0, 1), metavar="SHARE", help="Exit with 1 below it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def fidelity(
    source: str,
    files: tuple[Path, ...],
    loop: str,
    only: tuple[str, ...],
    episodes: int | None,
    gate: float | None,
    as_json: bool,
) -> None:
    """Replay held-out recordings against a fresh world for each episode, and score the answers."""
    from envace_sdk.evaluate import Exam, Rehearsing, load_episodes, replays
    from envace_sdk.rehearse import Environment

    environment = Environment.load(source)
    held_out = load_episodes(files)
    exam = Exam(environment.toolset, held_out[:episodes], environment.fixtures)
    players: list[Player] = [Rehearsing(environment, "envace"), *replays(environment.toolset, environment.fixtures)]
    loops: list[Loop] = ["closed", "open"] if loop == "both" else ["open" if loop == "open" else "closed"]
    reports = [report for each in loops for report in _examined(exam, players, each)]
    if as_json:
        click.echo(json.dumps([report.as_json() for report in reports], ensure_ascii=False, indent=2))
    else:
        _print(reports)


def _examined(exam: Exam, players: list[Player], loop: Loop) -> list[FidelityReport]:
    from rich.console import Console
    from rich.progress import Progress

    from envace_sdk.evaluate import examine

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(f"Playing, {loop} loop", total=len(exam.episodes))
        return asyncio.run(examine(exam, players, loop=loop, progress=lambda _: progress.advance(bar)))


def _print(reports: list[FidelityReport]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from envace_sdk.evaluate import AXES

    console = Console(width=None if sys.stdout.isatty() else 200)
    table = Table("Player", "Loop", "Calls", *(axis.replace("_", " ") for axis in AXES), "right", pad_edge=False)
    for report in reports:
        cells = [_share(getattr(report.overall, axis)) for axis in (*AXES, "right")]
        table.add_row(Text(report.player), report.loop, str(report.overall.calls), *cells)
    console.print(table)
    for report in reports[:1]:
        tools = Table("Tool", "Calls", *(axis.replace("_", " ") for axis in AXES), "right", pad_edge=False)
        for name, scores in report.tools.items():
            cells = [_share(getattr(scores, axis)) for axis in (*AXES, "right")]
            tools.add_row(Text(name), str(scores.calls), *cells)
        console.print(tools)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
