"""Does training help? SmolLM2-135M on one shipped toolset, on task templates that it never saw, over several seeds.

    python benchmarks/train_small.py --seeds 0 1 2 -o runs/train_small

The first seed warms the model up on solutions of training templates. From there each seed takes role-wise GRPO steps in
which the policy mostly rehearses the answers itself, and is measured before and after those steps on the tasks of test
templates, taking the likeliest token each time: success of acting on the environment's ladder, and fidelity of
rehearsing. Gains are paired by seed, and their 95 % interval is Student's. Format validity is reported apart. Tasks,
their split and the start are the same for all seeds, which draw the order of tasks and all that is sampled: the
interval speaks of these tasks and of this start. So short a warm-up ends in a policy that can write one rehearsal in
seven or three in four, by its seed, and starts so unlike hide what the steps do.

Tasks want one change or two, in one message or one after the other, and of no template there are more than twelve:
where two templates are half of the tasks, their pattern is what is learned. A template that was never trained on puts
together what others have apart, or asks for one thing that they ask for among others; each tool is in some training
task, which is why the tasks are made with seed 2.

Acts earn the outcome alone. Rehearsals earn, beside it, twice how far they agree with what the ladder answers there: on
training templates, what fidelity measures on the test templates. Nothing is earned for form alone, which is easiest to
have by refusing whatever was called; what cannot be done is not in these tasks, since no prompt here tells the
rehearsing role enough to know it. Who does not come to an answer keeps a quarter of the outcome, less than one of two
changes and an answer earn. In two fifths of the groups the ladder answers, so that acting does not depend on rehearsing
alone.

What is small here is chosen for two CPU cores: tasks show two tools and take at most two calls, answers of tools have
at most 220 characters, prompts at most 512 tokens, and the warm-up is short, so that there is something left to learn.
A seed that was interrupted goes on. `-o` gets the runs, and `--results` what is small of them: `summary.json`,
`curves.html` and the metrics of each seed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from envace_sdk.training.metrics import read_metrics
from envace_sdk.training.run import Job, Stop, plan, run_config, train
from envace_sdk.training.run.command import run_eval
from envace_sdk.training.run.job import MANIFEST
from envace_sdk.training.run.paired import paired
from envace_sdk.training.run.plots import plot
from envace_sdk.training.run.progress import Display
from envace_sdk.training.run.report import document, write_report

TEMPERATURE: Final = 0.8
"""Of sampling and of the loss: at 1 a model this small can seldom be read to the end of a response."""
SCORES: Final = ("success", "fidelity", "fidelity_new", "reward", "format_act", "format_rehearse")
CURVES: Final = {
    "Success in training, the policy rehearsing": "success",
    "Reward of acts": "reward/act",
    "Reward of rehearsals": "reward/rehearse",
    "Format of acts": "format/act",
    "Format of rehearsals": "format/rehearse",
    "Share of groups with something to learn from": "learning_share",
}


def settings(seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """What a seed is run with."""
    return {
        "preset": "cpu-small",
        "seed": seed,
        "steps": arguments.steps,
        "warmup": {"steps": arguments.warmup, "rows": 8, "learning_rate": 5e-5, "recordings": False},
        "optimizer": {"learning_rate": 2e-5},
        "rewards": {"rehearse_agreement": 2.0, "unanswered": 0.25},
        "loss": {"temperature": TEMPERATURE},
        "compute": {"precision": "bf16", "tokens_per_micro_batch": 2048},
        "checkpoints": {"every": 8, "keep": 3},
        "tasks": {
            "per_step": 4,
            "prompt_tokens": 512,
            "shares": [0.65, 0.03, 0.32],
            "make": {
                "count": arguments.count,
                "seed": 2,
                "per_template": 12,
                "tools_per_task": 2,
                "max_calls": 2,
                "largest_answer": 220,
                "hidden_keys": 0.0,
                "bystanders": 0.0,
                "mix": {"change": 0.3, "pair": 0.5, "conversation": 0.2},
            },
        },
        "rollout": {
            "group": 6,
            "max_turns": 5,
            "act": {"max_tokens": 100, "temperature": TEMPERATURE},
            "rehearse": {"max_tokens": 140, "temperature": TEMPERATURE},
            "schedule": {"mix": {"train": 0.6, "grounded": 0.4}},
            "recorded": 0,
            "entities": 2,
            "history": 0,
            "prompt_characters": 900,
        },
        "evaluation": {"every": 0, "tasks": 1, "episodes": 1},
    }


def one_seed(folder: Path, seed: int, arguments: argparse.Namespace, first: Path) -> dict[str, Any]:
    """Train with a seed from where the first was warmed up to, and measure before and after."""
    if (folder / MANIFEST).exists():
        job = Job.found(folder)
    else:
        job = asyncio.run(plan([arguments.tools], run_config(settings(seed, arguments)), folder, print))
        job.begin([arguments.tools])
    if folder != first:
        job.take_warm_up(Job.found(first))
    stop = Stop()
    with Display() as display, stop.on_signals(lambda: display.note("stopping")):
        finished = asyncio.run(train(job, display, stop))
    write_report(job)
    if not finished:
        raise SystemExit(f"stopped; run it again to go on with seed {seed}")
    steps, warm = read_metrics(job.directory), read_metrics(job.warm_directory)
    measured = {
        name: run_eval(
            folder, split="test", tasks=arguments.tasks, samples=1, temperature=0.0, step=step, untrained=False
        )
        for name, step in (("before", 0), ("after", None))
    }
    for found in measured.values():
        del found["run"]  # where it lay on one machine
    return {
        "seed": seed,
        "tasks": measured["after"]["tasks"],
        "templates": len({case.task.template for case in job.material.chosen("test", arguments.tasks, seed)}),
        "warm_up_minutes": sum(values["time/seconds"] for values in warm) / 60,
        "training_minutes": sum(
            values["time/seconds"] + values.get("time/rollout_seconds", 0.0) for values in steps[1:]
        )
        / 60,
        **measured,
    }


def curves(folders: Mapping[int, Path]) -> str:
    """The seeds' training curves, as a page that loads nothing."""
    logs = {seed: read_metrics(folder) for seed, folder in folders.items()}
    figures = [
        plot(
            title,
            {
                f"seed {seed}": [(float(one["step"]), float(one[name])) for one in steps if one.get(name) is not None]
                for seed, steps in logs.items()
            },
            smooth=True,
        )
        for title, name in CURVES.items()
    ]
    return document("SmolLM2-135M learns to act and to rehearse", f'<div class="plots">{"".join(figures)}</div>')


def table(results: Sequence[Mapping[str, Any]]) -> str:
    """Before and after over all seeds, in Markdown."""
    what = f"{results[0]['tasks']} tasks of unseen templates, {len(results)} seeds"
    lines = [f"| {what} | before | after | gain | 95 % interval |", "|---|---:|---:|---:|---|"]
    for score in SCORES:
        if any(score not in one[when]["scores"] for one in results for when in ("before", "after")):
            continue  # of so few tasks that training has shown all their calls
        before, after = ([float(one[when]["scores"][score]) for one in results] for when in ("before", "after"))
        found = paired(after, before)
        lines.append(
            f"| {score} | {found.second:.3f} | {found.first:.3f} | {found.difference:+.3f} | "
            f"{found.low:+.3f} to {found.high:+.3f} |"
        )
    return "\n".join(lines)


def by_template(folders: Mapping[int, Path], results: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """How many tasks of each test template were tried, and solved before and after, over all seeds."""
    found: dict[str, dict[str, int]] = {}
    for one in results:
        templates = {case.name: case.task.template for case in Job.found(folders[one["seed"]]).material.cases["test"]}
        for name, after in one["after"]["solved"].items():
            counts = found.setdefault(templates[name], {"tasks": 0, "before": 0, "after": 0})
            counts["tasks"] += 1
            counts["before"] += one["before"]["solved"][name]
            counts["after"] += after
    return dict(sorted(found.items()))


def keep(
    target: Path, folders: Mapping[int, Path], results: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]
) -> None:
    """Write down what is small: results, settings, curves and metrics."""
    target.mkdir(parents=True, exist_ok=True)
    summary = {"settings": settings, "seeds": results, "solved_by_template": by_template(folders, results)}
    (target / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    (target / "curves.html").write_text(curves(folders), encoding="utf-8")
    for seed, folder in folders.items():
        shutil.copyfile(folder / "metrics.jsonl", target / f"metrics-{seed}.jsonl")


def main() -> None:
    """Run the seeds that have no result yet, and print the table over all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default="issue_tracker")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--count", type=int, default=400, help="tasks that are made, before the long ones are left out")
    parser.add_argument("--warmup", type=int, default=12, help="supervised updates")
    parser.add_argument("--steps", type=int, default=48, help="GRPO steps, at most 60 by the benchmark's rules")
    parser.add_argument("--tasks", type=int, default=100, help="test tasks that are tried, at most")
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/train_small"))
    parser.add_argument("--results", type=Path, help="folder for what is small; default: the output")
    arguments = parser.parse_args()
    folders = {seed: arguments.output / f"seed-{seed}" for seed in arguments.seeds}
    results = []
    for seed, folder in folders.items():
        saved = folder / "result.json"
        if not saved.exists():
            # A process of its own gives all memory back.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                found = pool.submit(one_seed, folder, seed, arguments, folders[arguments.seeds[0]]).result()
            saved.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        results.append(json.loads(saved.read_text(encoding="utf-8")))
    keep(arguments.results or arguments.output, folders, results, settings(0, arguments))
    print(table(results))
    for template, counts in by_template(folders, results).items():
        print(f"{template}: {counts['before']} of {counts['tasks']} solved before, {counts['after']} after")
    for name in ("warm_up_minutes", "training_minutes"):
        print(f"{name.replace('_', ' ')} of a seed: {statistics.fmean(float(one[name]) for one in results):.1f}")


if __name__ == "__main__":
    main()
