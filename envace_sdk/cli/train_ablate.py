"""`envace-sdk train ablate`: which of two ways to train is better, on the same tasks, model and seeds."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from .extras import load

__all__ = ["ablate"]


def _seeds(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, ...]:  # noqa: ARG001
    try:
        found = [int(part) for part in value.replace(",", " ").split()]
    except ValueError:
        found = []
    if not found or min(found) < 0 or len(set(found)) < len(found):
        raise click.BadParameter("expected different whole numbers from 0 up, as in 0,1,2")
    return tuple(found)


@click.command(
    epilog="""\b
What is compared:
  roles       role-wise baselines, each role against its own mean, or one pooled over both roles
  parameters  one adapter for both roles, or one for each
  rendering   split: each turn a sequence of its own; or stream: a trajectory one sequence
\b
Examples:
  envace-sdk train ablate --tools retail --dry-run
      how many runs, and what they would cost on this machine
  envace-sdk train ablate --tools retail --what roles --seeds 0,1,2,3,4 --steps 40 -o runs/roles
      ten runs; the table here, and in runs/roles as result.json and report.html
  envace-sdk train ablate -o runs/roles
      goes on where it was stopped: runs that are finished are kept
  envace-sdk train ablate -o runs/roles --seeds 0,1,2,3,4,5,6,7
      three more seeds, which narrow the intervals
  envace-sdk train eval runs/roles/pooled/seed-0
      each run in it is one like any other
\b
Exit codes:
  0  done
  1  stopped before the end; what was done is saved
  3  a toolset, a setting or a model cannot be used, the folder holds something else, or memory does not suffice
""",
)
@click.option(
    "--tools", "sources", multiple=True, metavar="SOURCE", help="Shipped name, file or folder; or a folder of toolsets."
)
@click.option(
    "--what",
    type=click.Choice(["roles", "parameters", "rendering"]),
    default="roles",
    show_default=True,
    help="The one setting in which the two ways differ.",
)
@click.option(
    "--seeds", default="0,1,2", show_default=True, callback=_seeds, metavar="N,N,…", help="Each is a run of both ways."
)
@click.option("--model", "uri", metavar="URI", help="What to train: smollm2-135m (the default), a folder, a hub id.")
@click.option(
    "--config", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Settings as YAML."
)
@click.option("--preset", help="Settings for a machine: cpu-small, gpu-24gb, gpu-80gb, …; default: what this one is.")
@click.option("--steps", type=click.IntRange(min=1), help="Updates of each run after the warm-up.")
@click.option("--tasks", default=32, show_default=True, type=click.IntRange(min=1), help="Test tasks per measurement.")
@click.option("--samples", default=4, show_default=True, type=click.IntRange(min=1, max=64), help="Attempts at each.")
@click.option("--temperature", default=1.0, show_default=True, type=click.FloatRange(min=0), help="Of the attempts.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("envace-ablation"),
    show_default=True,
    help="Folder of all runs.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done and what it would cost, and stop.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def ablate(
    ctx: click.Context,
    sources: tuple[str, ...],
    what: str,
    seeds: tuple[int, ...],
    uri: str | None,
    file: Path | None,
    preset: str | None,
    steps: int | None,
    tasks: int,
    samples: int,
    temperature: float,
    output: Path,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Train in two ways that differ in one setting, and say which is better.

    Both ways have the same tasks, model and seeds; each run is measured on test tasks. What is shown is the mean of
    each way, the difference paired by seed, and its 95 % interval: one that holds 0 decides nothing.
    """
    changes: dict[str, Any] = {"model": uri, "preset": preset, "steps": steps}
    changes = {name: value for name, value in changes.items() if value is not None}
    if not sources and (changes or file):
        raise click.UsageError("without --tools an ablation goes on with its own settings; leave --model, --config, …")
    command = load("training.run.ablate", command="train", extra="train")
    test = command.Measuring(tasks=tasks, samples=samples, temperature=temperature)
    own = ("what", *command.Measuring.model_fields)
    given = [name for name in own if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT]
    lines = command.run_ablate(
        sources, file, changes, output, what=what, seeds=seeds, test=test, dry_run=dry_run, given=given
    )
    if lines is None:
        sys.exit(0 if dry_run else 1)
    if as_json:
        click.echo(json.dumps(json.loads((output / "result.json").read_text(encoding="utf-8")), indent=2))
        return
    for line in lines:
        click.echo(line)
