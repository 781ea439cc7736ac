"""The run: warm-up, gate, role-wise GRPO; saved as it goes, and resumed to the same curve.

All that is drawn is drawn from the seed and the step, so a run that was stopped anywhere and resumed from its last
checkpoint takes the very steps it would have taken.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from envace_sdk.errors import TrainingError

from .. import checkpoint
from ..advantages import rolewise
from ..metrics import MetricsLog, read_metrics
from ..rollout import Case, rows_of
from .evaluation import Evaluation, evaluate, rollout_metrics
from .fidelity import role_fidelity
from .job import Job
from .live import Live
from .material import spread
from .stopping import Stop
from .warm import batch, demonstrations, examples

__all__ = ["Watch", "train"]


class Watch(Protocol):
    """Whoever is told how the run goes."""

    def phase(self, name: str, steps: int, done: int = 0) -> None:
        """A phase of so many steps begins, or goes on."""
        ...

    def step(self, number: int, values: Mapping[str, float | None]) -> None:
        """A step is done; its numbers by name."""
        ...

    def note(self, text: str) -> None:
        """Something that people should know."""
        ...


async def train(job: Job, watch: Watch, stop: Stop) -> bool:
    """Train until the last step, or until it is stopped; whether it came to the end.

    What lies in the run's directory already is gone on from.

    Raises:
        MemoryLimitError: memory does not suffice; the message names the setting to change.
        TrainingError: a checkpoint does not fit, or training cannot go on; ModelError: the model cannot be run.
    """
    weights = await _warm_up(job, watch, stop)
    if stop.requested:
        return False
    return await _improve(job, weights, watch, stop)


async def _warm_up(job: Job, watch: Watch, stop: Stop) -> Path | None:
    """The weights that training begins with; None for the model's own."""
    config = job.config
    if not config.warmup.steps:
        return None
    directory = job.warm_directory
    most = config.warmup.steps * (1 + (config.warmup.more if config.gate is not None else 0))
    settings = config.model_copy(
        update={
            "steps": most,
            "optimizer": config.optimizer.model_copy(
                update={"learning_rate": config.warmup.learning_rate, "role_learning_rates": {}, "warmup_steps": 0}
            ),
        }
    )
    last = checkpoint.latest(directory)
    if last is not None and checkpoint.read_state(last)["extra"] == "done":
        return last / "policy"
    live = Live(job.place, settings, examples=await examples(job.material, config))
    try:
        if last is not None:
            live.trainer.resume(last)
        rows = await demonstrations(job.material, live, watch.note)
        held_out = job.material.chosen("validation", config.evaluation.episodes, config.seed)
        watch.phase("warm-up", config.warmup.steps, live.trainer.steps_done)
        with MetricsLog(directory, resume_at=live.trainer.steps_done) as log:
            while not stop.requested:
                done = live.trainer.steps_done
                if done and done % config.warmup.steps == 0:
                    if done >= most or config.gate is None:
                        break
                    found = await role_fidelity(held_out, live)
                    if found.fidelity >= config.gate:
                        break
                    watch.note(f"{found.missing(config.gate)}; the warm-up goes on")
                    watch.phase("warm-up", done + config.warmup.steps, done)
                metrics = live.trainer.imitate(batch(rows, done, config.warmup.rows, config.seed))
                log.log(metrics.step, metrics.as_flat())
                watch.step(metrics.step, metrics.as_flat())
                await stop.turn()
                if metrics.step % config.checkpoints.every == 0:
                    _save(live, directory, config.checkpoints.keep, None)
            _save(live, directory, config.checkpoints.keep, None if stop.requested else "done")
        return checkpoint.folder_for(directory, live.trainer.steps_done) / "policy"
    finally:
        await live.close()


async def _improve(job: Job, weights: Path | None, watch: Watch, stop: Stop) -> bool:
    config, directory = job.config, job.directory
    live = Live(job.place, config, weights, examples=await examples(job.material, config))
    try:
        is_open, done = config.gate is None, 0
        last = checkpoint.latest(directory)
        if last is not None:
            extra = live.trainer.resume(last)
            is_open, done = bool(extra["is_open"]), live.trainer.steps_done
        logged = {values["step"]: values for values in read_metrics(directory)}
        run = config.model_dump(mode="json")
        with MetricsLog(directory, trackers=config.trackers, resume_at=done, run=run) as log:
            watch.phase("training", config.steps, done)
            if done == 0:
                found = logged.get(0) or await _first(job, live, watch, log)
                is_open = is_open or found["eval/fidelity"] >= (config.gate or 0.0)
            while done < config.steps and not stop.requested:
                values = await _step(job, live, done, stop, is_open=is_open)
                if values is None:
                    break
                done = live.trainer.steps_done
                if _is_measured(job, done):
                    measured = await _measured(job, live)
                    values |= measured.as_flat()
                    is_open = _opened(measured, job, watch, is_open=is_open)
                log.log(done, values)
                watch.step(done, values)
                await stop.turn()
                if done % config.checkpoints.every == 0 or done == config.steps:
                    _save(live, directory, config.checkpoints.keep, {"is_open": is_open})
            if done % config.checkpoints.every and done < config.steps:
                _save(live, directory, config.checkpoints.keep, {"is_open": is_open})
        return done >= config.steps
    finally:
        await live.close()


async def _step(job: Job, live: Live, done: int, stop: Stop, *, is_open: bool) -> dict[str, float | None] | None:
    """One step; None where it was stopped before its update."""
    config = job.config
    begin = time.perf_counter()
    cases = _cases_of(job, done)
    trajectories = await stop.unless(
        live.source.collect(cases, live.trainer.steps_done, source=None if is_open else "grounded")
    )
    if trajectories is None:
        return None
    rolled = time.perf_counter() - begin
    rows, groups = rolewise(rows_of(trajectories), **config.advantages.model_dump())
    metrics = live.trainer.step(rows)
    job.keep_samples(metrics.step, trajectories)
    values: dict[str, float | None] = {**rollout_metrics(trajectories), **metrics.as_flat()}
    values["learning_share"] = groups.learning_share
    values["rehearsed"] = float(is_open)
    sampled = sum(len(row.completion_ids) for row in rows)
    values["time/rollout_seconds"] = rolled
    values["time/sampled_tokens_per_second"] = sampled / rolled if rolled else None
    return values


def _cases_of(job: Job, step: int) -> list[Case]:
    """The tasks of a step: the training tasks in an order drawn anew each time through."""
    config, cases = job.config, job.material.cases["train"]
    first = step * config.tasks.per_step
    found: list[Case] = []
    for number in range(first, first + config.tasks.per_step):
        order = spread(cases, len(cases), config.seed + number // len(cases))
        case = order[number % len(cases)]
        if case not in found:
            found.append(case)
    return found


def _is_measured(job: Job, done: int) -> bool:
    every = job.config.evaluation.every
    return done == job.config.steps or (every > 0 and done % every == 0)


async def _first(job: Job, live: Live, watch: Watch, log: MetricsLog) -> Mapping[str, Any]:
    """How the policy does before the first step."""
    found = await _measured(job, live)
    _opened(found, job, watch, is_open=job.config.gate is None)
    values = found.as_flat()
    log.log(0, values)
    watch.step(0, values)
    return values


async def _measured(job: Job, live: Live) -> Evaluation:
    wanted = job.config.evaluation
    most = max(wanted.tasks, wanted.episodes)
    cases = job.material.chosen("validation", most, job.config.seed)
    return await evaluate(
        cases[: wanted.tasks], cases[: wanted.episodes], live, samples=wanted.samples, temperature=wanted.temperature
    )


def _opened(found: Evaluation, job: Job, watch: Watch, *, is_open: bool) -> bool:
    """Whether the policy's own rehearsals are trained on from here."""
    if is_open or job.config.gate is None:
        return True
    missing = found.rehearsing.missing(job.config.gate)
    if missing:
        watch.note(f"{missing}; until it is reached the environment's ladder answers, and only acting is trained")
        return False
    watch.note(f"the rehearsing role's fidelity is {found.rehearsing.fidelity:.2f}: from here on it answers")
    return True


def _save(live: Live, directory: Path, keep: int, extra: Any) -> None:
    try:
        live.trainer.save(checkpoint.folder_for(directory, live.trainer.steps_done), extra)
        checkpoint.prune(directory, keep)
    except OSError as error:
        raise TrainingError(f"{directory}: the checkpoint cannot be written: {error.strerror or error}") from error
