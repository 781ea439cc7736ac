"""`envace-sdk tasks make`: tasks out of a toolset's world, each proven to be solvable, split for training."""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
from pathlib import Path
from typing import Any

import click

__all__ = ["make"]

_SHARES = 3


def _shares(ctx: click.Context, param: click.Parameter, value: str) -> tuple[float, ...]:  # noqa: ARG001
    try:
        shares = tuple(float(part) for part in value.split(","))
    except ValueError:
        shares = ()
    if len(shares) != _SHARES:
        raise click.BadParameter("expected three numbers, as in 0.8,0.1,0.1")
    return shares


@click.command(
    epilog="""\b
Examples:
  envace-sdk tasks make --tools retail -n 500 -o tasks/
      500 tasks in tasks/retail/{train,validation,test}.jsonl; no model is asked
  envace-sdk tasks make --tools ./tools.json -n 200 --tools-per-task 5 --max-calls 2 --largest-answer 400 -o tasks/
      short tasks that show five tools at most, for a small model
  envace-sdk tasks make --tools schemas/ --hold-back airline -n 300 -o tasks/
      of every toolset in the folder; all tasks of one are for the test
  envace-sdk tasks make --tools retail -n 500 --model openai:qwen3@http://localhost:8000/v1 -o tasks/
      the user's words in other words, where the model keeps what must be said
\b
Exit codes:
  0  as many tasks as asked for
  1  fewer: the toolset gives no more; what was made is written
  3  a toolset or a model cannot be used, or the folder cannot be written
""",
)
@click.option(
    "--tools",
    "sources",
    required=True,
    multiple=True,
    metavar="SOURCE",
    help="Shipped name, file, folder or URL; or a folder of toolsets.",
)
@click.option("-n", "--count", default=100, show_default=True, type=click.IntRange(min=1), help="Tasks per toolset.")
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder to write."
)
@click.option("--seed", default=0, show_default=True, help="The same seed gives the same tasks.")
@click.option("--tools-per-task", type=click.IntRange(min=1), metavar="K", help="Show at most K tools; default: all.")
@click.option(
    "--max-calls", default=4, show_default=True, type=click.IntRange(min=1), help="Calls of the longest solution."
)
@click.option("--largest-answer", type=click.IntRange(min=1), metavar="CHARS", help="No tool answers more than this.")
@click.option("--per-template", type=click.IntRange(min=1), metavar="K", help="At most K tasks of a template.")
@click.option(
    "--split",
    "shares",
    default="0.8,0.1,0.1",
    show_default=True,
    callback=_shares,
    metavar="A,B,C",
    help="Shares of train, validation and test; no template is in two.",
)
@click.option("--hold-back", "held_back", multiple=True, metavar="NAME", help="A toolset whose tasks are all test.")
@click.option("--model", "uri", metavar="URI", help="Model that paraphrases: openai:NAME@URL, transformers:FOLDER, …")
def make(sources: tuple[str, ...], output: Path, uri: str | None, **options: Any) -> None:
    """Make tasks for toolsets, without a language model.

    Feasible chains of calls are drawn in the toolset's world and described in words, together with requests that
    cannot be granted, conditions, conversations and bystanders. Each task has a checklist, and a solution that has
    been replayed; none is solved by doing nothing.
    """
    if (output / "manifest.json").exists():
        raise click.UsageError(f"{output} holds task sets already: choose another folder, or remove it")
    started = time.monotonic()
    making = asyncio.run(_made(sources, uri, options))
    package = importlib.import_module("envace_sdk.training.tasks")
    package.write_task_sets(output, making.sets, _options(options))
    missing = _print(making, options["count"], output, time.monotonic() - started)
    sys.exit(1 if missing else 0)


def _options(options: dict[str, Any]) -> Any:
    names = ("count", "seed", "tools_per_task", "max_calls", "largest_answer", "per_template")
    package = importlib.import_module("envace_sdk.training.tasks")
    return package.MakeOptions(**{name: options[name] for name in names})


async def _made(sources: tuple[str, ...], uri: str | None, options: dict[str, Any]) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    package = importlib.import_module("envace_sdk.training.tasks")
    model = None
    if uri is not None:
        from envace_sdk.models import load_model

        model = load_model(uri)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            bars: dict[str, Any] = {}

            def advanced(toolset: str, count: int) -> None:
                if toolset not in bars:
                    bars[toolset] = progress.add_task(toolset, total=options["count"])
                progress.update(bars[toolset], completed=count)

            return await package.make_task_sets(
                package.toolset_sources(sources),
                _options(options),
                shares=options["shares"],
                held_back=options["held_back"],
                model=model,
                progress=advanced,
            )
    finally:
        if model is not None:
            await model.close()


def _print(making: Any, count: int, output: Path, seconds: float) -> bool:
    """The table of what was made; whether some toolset gave less than was asked for."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("Toolset", "Tasks", "Templates", "Train", "Validation", "Test", pad_edge=False)
    missing = False
    for one in making.sets:
        everything = [task for tasks in one.splits.values() for task in tasks]
        splits = [str(len(one.splits[name])) for name in ("train", "validation", "test")]
        templates = len({task.template for task in everything})
        table.add_row(Text(one.toolset), str(one.size), str(templates), *splits)
        missing = missing or one.size < count
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    total = sum(one.size for one in making.sets)
    console.print(f"{total} tasks in {output}, {seconds:.1f} s ({total / seconds:.0f} a second)", highlight=False)
    if missing:
        reasons = ", ".join(f"{reason} ({times})" for reason, times in making.dropped.most_common(3))
        click.echo(f"fewer than {count} were found; most often: {reasons}", err=True)
    return missing
