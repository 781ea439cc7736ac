"""`envace-sdk tasks`: prove that a toolset's tasks can be solved, and not by doing nothing; make new ones."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .tasks_make import make

if TYPE_CHECKING:
    from envace_sdk.rehearse import Environment
    from envace_sdk.tasks import CheckReport, Task, TaskReport

__all__ = ["tasks"]


@click.group(
    epilog="""\b
Examples:
  envace-sdk tasks check schemas/retail/
  envace-sdk tasks check retail --task cancel-unshipped
  envace-sdk tasks check ./my-tools.json --tasks ./my-tasks.jsonl --format json
  envace-sdk tasks make --tools retail -n 500 -o tasks/
""",
)
def tasks() -> None:
    """Check a toolset's tasks, and make new ones."""


tasks.add_command(make)


@tasks.command(
    epilog="""\b
Exit codes:
  0  every task is solved by its witness, and by nothing less
  1  some task has an error; warnings alone do not count
  3  the toolset or its task file cannot be read
""",
)
@click.argument("source")
@click.option(
    "--tasks", "file", type=click.Path(exists=True, path_type=Path), help="Task file; default: the toolset's own."
)
@click.option("--task", "ids", multiple=True, metavar="ID", help="Check only this one; may be repeated.")
@click.option(
    "--dynamics", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Rules to use instead of its own."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def check(source: str, file: Path | None, ids: tuple[str, ...], dynamics: Path | None, form: str) -> None:
    """Run the witness of each task of SOURCE, which must solve it, and do nothing, which must not.

    SOURCE is a toolset's folder, file or URL, or the name of a shipped one. Conditions that cannot be evaluated,
    checklist items that tell nothing, and witness calls that fail are reported too.
    """
    from envace_sdk.errors import TaskError
    from envace_sdk.rehearse import Environment
    from envace_sdk.tasks import load_tasks

    environment = Environment.load(source, dynamics=dynamics)
    path = file or environment.tasks_path
    if path is None:
        raise TaskError(f"{source} has no tasks.jsonl: name a task file with --tasks")
    found = load_tasks(path)
    unknown = sorted({*ids} - {task.id for task in found})
    if unknown:
        raise TaskError(f"{path} has no task {', '.join(map(repr, unknown))}")
    report = _checked(environment, [task for task in found if not ids or task.id in ids])
    if form == "json":
        click.echo(json.dumps(report.as_json(), ensure_ascii=False, indent=2))
    else:
        _print(report)
    sys.exit(0 if report.ok else 1)


def _checked(environment: Environment, chosen: list[Task]) -> CheckReport:
    from rich.console import Console
    from rich.progress import Progress

    from envace_sdk.tasks import check as check_tasks

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("Checking", total=len(chosen))
        return asyncio.run(check_tasks(environment, chosen, progress=lambda _: progress.advance(bar)))


def _print(report: CheckReport) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("", "Task", "Witness", "Nothing done", "Problems", pad_edge=False)
    for row in report.tasks:
        lines = [f"{p.severity}: {p.kind}{f' ({p.item})' if p.item else ''}: {p.message}" for p in row.problems]
        mark = Text("ok", "green") if row.ok else Text("FAILED", "bold red")
        # Text, so that brackets in what tasks say are not taken for markup.
        table.add_row(mark, Text(row.task.id), _witness(row), _idle(row), Text("\n".join(lines)))
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    failed = sum(not row.ok for row in report.tasks)
    warnings = sum(p.severity == "warning" for row in report.tasks for p in row.problems)
    counts = [(len(report.tasks), "task"), (failed, "failed task"), (warnings, "warning")]
    console.print(", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts), highlight=False)


def _witness(row: TaskReport) -> str:
    if row.witness is None:
        return "not run"
    return "solved" if row.witness.solved else f"not solved ({row.witness.reward:.2f})"


def _idle(row: TaskReport) -> str:
    if row.idle is None:
        return "not run"
    return "SOLVED" if row.idle.solved else f"{row.idle.reward:.2f}"
