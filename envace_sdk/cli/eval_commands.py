"""`envace-sdk eval`: how close a rehearsed environment comes to the recorded one."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from envace_sdk.evaluate import Exam, FidelityReport, Loop, Player

__all__ = ["evaluate"]

_EXAMINED = "envace"
"""The name of the environment's own column."""


@click.group(
    "eval",
    epilog="""\b
Examples:
  envace-sdk eval fidelity --tools twin/ --recordings heldout.jsonl
  envace-sdk eval fidelity --tools twin/ --recordings heldout.jsonl --loop both --html report.html
  envace-sdk eval fidelity --tools twin/ --recordings heldout.jsonl --gate 0.8
  envace-sdk eval fidelity --tools twin/ --recordings heldout.jsonl --json > fidelity.json
""",
)
def evaluate() -> None:
    """Measure how close a rehearsed environment comes to the real one."""


@evaluate.command(
    epilog="""\b
Exit codes:
  0  scored
  1  the fidelity is below the gate, in one of the loops
  3  the toolset or a recording cannot be read, or there is nothing to score
""",
)
@click.option(
    "--tools", "source", required=True, metavar="SOURCE", help="A toolset's folder, file, URL or shipped name."
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
@click.option(
    "--dynamics", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Rules to use instead of its own."
)
@click.option("--loop", type=click.Choice(["closed", "open", "both"]), default="closed", show_default=True)
@click.option("--tool", "only", multiple=True, metavar="NAME", help="Score only calls of this tool; may be repeated.")
@click.option("--episodes", type=click.IntRange(min=1), metavar="N", help="Play the first N episodes only.")
@click.option("--gate", type=click.FloatRange(0, 1), metavar="SHARE", help="Exit with 1 if the fidelity is below it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option(
    "--worst", type=click.IntRange(min=0), default=30, show_default=True, help="Worst answers in the JSON and the page."
)
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Also write a page.")
def fidelity(
    source: str,
    files: tuple[Path, ...],
    dynamics: Path | None,
    loop: str,
    only: tuple[str, ...],
    episodes: int | None,
    gate: float | None,
    as_json: bool,
    worst: int,
    html: Path | None,
) -> None:
    """Replay held-out recordings, each episode against a fresh world, and score the answers.

    SOURCE brings its own recordings with it: what they alone could answer is scored beside it. The held-out ones must
    not be among them. In the closed loop the world goes on from its own answers, in the open loop from the recorded
    ones.

    The gate is on the fidelity: the mean of balanced status, structure, entailed values and state consistency.
    """
    from envace_sdk.errors import FixtureError
    from envace_sdk.evaluate import Exam, Rehearsing, load_episodes, replays
    from envace_sdk.rehearse import Environment

    environment = Environment.load(source, dynamics=dynamics)
    held_out = load_episodes(files)[:episodes]
    called = {fixture.call.name for episode in held_out for fixture in episode.calls}
    if unknown := sorted({*only} - called):
        raise FixtureError(f"no call of {', '.join(map(repr, unknown))} is recorded in {', '.join(map(str, files))}")
    exam = Exam(environment.toolset, held_out, environment.seen)
    if exam.overlap:
        click.echo(f"warning: {exam.overlap} of the episodes are among the toolset's own recordings", err=True)
    players: list[Player] = [
        Rehearsing(environment, _EXAMINED),
        *replays(environment.toolset, environment.seen),
    ]
    loops: list[Loop] = ["closed", "open"] if loop == "both" else ["open" if loop == "open" else "closed"]
    reports = [_examined(exam, players, each, only) for each in loops]
    fidelities = [found[0].overall.fidelity or 0.0 for found in reports]
    if as_json:
        click.echo(
            json.dumps(_document(environment.toolset.name, exam, reports, gate, worst), ensure_ascii=False, indent=2)
        )
    else:
        _print(environment.toolset.name, exam, reports)
    if html is not None:
        _write_page(html, environment.toolset.name, reports, worst)
    if gate is not None:
        passed = min(fidelities) >= gate
        shown = ", ".join(f"{value:.3f} ({each} loop)" for each, value in zip(loops, fidelities, strict=True))
        click.echo(f"fidelity {shown}: {'not below' if passed else 'below'} the gate of {gate:g}", err=True)
        sys.exit(0 if passed else 1)


def _examined(exam: Exam, players: Sequence[Player], loop: Loop, only: Sequence[str]) -> list[FidelityReport]:
    from rich.console import Console
    from rich.progress import Progress

    from envace_sdk.evaluate import examine

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task(f"Playing, {loop} loop", total=len(exam.episodes))
        return asyncio.run(examine(exam, players, loop=loop, only=only, progress=lambda _: progress.advance(bar)))


def _document(
    name: str, exam: Exam, reports: Sequence[Sequence[FidelityReport]], gate: float | None, worst: int
) -> object:
    from envace_sdk.evaluate import Worst

    document = {
        "toolset": name,
        "episodes": len(exam.episodes),
        "calls": sum(len(episode.calls) for episode in exam.episodes),
        "overlap": exam.overlap,
        "loops": {
            found[0].loop: [
                {**found[0].as_json(), "worst": [Worst.of(case).as_json() for case in found[0].worst(worst)]},
                *(report.as_json() for report in found[1:]),
            ]
            for found in reports
        },
    }
    if gate is None:
        return document
    fidelities = [found[0].overall.fidelity or 0.0 for found in reports]
    return {**document, "gate": {"least": gate, "fidelity": min(fidelities), "passed": min(fidelities) >= gate}}


def _write_page(path: Path, name: str, reports: Sequence[Sequence[FidelityReport]], worst: int) -> None:
    from envace_sdk.evaluate import page

    try:
        path.write_text(page(f"Fidelity of {name}", reports, worst=worst), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error}") from error


def _print(name: str, exam: Exam, reports: Sequence[Sequence[FidelityReport]]) -> None:
    from rich.console import Console

    from .eval_print import layer_table, player_table, tool_table

    console = Console(width=None if sys.stdout.isatty() else 180, highlight=False)
    calls = sum(len(episode.calls) for episode in exam.episodes)
    console.print(f"{name}: {len(exam.episodes)} held-out episodes, {calls} calls", markup=False)
    for found in reports:
        console.print(player_table(found), tool_table(found[0]), layer_table(found[0]))
        sure = found[0].sure
        if sure.calls:
            console.print(f"Of {sure.calls} answers with a confidence of at least 0.9, {sure.right:.1%} are right.\n")
