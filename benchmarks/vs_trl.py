"""A training step of ours beside one of TRL's GRPOTrainer: rows per second and peak memory, on the same model and rows.

    pip install trl==1.16.0 && python benchmarks/vs_trl.py [--rows 16] [--micro-batch 4] [--layers 6] [--rounds 3]

Both take full-parameter steps in float32 on the CPU with AdamW, a global token mean, no KL term and no recomputed
activations, on micro-batches of at most as many padded tokens as `--micro-batch` of the longest row. TRL is given the
rows where it would generate (`_generate_and_score_completions`), so neither side samples. Each side runs in processes
of its own, in turn, so that whatever else the machine does falls on both; the first step of each process, in which
libraries choose kernels, is not counted. That both did the same work shows in the norm of the first gradient.

The model is SmolLM2-135M with the first few of its 30 layers (`--layers 30`: all). Lengths are spread as in rollouts:
prompts of 60 to 400 tokens, completions of 8 to 80.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from random import Random
from typing import Any

import torch
from envace_sdk.training.config import TrainConfig, validate
from envace_sdk.training.rows import ROLES, Row, rows_from_json
from envace_sdk.training.trainer import Trainer
from transformers import AutoModelForCausalLM, AutoTokenizer

from envace_sdk.models.fetch import fetch

RATE = 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=16)
    parser.add_argument("--micro-batch", type=int, default=4)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--steps", type=int, default=3, help="Per process; the first is not counted.")
    parser.add_argument("--rounds", type=int, default=3, help="Processes of each side.")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="1 where other work runs beside.")
    parser.add_argument("--side", choices=["ours", "trl"], help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.side:
        rows = rows_from_json(json.loads(options.file.read_text()))
        print(json.dumps((ours if options.side == "ours" else trl)(rows, options)))
        return
    with tempfile.TemporaryDirectory() as folder:
        options.file = Path(folder) / "rows.json"
        options.file.write_text(json.dumps([row.as_json() for row in some_rows(options.rows)]))
        compare(options)


def compare(options: argparse.Namespace) -> None:
    runs: dict[str, list[dict[str, Any]]] = {"ours": [], "trl": []}
    for _ in range(options.rounds):
        for side, found in runs.items():
            found.append(apart(side, options))
    print("| | rows/s (wall) | rows/s (CPU) | peak memory | above the loaded model | norm of the first gradient |")
    print("|---|---:|---:|---:|---:|---:|")
    best: dict[str, list[float]] = {}
    for side, found in runs.items():
        wall = options.rows / statistics.median(second for run in found for second in run["wall"])
        cpu = options.rows / statistics.median(second for run in found for second in run["cpu"])
        peak = statistics.median(run["peak"] for run in found) / 2**20
        above = statistics.median(run["peak"] - run["loaded"] for run in found) / 2**20
        best[side] = [wall, cpu, peak, above]
        print(f"| {side} | {wall:.2f} | {cpu:.2f} | {peak:.2f} GiB | {above:.2f} GiB | {found[0]['norm']:.5f} |")
    ratios = [ours / theirs for ours, theirs in zip(best["ours"], best["trl"], strict=True)]
    print("| ratio | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " | |")


def apart(side: str, options: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, "--side", side, "--file", str(options.file)]
    for name in ("micro-batch", "layers", "steps", "threads"):
        command += [f"--{name}", str(getattr(options, name.replace("-", "_")))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr[-3000:])
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def some_rows(count: int) -> list[Row]:
    random = Random(0)

    def ids(least: int, most: int) -> tuple[int, ...]:
        return tuple(random.randrange(1000, 49_000) for _ in range(random.randint(least, most)))

    return [
        Row(f"{number // 8}", number % 8, ROLES[number % 2], ids(60, 400), ids(8, 80), advantage=random.uniform(-1, 1))
        for number in range(count)
    ]


def loaded(options: argparse.Namespace) -> Any:
    return AutoModelForCausalLM.from_pretrained(
        fetch("smollm2-135m"), num_hidden_layers=options.layers, dtype=torch.float32
    )


def ours(rows: list[Row], options: argparse.Namespace) -> dict[str, Any]:
    model = loaded(options)
    settings = {
        "steps": options.steps,
        "optimizer": {"learning_rate": RATE},
        "parameters": {"method": "full"},
        "compute": {
            "device": "cpu",
            "precision": "f32",
            "tokens_per_micro_batch": options.micro_batch * max(row.length for row in rows),
        },
    }
    trainer = Trainer(model, validate(settings, TrainConfig))
    watch = Watch()
    norms = []
    for _ in range(options.steps):
        watch.begin()
        norms.append(trainer.step(rows).grad_norm)
        watch.end()
    return watch.told(norms[0])


def trl(rows: list[Row], options: argparse.Namespace) -> dict[str, Any]:
    warnings.filterwarnings("ignore")
    from datasets import Dataset
    from transformers import TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    longest = max(len(row.prompt_ids) for row in rows), max(len(row.completion_ids) for row in rows)

    class Fed(GRPOTrainer):
        def _generate_and_score_completions(self, inputs: Any) -> dict[str, torch.Tensor]:  # noqa: ARG002
            prompts, completions = (
                [padded(row.prompt_ids, -longest[0]) for row in rows],
                [padded(row.completion_ids, longest[1]) for row in rows],
            )
            return {
                "prompt_ids": torch.stack([ids for ids, _ in prompts]),
                "prompt_mask": torch.stack([mask for _, mask in prompts]),
                "completion_ids": torch.stack([ids for ids, _ in completions]),
                "completion_mask": torch.stack([mask for _, mask in completions]),
                "advantages": torch.tensor([row.advantage for row in rows]),
                "num_items_in_batch": torch.tensor(sum(len(row.completion_ids) for row in rows)),
            }

    class Timed(TrainerCallback):
        def __init__(self) -> None:
            self.watch: Watch | None = None
            self.norms: list[float] = []

        def on_train_begin(self, *_: Any, **__: Any) -> None:
            self.watch = Watch()

        def on_step_begin(self, *_: Any, **__: Any) -> None:
            assert self.watch
            self.watch.begin()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            assert self.watch
            self.watch.end()

        def on_log(self, *_: Any, logs: dict[str, float], **__: Any) -> None:
            if "grad_norm" in logs:
                self.norms.append(logs["grad_norm"])

    timed = Timed()
    with tempfile.TemporaryDirectory() as folder:
        args = GRPOConfig(
            folder,
            per_device_train_batch_size=options.micro_batch,
            gradient_accumulation_steps=len(rows) // options.micro_batch,
            num_generations=options.micro_batch,
            max_steps=options.steps,
            learning_rate=RATE,
            lr_scheduler_type="constant",
            beta=0.0,
            loss_type="dapo",
            scale_rewards="none",
            gradient_checkpointing=False,
            bf16=False,
            use_cpu=True,
            save_strategy="no",
            report_to=[],
            logging_steps=1,
            disable_tqdm=True,
        )
        trainer = Fed(
            loaded(options),
            reward_funcs=lambda completions, **_: [0.0] * len(completions),
            args=args,
            train_dataset=Dataset.from_dict({"prompt": ["-"] * 64 * len(rows)}),
            processing_class=AutoTokenizer.from_pretrained(fetch("smollm2-135m")),
            callbacks=[timed],
        )
        trainer.train()
    assert timed.watch
    return timed.watch.told(timed.norms[0])


def padded(ids: tuple[int, ...], width: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and mask of |width|, padded on the left where it is negative."""
    gap = abs(width) - len(ids)
    before, after = (gap, 0) if width < 0 else (0, gap)
    return torch.tensor([0] * before + list(ids) + [0] * after), torch.tensor(
        [0] * before + [1] * len(ids) + [0] * after
    )


class Watch:
    """Times of steps, and memory from now on."""

    def __init__(self) -> None:
        self.loaded = resident()
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def begin(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def end(self) -> None:
        self.wall.append(time.perf_counter() - self._wall)
        self.cpu.append(time.process_time() - self._cpu)

    def told(self, norm: float) -> dict[str, Any]:
        """The first step is warm-up."""
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {"wall": self.wall[1:], "cpu": self.cpu[1:], "peak": peak, "loaded": self.loaded, "norm": norm}


def resident() -> int:
    """KiB of this process in memory now."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


if __name__ == "__main__":
    main()
