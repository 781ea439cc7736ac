"""What a run will do and what it will cost: counted from its settings, timed on one task."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ..memory import peak_memory
from ..rows import Row
from .job import Job
from .live import Live
from .progress import duration
from .warm import batch, demonstrations, examples, full_batch

__all__ = ["Estimate", "estimate"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a run, from a calibration on this machine."""

    parameters: int
    """Of the model."""
    device: str
    warm_steps: int
    steps: int
    trajectories: int
    """Of all training steps."""
    tokens: int
    """That go through the model in updates, if every task has something to teach."""
    prompt_tokens: int
    """Of the longest prompt among the solutions of tasks."""
    training_rate: float
    """Tokens per second of an update."""
    rollout_seconds: float
    """Of one task's trajectories."""
    warm_minutes: float
    minutes: float
    """Of the training steps, at most: groups whose trajectories all earn the same are not computed."""
    measuring_minutes: float
    """Of the measurements on the way."""
    measured: str
    """Of which split the tasks are that they are made on."""
    memory: int
    """Bytes, the peak of the calibration, in which an update had a full micro-batch."""

    @property
    def total_minutes(self) -> float:
        """Of the whole run, at most."""
        return self.warm_minutes + self.minutes + self.measuring_minutes

    def lines(self) -> list[str]:
        """For people to read."""
        return [
            f"model      {self.parameters / 1e6:,.0f} M parameters on {self.device}",
            f"warm-up    {self.warm_steps} supervised updates: about {duration(self.warm_minutes * 60)}",
            f"training   {self.steps} steps, {self.trajectories:,} trajectories, up to {self.tokens:,} tokens: "
            f"up to {duration(self.minutes * 60)}",
            f"measuring  about {duration(self.measuring_minutes * 60)} on {self.measured} tasks",
            f"rates      {self.training_rate:,.0f} tokens/s in updates, {self.rollout_seconds:.1f} s for the "
            "trajectories of a task",
            f"prompts    up to {self.prompt_tokens:,} tokens",
            f"memory     {self.memory / 2**30:.1f} GiB, the most so far; compute.tokens_per_micro_batch lowers it",
            f"together   up to {duration(self.total_minutes * 60)}",
        ]


def _calibrating(rows: Sequence[Row], live: Live) -> list[Row]:
    """Rows that are trained on and go through the model together: a full micro-batch for each process."""
    config = live.config
    trained = [row for row in rows if row.role not in config.parameters.frozen]
    if config.parameters.separate:  # an adapter at a time
        longest = max(trained, key=lambda row: row.length).role
        trained = [row for row in trained if row.role == longest]
    return full_batch(trained, config.compute.tokens_per_micro_batch * live.trainer.processes.count)


async def estimate(job: Job, note: Callable[[str], None] = lambda _: None) -> Estimate:
    """Roll one task out and take two updates of a policy that is thrown away.

    Args:
        job: the run.
        note: told what is being measured.

    Raises:
        MemoryLimitError: not even that fits; the message names the setting to change.
        EnvaceError: as `train`.
    """
    config = job.config
    note("measuring the model's speed: one task is rolled out and two updates are taken, by a copy that is thrown away")
    live = Live(job.place, config, examples=await examples(job.material, config))
    try:
        rows = await demonstrations(job.material, live)
        case = job.material.chosen("train", 1, config.seed)
        await live.publish()
        begin = time.perf_counter()
        await live.source.collect(case, 0, source="train")  # the dearest, and no real server is called
        rollout = time.perf_counter() - begin
        is_main = live.trainer.processes.is_main
        live.trainer.imitate(batch(rows, 0, 2, config.seed) if is_main else ())  # libraries choose kernels in the first
        metrics = live.trainer.imitate(_calibrating(rows, live) if is_main else ())
        rate = metrics.computed_tokens / metrics.seconds
        device = str(live.trainer.processes.device)
        peak = peak_memory(live.trainer.processes.device)
    finally:
        await live.close()
    length = fmean(row.length for row in rows)
    solutions = [row for row in rows if "/recorded/" not in row.task]
    turns = len(solutions) / max(len({row.task for row in solutions}), 1)
    trajectories = config.steps * config.tasks.per_step * config.rollout.group
    tokens = round(trajectories * turns * length * config.optimizer.epochs)
    wanted = config.evaluation
    times = 1 + -(-config.steps // wanted.every if wanted.every else -1)
    each = rollout / config.rollout.group * (wanted.tasks * wanted.samples + wanted.episodes)
    return Estimate(
        parameters=live.parameters,
        device=device,
        warm_steps=config.warmup.steps,
        steps=config.steps,
        trajectories=trajectories,
        tokens=tokens,
        prompt_tokens=max((len(row.prompt_ids) for row in solutions), default=0),
        training_rate=rate,
        rollout_seconds=rollout,
        warm_minutes=config.warmup.steps * config.warmup.rows * length / rate / 60,
        minutes=(tokens / rate + config.steps * config.tasks.per_step * rollout) / 60,
        measuring_minutes=times * each / 60,
        measured="validation" if job.material.cases["validation"] else "training",
        memory=peak,
    )
