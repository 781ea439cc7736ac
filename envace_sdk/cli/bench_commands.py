"""`envace-sdk bench`: a model on public benchmarks that the user has installed."""

from __future__ import annotations

import asyncio
import importlib
import json
from pathlib import Path
from typing import Any, Final

import click

from .models_commands import FORMATS

__all__ = ["bench"]

_ELSEWHERE: Final = {
    "tau2": (
        "tau2-bench runs in its own loop, with a simulated user: install it from "
        "https://github.com/sierra-research/tau2-bench, serve the model with vLLM, and point `tau2 run --agent-llm` at "
        "that endpoint. docs/bench.md says how; it has not been run from here"
    ),
}
"""Benchmarks that have a loop of their own, and what to do instead."""


class _Benchmarks(click.Group):
    """Knows of benchmarks that cannot be run here, too."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _ELSEWHERE:
            raise click.ClickException(_ELSEWHERE[cmd_name])
        return super().get_command(ctx, cmd_name)


@click.group(
    cls=_Benchmarks,
    epilog="""\b
Examples:
  envace-sdk bench bfcl --model policy/ --category simple_python --limit 50
  envace-sdk bench bfcl --model openai:Qwen/Qwen3-8B@http://127.0.0.1:8000/v1 --category multiple -o bfcl/
""",
)
def bench() -> None:
    """Evaluate a model on public benchmarks that are installed, scored by their own checkers."""


@bench.command(
    epilog="""\b
Examples:
  envace-sdk bench bfcl --model policy/ --category simple_python --category irrelevance --limit 50
  envace-sdk bench bfcl --model smollm2-135m --category simple_python --limit 10 --json
  envace-sdk bench bfcl --model openai:MODEL@http://127.0.0.1:8000/v1 --category live_multiple -o bfcl/
\b
Needs the package bfcl-eval: pip install bfcl-eval soundfile
\b
Exit codes:
  0  done, however good the answers are
  2  the command line is wrong
  3  the package, the model or a category is not there
""",
)
@click.option("--model", "uri", required=True, metavar="URI", help="The model's address, or an exported folder.")
@click.option(
    "--category",
    "categories",
    multiple=True,
    default=("simple_python",),
    show_default=True,
    help="A single-turn category; may be repeated.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Items of each category, drawn by the seed; default: all.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the draw, and of sampling.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="How calls are written; default: as the model was trained."
)
@click.option("--temperature", type=click.FloatRange(min=0), default=0.0, show_default=True)
@click.option("--max-tokens", type=click.IntRange(min=1), default=512, show_default=True, help="Of one answer.")
@click.option("--batch", type=click.IntRange(min=1), default=32, show_default=True, help="Items asked at once.")
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for answers, findings and report."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def bfcl(uri: str, categories: tuple[str, ...], output: Path | None, as_json: bool, **options: Any) -> None:
    """Berkeley Function-Calling Leaderboard: single-turn categories.

    The accuracy is that of the package's own checker on the calls that the model wrote in its format. It is not the
    leaderboard's figure: prompts and formats differ, and a sample is a sample.
    """
    report = asyncio.run(_run(uri, list(dict.fromkeys(categories)), output, **options))
    if as_json:
        click.echo(json.dumps(report.as_json(), indent=2, ensure_ascii=False))
    else:
        _print(report)


async def _run(uri: str, categories: list[str], output: Path | None, **options: Any) -> Any:
    from rich.console import Console
    from rich.progress import Progress

    from envace_sdk.models import Sampling, load_model

    benchmarks = importlib.import_module("envace_sdk.training.bench")
    benchmarks.Bfcl()  # what is missing is said before a model is loaded
    model = load_model(uri)
    sampling = Sampling(options["max_tokens"], options["temperature"], seed=options["seed"])
    console = Console(stderr=True)
    try:
        asking = benchmarks.Asking.of(model, options["form"], sampling)
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
            known = {name: bars.add_task(name, total=None) for name in categories}
            return await benchmarks.run_bfcl(
                model,
                asking,
                categories,
                limit=options["limit"],
                seed=options["seed"],
                batch=options["batch"],
                folder=output,
                progress=lambda name, done, of: bars.update(known[name], completed=done, total=of),
            )
    finally:
        await model.close()


def _print(report: Any) -> None:
    from .tools_print import table

    click.echo(
        f"{report.benchmark}: {report.model}, calls in the format {report.form}, temperature {report.temperature:g}"
    )
    rows = []
    for one in report.categories:
        low, high = one.interval()
        rows.append(
            {
                "category": one.name,
                "correct": f"{one.correct}/{one.total}",
                "accuracy": f"{one.accuracy:.3f}",
                "95 %": f"{low:.3f}-{high:.3f}",
                "malformed": one.malformed,
                "cut off": one.cut_off,
                "failed": one.failed,
                "most wrong": next((f"{name} ({count})" for name, count in one.errors.items()), "-"),
            }
        )
    click.echo(table(rows, list(rows[0])))
