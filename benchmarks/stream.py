"""What the two renderings cost: tokens and wall time of training on one trajectory of 2 to 16 turns.

    python benchmarks/stream.py [--tools schemas/it_operations] [--turns 2 4 6 10 16] [--layers 4]

A trajectory is n calls of a shipped toolset with their answers, in the prompts of real rollouts: rendered as `split`
(every turn of either role a row with a prompt of its own) and as `stream` (one sequence). Recordings and entities,
which only the prompts of `split` have room for, are left out: with them it takes several times as many tokens again.

The model has SmolLM2-135M's tokenizer and widths and, to be done within minutes, the first few of its 30 layers;
`--layers 30` is the whole model. The fewer the layers, the larger the share of the projection to the vocabulary, which
is the same in both: what is measured errs on the side of `split`. Times are of one update each, one after the other;
CPU time depends less than wall time on what else the machine does.
"""

from __future__ import annotations

import argparse
import asyncio
import platform
import time
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import torch
from envace_sdk.training.config import TrainConfig, validate
from envace_sdk.training.rewards import Rewarder
from envace_sdk.training.rollout.collect import Case, RolloutSource
from envace_sdk.training.rollout_config import RewardConfig, RolloutConfig
from envace_sdk.training.rows import Row
from envace_sdk.training.segments import Rendering, render
from envace_sdk.training.tokens import ModelTokens
from envace_sdk.training.trainer import Trainer
from envace_sdk.training.warmup import demonstrate
from transformers import AutoModelForCausalLM, AutoTokenizer

from envace_sdk.models.fetch import fetch
from envace_sdk.models.transformers import TransformersModel
from envace_sdk.rehearse.environment import Environment
from envace_sdk.tasks import Task, WitnessCall, load_tasks

SHOWN_TOOLS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=Path, default=Path("schemas/it_operations"))
    parser.add_argument("--turns", type=int, nargs="+", default=[2, 4, 6, 10, 16])
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--tokens-per-micro-batch", type=int, default=2048)
    options = parser.parse_args()
    folder = fetch("smollm2-135m")
    model = AutoModelForCausalLM.from_pretrained(folder, num_hidden_layers=options.layers)
    tokens = ModelTokens(TransformersModel(model, AutoTokenizer.from_pretrained(folder)))
    compute = {"device": "cpu", "precision": "f32", "tokens_per_micro_batch": options.tokens_per_micro_batch}
    trainers = {
        rendering: Trainer(
            model, validate({"rendering": rendering, "parameters": {"method": "full"}, "compute": compute}, TrainConfig)
        )
        for rendering in ("split", "stream")
    }
    environment = Environment.load(options.tools)
    calls = reading_calls(environment, load_tasks(options.tools / "tasks.jsonl"))
    print(f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads, {options.layers} layers")
    print("| turns | rows | tokens: split | stream | fewer | s: split | stream | less | CPU s: split | stream | less |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for turns in options.turns:
        case = Case(environment, task_of(list(islice(cycle(calls), turns))))
        found = {}
        for rendering, trainer in trainers.items():
            rows = asyncio.run(rows_of(case, rendering, tokens))
            found[rendering] = Cost(len(rows), sum(map(len, render(rows, rendering))), *timed(trainer, rows))
        print(line(turns, found["split"], found["stream"]), flush=True)


async def rows_of(case: Case, rendering: Rendering, tokens: ModelTokens) -> list[Row]:
    """The trajectory's rows, as rollouts in that rendering make them; every one with an advantage."""
    nobody: Any = None
    source = RolloutSource(
        nobody,
        RolloutConfig(max_turns=100, style="compact", recorded=0, entities=0),
        Rewarder(RewardConfig()),
        rendering=rendering,
        tokens=tokens,
    )
    rows = (await demonstrate(case, source, tokens)).rows()
    return [Row(**{**row.as_json(), "advantage": 1.0}) for row in rows]


@dataclass(frozen=True)
class Cost:
    rows: int
    tokens: int
    wall: float
    cpu: float


def timed(trainer: Trainer, rows: list[Row]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    trainer.step(rows)
    return time.perf_counter() - wall, time.process_time() - cpu


def reading_calls(environment: Environment, tasks: list[Task]) -> list[WitnessCall]:
    """Calls of the toolset's own tasks that change nothing and need no earlier answer, of at most five tools."""
    found: dict[str, list[WitnessCall]] = {}
    for task in tasks:
        for call in task.witness or ():
            rule = environment.dynamics.tools.get(call.tool)
            plain = not any(isinstance(value, dict) for value in call.arguments.values())
            if rule and rule.effect in {"read", "search"} and plain and call.expect == "success" and not call.turn:
                found.setdefault(call.tool, []).append(call)
    shown = sorted(found, key=lambda tool: -len(found[tool]))[:SHOWN_TOOLS]
    width = max(len(found[tool]) for tool in shown)
    return [found[tool][place] for place in range(width) for tool in shown if place < len(found[tool])]


def task_of(calls: list[WitnessCall]) -> Task:
    return Task.model_validate(
        {
            "id": "look-up",
            "instruction": "Please look up what I need, one thing after the other, and tell me when you are done.",
            "tools": sorted({call.tool for call in calls}),
            "checklist": [{"id": "-", "says": "-", "that": "true"}],
            "witness": [call.model_dump() for call in calls],
            "answer": "I have looked up everything.",
        }
    )


def line(turns: int, split: Cost, stream: Cost) -> str:
    return (
        f"| {turns} | {split.rows} | {split.tokens:,} | {stream.tokens:,} | {split.tokens / stream.tokens:.1f} x "
        f"| {split.wall:.1f} | {stream.wall:.1f} | {split.wall / stream.wall:.1f} x "
        f"| {split.cpu:.1f} | {stream.cpu:.1f} | {split.cpu / stream.cpu:.1f} x |"
    )


if __name__ == "__main__":
    main()
