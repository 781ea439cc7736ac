"""Updates on GPUs: rows and tokens a second, and memory, on one GPU or several.

    python benchmarks/gpu/step.py --model transformers:Qwen/Qwen3-0.6B
    torchrun --nproc_per_node 8 benchmarks/gpu/step.py --model transformers:Qwen/Qwen3-8B --method full --sharding full

Rows are random tokens of lengths as in rollouts; the first step, in which libraries choose kernels, is not counted. The
main process prints one line of JSON.
"""

from __future__ import annotations

import argparse
import json
from random import Random
from statistics import fmean

from envace_sdk.training.config import TrainConfig, validate
from envace_sdk.training.rows import ROLES, Row
from envace_sdk.training.run.machine import load_weights, model_place
from envace_sdk.training.trainer import Trainer
from need import on_gpus


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="transformers:Qwen/Qwen3-0.6B")
    parser.add_argument("--method", choices=["lora", "full"], default="lora")
    parser.add_argument("--sharding", choices=["none", "full"], default="none")
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--prompt", type=int, default=2000, help="Tokens of the longest prompt.")
    parser.add_argument("--completion", type=int, default=250, help="Tokens of the longest completion.")
    parser.add_argument("--micro-batch", type=int, default=16384, help="compute.tokens_per_micro_batch")
    parser.add_argument("--checkpointing", action="store_true")
    parser.add_argument("--steps", type=int, default=4)
    options = on_gpus(parser)
    compute = {
        "sharding": options.sharding,
        "tokens_per_micro_batch": options.micro_batch,
        "gradient_checkpointing": options.checkpointing,
    }
    config = validate({"parameters": {"method": options.method}, "compute": compute}, TrainConfig)
    trainer = Trainer(load_weights(model_place(options.model))[0], config)
    processes = trainer.processes
    told = []
    for step in range(options.steps):
        rows = some_rows(options, trainer.policy.vocabulary, step)
        told.append(trainer.step(rows[processes.rank :: processes.count]))
    seconds = processes.gather([fmean(one.seconds for one in told[1:])])
    memory = processes.gather([max(one.peak_memory for one in told)])
    if processes.is_main:
        found = {
            "model": options.model,
            "method": options.method,
            "sharding": options.sharding,
            "processes": processes.count,
            "device": str(processes.device),
            "rows_per_second": options.rows / max(seconds),
            "tokens_per_second": sum(one.computed_tokens for one in told[1:]) / (len(told) - 1) / max(seconds),
            "peak_memory_gib": max(memory) / 2**30,
        }
        print(json.dumps(found))
    trainer.close()


def some_rows(options: argparse.Namespace, vocabulary: int, seed: int) -> list[Row]:
    random = Random(seed)

    def ids(most: int) -> tuple[int, ...]:
        return tuple(random.randrange(vocabulary) for _ in range(random.randint(most // 8, most)))

    return [
        Row(
            f"task {number // 8}",
            number % 8,
            ROLES[number % 2],
            ids(options.prompt),
            ids(options.completion),
            advantage=random.uniform(-1, 1),
        )
        for number in range(options.rows)
    ]


if __name__ == "__main__":
    main()
