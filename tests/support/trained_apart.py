"""Runs the same steps under several processes, as torchrun starts them, and writes what came out.

torchrun --nproc_per_node 2 trained_apart.py OUT
"""

import json
import sys
from pathlib import Path

import torch
from envace_sdk.training.checkpoint import folder_for
from envace_sdk.training.trainer import Trainer
from safetensors.torch import save_file
from tiny_policy import config, growing_rows, some_rows, tiny_llama

CASES = {
    "full": {},
    "uneven": {"compute": {"tokens_per_micro_batch": 1000}},
    "stream": {"rendering": "stream"},
    "adapters": {"parameters": {"method": "lora", "separate": True}},
    "reference": {"loss": {"kl": 0.1}, "optimizer": {"epochs": 2}},
    "sharded": {"compute": {"sharding": "full"}},
    "sharded-adapters": {"compute": {"sharding": "full"}, "parameters": {"method": "lora", "separate": True}},
    "sharded-checkpointing": {
        "compute": {"sharding": "full", "gradient_checkpointing": True},
        "rendering": "stream",
        "loss": {"kl": 0.1},
    },
}
STEPS = 3


def settings(name):
    # Adam divides by the gradient's size: where that is nearly nothing, rounding decides the sign of a whole step.
    return config(optimizer={"learning_rate": 1e-5, **CASES[name].get("optimizer", {})}, **_without(CASES[name]))


def _without(case):
    return {name: value for name, value in case.items() if name != "optimizer"}


def batches():
    return [some_rows(seed=1), growing_rows(), some_rows(count=5, seed=3)]


def train(name, out):
    """Train the case; returns what each step told. The main process writes the weights."""
    trainer = Trainer(tiny_llama(), settings(name))
    rank, count = trainer.processes.rank, trainer.processes.count
    told = [trainer.step(rows[rank::count]).as_flat() for rows in batches()[:STEPS]]
    weights = trainer.policy.weights()
    if trainer.processes.is_main:
        save_file(weights, out / f"{name}.safetensors")
    return told, trainer


def resumed(trainer, name, out):
    """A step after a checkpoint, by a new trainer that read it."""
    folder = folder_for(out / name, STEPS)
    trainer.save(folder)
    again = Trainer(tiny_llama(seed=5 if name == "sharded" else 0), settings(name))
    again.resume(folder)
    rows = some_rows(seed=4)[trainer.processes.rank :: trainer.processes.count]
    here, there = trainer.step(rows).as_flat(), again.step(rows).as_flat()
    return [here["grad_norm"], there["grad_norm"]]


def idle_adapter_moved():
    """How far a role's adapter moves in steps that have none of its rows, after one that has."""
    trainer = Trainer(tiny_llama(), config(parameters={"method": "lora", "separate": True}))
    rank, count = trainer.processes.rank, trainer.processes.count
    trainer.step(some_rows()[rank::count])
    before = trainer.policy.weights()
    for seed in range(3):
        trainer.step([row for row in some_rows(seed=seed) if row.role == "act"][rank::count])
    after = trainer.policy.weights()
    return {
        role: max(float((after[name] - before[name]).abs().max()) for name in before if f".{role}." in name)
        for role in ("act", "rehearse")
    }


if __name__ == "__main__":
    torch.set_num_threads(1)
    out = Path(sys.argv[1])
    results = {}
    for name in CASES:
        results[name], trainer = train(name, out)
        if name.startswith("sharded"):
            results[f"{name}, resumed"] = resumed(trainer, name, out)
    results["idle"] = idle_adapter_moved()
    if trainer.processes.is_main:
        (out / "told.json").write_text(json.dumps(results))
    trainer.processes.wait()
    torch.distributed.destroy_process_group()
