"""A run that goes on from its newest checkpoint, and says when it begins and has done each step.

python trained_until_killed.py DIRECTORY STEPS
"""

import sys
from pathlib import Path

import torch
from envace_sdk.training import checkpoint
from envace_sdk.training.metrics import MetricsLog
from envace_sdk.training.trainer import Trainer
from tiny_policy import config, some_rows, tiny_llama


def run(directory, steps):
    trainer = Trainer(tiny_llama(), config(parameters={"method": "lora", "dropout": 0.1}))
    newest = checkpoint.latest(directory)
    drawn = []
    if newest:
        drawn = trainer.resume(newest)
    with MetricsLog(directory, resume_at=trainer.steps_done) as log:
        while trainer.steps_done < steps:
            sys.stdout.write(f"begin {trainer.steps_done + 1}\n")
            sys.stdout.flush()
            drawn.append(int(torch.randint(0, 1000, ())))  # stands for rollouts, which draw from the same generator
            metrics = trainer.step(some_rows(seed=drawn[-1]))
            log.log(metrics.step, metrics.as_flat() | {"drawn": drawn[-1]})
            sys.stdout.write(f"save {metrics.step}\n")
            sys.stdout.flush()
            trainer.save(checkpoint.folder_for(directory, metrics.step), drawn)
            checkpoint.prune(directory, 2)


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]))
