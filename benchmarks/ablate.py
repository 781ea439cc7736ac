"""Role-wise or pooled baselines, on a synthetic world that a tiny model learns from scratch, over several seeds.

    python benchmarks/ablate.py --seeds 0,1,2,3,4 -o runs/lamps
    python benchmarks/ablate.py --what parameters --seeds 0,1,2 -o runs/lamps_parameters

Nine tasks: three tools, three lamps. A random Llama of two layers is warmed up on demonstrations that make any call
for any task, so that it knows the form of calls and responses and nothing else, and then learns from its own attempts.
Adapters teach random weights no form, so with `--what parameters` both ways adapt the model that was warmed up whole.
With `--rewards outcome` both roles earn the task's outcome, as in the method; with `grounded` the rehearsing role also
earns what the form and the truth of its responses are worth. What is compared and how is `envace-sdk train ablate`,
which this runs on a world and a model that it makes; a run that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

import yaml
from envace_sdk.training.config import merged
from envace_sdk.training.run import Job, Material, RunConfig, Stop, export, run_config, train
from envace_sdk.training.run.ablate import Measuring, run_ablate
from envace_sdk.training.run.ablation import MANIFEST
from envace_sdk.training.run.progress import Display
from envace_sdk.training.tasks import MakeOptions, write_task_sets

SUPPORT = Path(__file__).parents[1] / "tests" / "support"
REWARDS = {"outcome": {}, "grounded": {"rehearse_schema": 0.5, "rehearse_agreement": 0.5}}


def world(folder: Path, what: str, rewards: str, steps: int) -> Path:
    """Write the toolset, its tasks, the model and the settings; the file with the latter."""
    sys.path.insert(0, str(SUPPORT))
    import lamp_world

    config = lamp_world.settings(**{**lamp_world.LEARNING, "rewards": REWARDS[rewards]})
    material = lamp_world.material(folder / "lamps", lamp_world.careless())
    lamp_world.checkpoint(folder / "model", material, config)
    write_task_sets(folder / "made", material.sets, MakeOptions())
    values = config.model_dump(mode="json")  # all of them: what a file leaves out is the preset's
    values["model"] = str(folder / "model")
    if what == "parameters":
        values["model"] = str(warmed(folder, material, config))
        values["warmup"]["steps"] = 0
    values["tasks"]["folder"] = str(folder / "made")
    values["steps"] = steps
    path = folder / "train.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    return path


def warmed(folder: Path, material: Material, config: RunConfig) -> Path:
    """The random model after its warm-up and one step, as a model of its own."""
    once = {"steps": 1, "optimizer": {"warmup_steps": 0}, "evaluation": {"every": 0, "tasks": 1, "episodes": 1}}
    short = run_config(merged(config.model_dump(mode="json"), once))
    job = Job(folder / "warmed", str(folder / "model"), short, material)
    job.begin([str(folder / "lamps")])
    with Display() as display:
        asyncio.run(train(job, display, Stop()))
    return export(job, folder / "policy")


def main() -> None:
    """Take the runs that are left, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", choices=["roles", "parameters", "rendering"], default="roles")
    parser.add_argument("--rewards", choices=list(REWARDS), default="outcome")
    parser.add_argument("--seeds", default="0,1,2,3,4")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/lamps"))
    arguments = parser.parse_args()
    seeds = [int(seed) for seed in arguments.seeds.split(",")]
    test = Measuring(tasks=9, samples=16)
    folder = arguments.output.resolve()
    is_begun = (folder / MANIFEST).exists()
    file = None if is_begun else world(folder, arguments.what, arguments.rewards, arguments.steps)
    sources = () if is_begun else (str(folder / "lamps"),)
    lines = run_ablate(sources, file, {}, folder, what=arguments.what, seeds=seeds, test=test, dry_run=False)
    if lines is None:
        raise SystemExit("stopped; run it again to go on")
    for line in lines:
        print(line)


if __name__ == "__main__":
    main()
