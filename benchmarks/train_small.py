"""Does training help? SmolLM2-135M on one shipped toolset, on task templates that it never saw, over several seeds.

    python benchmarks/train_small.py --seeds 0 1 2 -o runs/train_small

Each seed makes its own tasks, warms the model up on solutions of training templates, takes role-wise GRPO steps, and is
measured before and after those steps on test templates: success of acting on the environment's ladder, and fidelity of
rehearsing. The gain is paired by seed; its 95 % interval is Student's. Format validity is reported apart.

What is small here is chosen for two CPU cores: tasks show three tools, solutions have at most two calls, answers of
tools at most 300 characters, prompts at most 512 tokens, and no worked example stands in them. A seed that was
interrupted goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from envace_sdk.training.run import Job, Stop, plan, run_config, train
from envace_sdk.training.run.command import run_eval
from envace_sdk.training.run.job import MANIFEST
from envace_sdk.training.run.progress import Display
from envace_sdk.training.run.report import write_report

STUDENT_95: Final = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
"""Two-sided 97.5 % quantiles of Student's t, by degrees of freedom."""
SCORES: Final = ("success", "reward", "fidelity", "format_act", "format_rehearse")


def settings(seed: int, warmup: int, steps: int) -> dict[str, Any]:
    """What a seed is run with."""
    return {
        "preset": "cpu-small",
        "seed": seed,
        "steps": steps,
        "warmup": {"steps": warmup, "rows": 8, "learning_rate": 5e-5},
        "optimizer": {"learning_rate": 1e-5},
        "tasks": {
            "per_step": 2,
            "prompt_tokens": 512,
            "shares": [0.7, 0.05, 0.25],
            "make": {
                "count": 200,
                "seed": seed,
                "tools_per_task": 3,
                "max_calls": 2,
                "largest_answer": 300,
                "mix": {"read": 0.4, "change": 0.35, "refused": 0.25},
            },
        },
        "rollout": {
            "group": 4,
            "max_turns": 3,
            "act": {"max_tokens": 96},
            "rehearse": {"max_tokens": 128},
            "recorded": 0,
            "entities": 2,
            "history": 1,
            "prompt_characters": 1000,
        },
        "evaluation": {"every": 0, "tasks": 1, "episodes": 1},
    }


def one_seed(folder: Path, toolset: str, seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """Train with a seed, and measure before and after."""
    begin = time.perf_counter()
    if (folder / MANIFEST).exists():
        job = Job.found(folder)
    else:
        config = run_config(settings(seed, arguments.warmup, arguments.steps))
        job = asyncio.run(plan([toolset], config, folder, print))
        job.begin([toolset])
    stop = Stop()
    with Display() as display, stop.on_signals(lambda: display.note("stopping")):
        finished = asyncio.run(train(job, display, stop))
    write_report(job)
    if not finished:
        raise SystemExit(f"stopped; run it again to go on with seed {seed}")
    trained = time.perf_counter() - begin
    measured = {
        name: run_eval(
            folder, split="test", tasks=arguments.tasks, samples=1, temperature=0.0, step=step, untrained=False
        )
        for name, step in (("before", 0), ("after", None))
    }
    found = {
        "seed": seed,
        "minutes": trained / 60,
        "tasks": measured["after"]["tasks"],
        **{name: {score: one["scores"][score] for score in SCORES} for name, one in measured.items()},
    }
    (folder / "result.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


def interval(gains: Sequence[float]) -> tuple[float, float]:
    """The mean of paired gains, and half the width of its 95 % interval."""
    mean = statistics.fmean(gains)
    if len(gains) < 2:
        return mean, math.inf
    return mean, STUDENT_95[len(gains) - 1] * statistics.stdev(gains) / math.sqrt(len(gains))


def main() -> None:
    """Run the seeds that have no result yet, and print the table over all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default="issue_tracker")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--warmup", type=int, default=24, help="supervised updates")
    parser.add_argument("--steps", type=int, default=16, help="GRPO steps, at most 60 by the benchmark's rules")
    parser.add_argument("--tasks", type=int, default=32, help="test tasks that are tried")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/train_small"))
    arguments = parser.parse_args()
    results = []
    for seed in arguments.seeds:
        folder = arguments.output / f"seed-{seed}"
        saved = folder / "result.json"
        found = json.loads(saved.read_text()) if saved.exists() else one_seed(folder, arguments.tools, seed, arguments)
        results.append(found)
    print(f"| test templates, {len(results)} seeds | before | after | gain | 95 % interval |")
    print("|---|---:|---:|---:|---|")
    for score in SCORES:
        before, after = ([one[when][score] for one in results] for when in ("before", "after"))
        gain, half = interval([late - early for early, late in zip(before, after, strict=True)])
        print(
            f"| {score} | {statistics.fmean(before):.3f} | {statistics.fmean(after):.3f} | {gain:+.3f} | "
            f"{gain - half:+.3f} to {gain + half:+.3f} |"
        )
    print(f"{statistics.fmean(one['minutes'] for one in results):.1f} minutes of training a seed")


if __name__ == "__main__":
    main()
