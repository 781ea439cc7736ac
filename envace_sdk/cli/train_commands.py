"""`envace-sdk train`: from tool schemas to a policy that acts and rehearses; evaluate, compare and export it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from .extras import load
from .tools_options import named_source
from .train_ablate import ablate
from .train_runs import runs

__all__ = ["train"]


@click.group(
    invoke_without_command=True,
    epilog="""\b
Examples:
  envace-sdk train --tools schemas/ --dry-run
      what would be done, and what it would cost on this machine
  envace-sdk train --tools retail --steps 40 -o runs/retail
      tasks, warm-up, training; curves and trajectories in runs/retail/report.html
  envace-sdk train --tools ./tools.json --model transformers:./Qwen3-0.6B --config train.yaml -o runs/mine
  envace-sdk train --tools retail --model transformers:Qwen/Qwen3-8B --rollout-server http://127.0.0.1:8000
      a vLLM server samples; where there is none, the message says how to start it
  envace-sdk train --resume -o runs/retail
      goes on where it was stopped, by Ctrl-C or otherwise
  envace-sdk train --engine verl --tools schemas/ --model policy/ --preset node-8x80gb -o /shared/runs/all
      on many machines; with --dry-run, the command and the configuration for verl
  envace-sdk train eval runs/retail --samples 4
  envace-sdk train runs
      all runs, with the last step and scores of each
  envace-sdk train export runs/retail -o policy/
  envace-sdk serve --tools retail --model policy/
\b
Exit codes:
  0  done
  1  stopped before the end; what was done is saved
  3  a toolset, a setting or a model cannot be used, or memory does not suffice
""",
)
@click.option(
    "--tools", "sources", multiple=True, metavar="SOURCE", help="Shipped name, file or folder; or a folder of toolsets."
)
@click.option("--model", "uri", metavar="URI", help="What to train: smollm2-135m (the default), a folder, a hub id.")
@click.option(
    "--config", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Settings as YAML."
)
@click.option("--preset", help="Settings for a machine: cpu-small, gpu-24gb, gpu-80gb, …; default: what this one is.")
@click.option(
    "--rollout-server",
    "server",
    metavar="URL|start",
    help="A vLLM server samples the rollouts: one at this URL, or one that is started for the run.",
)
@click.option("--steps", type=click.IntRange(min=1), help="Updates after the warm-up, in all.")
@click.option("--gate", type=click.FloatRange(0, 1), help="Fidelity of rehearsals before they are trained on.")
@click.option("--seed", type=click.IntRange(min=0), help="The same seed gives the same run.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("envace-run"),
    show_default=True,
    help="Folder of the run.",
)
@click.option(
    "--engine",
    type=click.Choice(["own", "verl"]),
    default="own",
    show_default=True,
    help="Who updates the weights: this process, or verl, on one machine or many.",
)
@click.option("--resume", is_flag=True, help="Go on with the run in the folder.")
@click.option("--dry-run", is_flag=True, help="Say what would be done and what it would cost, and stop.")
@click.pass_context
def train(
    ctx: click.Context,
    /,
    sources: tuple[str, ...],
    uri: str | None,
    file: Path | None,
    preset: str | None,
    server: str | None,
    output: Path,
    engine: str,
    resume: bool,
    dry_run: bool,
    **changes: Any,
) -> None:
    """Train a model to act with tools and to rehearse their answers, from their schemas alone.

    Tasks are made for the toolsets, the model is warmed up on their solutions and on recordings, and then learns from
    its own attempts by role-wise GRPO: in one role it calls tools, in the other it answers as they would.
    """
    if ctx.invoked_subcommand is not None:
        return
    if resume and (sources or uri):
        raise click.UsageError("--resume goes on with the toolsets and the model of the run; leave --tools and --model")
    if not resume and not sources:
        raise click.UsageError("name the toolsets with --tools, or go on with a run: --resume -o RUN")
    given = {name: value for name, value in {**changes, "preset": preset, "model": uri}.items() if value is not None}
    if server is not None:
        given["rollout"] = {"server": {"url": None if server == "start" else server}}
    if engine == "verl":
        if server is not None:
            raise click.UsageError("--engine verl starts samplers of its own; leave --rollout-server")
        by_verl = load("training.engines.verl.command", command="train", extra="train")
        by_verl.run_verl(sources, file, given, output, resume=resume, dry_run=dry_run, note=click.echo)
        return
    command = load("training.run.command", command="train", extra="train")
    finished = command.run_train(sources, file, given, output, resume=resume, dry_run=dry_run)
    sys.exit(0 if finished else 1)


@train.command(
    name="eval",
    epilog="""\b
Examples:
  envace-sdk train eval runs/retail
  envace-sdk train eval runs/retail --split validation --samples 8 --temperature 1 --json
  envace-sdk train eval runs/retail --step 20
  envace-sdk train eval runs/retail --server 'http://127.0.0.1:8000/retail/worlds/{world}/mcp'
  envace-sdk train eval runs/both --server retail=mcp.json#shop --server airline=mcp.json#desk
      tool calls are made on these MCP servers, not on the ladder: give it servers that may be changed
  envace-sdk train eval runs/retail --untrained
      the model as it was before any training, for comparison
""",
)
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--split", type=click.Choice(["test", "validation", "train"]), default="test", show_default=True)
@click.option("--tasks", default=32, show_default=True, type=click.IntRange(min=1), help="How many tasks are tried.")
@click.option("--samples", default=4, show_default=True, type=click.IntRange(min=1, max=64), help="Attempts at each.")
@click.option("--temperature", default=1.0, show_default=True, type=click.FloatRange(min=0), help="Of sampling.")
@click.option("--step", type=click.IntRange(min=0), help="Which checkpoint; default: the newest. 0: after the warm-up.")
@click.option("--untrained", is_flag=True, help="The model before any training.")
@click.option(
    "--constrained",
    is_flag=True,
    help="Rehearse once more, held to the tools' schemas as where the model is served: fidelity_constrained.",
)
@click.option(
    "--server",
    "servers",
    multiple=True,
    metavar="[TOOLSET=]PLACE",
    help="An MCP server that answers instead of the ladder: URL, in which {world} stands for a name that no other "
    "attempt has, or mcp.json#NAME, whose command is run anew for each attempt. Its tools are really called.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def evaluate(run: Path, servers: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Try held-out tasks of RUN on the environment's ladder, or a server: pass@1, pass^k, fidelity of rehearsing."""
    named = [named_source(place) for place in servers]
    found = load("training.run.command", command="train", extra="train").run_eval(run, servers=named, **options)
    if as_json:
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        return
    click.echo(
        f"{found['split']} tasks: {found['tasks']}, attempts at each: {found['samples']}, weights: {found['weights']}, "
        f"calls answered by: {found['answered_by']}"
    )
    if found["answered_by"] == "twin":
        click.echo("a server says that it only rehearses: this says nothing about the real tools", err=True)
    for name, value in found["scores"].items():
        click.echo(f"{name:<16} {value:.3f}")
    calls = found["calls"]
    click.echo(f"calls rehearsed: {calls['all']}, new (in no training task, in no recording): {calls['new']}")
    for name, value in found["fidelity"].items():
        click.echo(f"fidelity of {name}: {value:.3f}")


@train.command(
    name="export",
    epilog="""\b
Examples:
  envace-sdk train export runs/retail -o policy/
  envace-sdk serve --tools retail --model policy/
""",
)
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Folder to write.")
@click.option("--step", type=click.IntRange(min=1), help="Which checkpoint; default: the newest.")
@click.option(
    "--role",
    type=click.Choice(["act", "rehearse"]),
    default="rehearse",
    show_default=True,
    help="With separate parameters, whose.",
)
def export(run: Path, output: Path, **options: Any) -> None:
    """Write the policy of RUN as a plain model folder, adapters merged; `--model FOLDER` loads it everywhere."""
    click.echo(load("training.run.command", command="train", extra="train").run_export(run, output, **options))


train.add_command(ablate)
train.add_command(runs)
