"""The run: warm-up, gate, role-wise GRPO; saved as it goes, and resumed to the same curve.

All that is drawn is drawn from the seed and the step, so a run that was stopped anywhere and resumed from its last
checkpoint takes the very steps it would have taken. Of several processes each rolls a part of a step's tasks out, and
all see the same step; the main one measures, writes and talks.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from envace_sdk.errors import TrainingError

from .. import checkpoint
from ..advantages import rolewise
from ..memory import trim
from ..metrics import read_metrics
from ..rollout import Case, rows_of
from ..rollout_config import Source
from .evaluation import evaluate, rollout_metrics, trouble
from .fidelity import role_fidelity
from .job import Job
from .live import Live
from .material import in_proportion
from .stopping import Stop
from .warm import batch, demonstrations, examples
from .watching import Log, Watch, logged_to

__all__ = ["train"]


async def train(job: Job, watch: Watch, stop: Stop) -> bool:
    """Train until the last step, or until it is stopped; whether it came to the end.

    What lies in the run's directory already is gone on from.

    Raises:
        MemoryLimitError: memory does not suffice; the message names the setting to change.
        TrainingError: a checkpoint does not fit, or training cannot go on; ModelError: the model cannot be run.
    """
    weights, is_stopped = await _warm_up(job, watch, stop)
    return not is_stopped and await _improve(job, weights, watch, stop)


async def _warm_up(job: Job, watch: Watch, stop: Stop) -> tuple[Path | None, bool]:
    """The weights that training begins with, None for the model's own; and whether the run is to stop."""
    config = job.config
    if not config.warmup.steps:
        return None, False
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
        return last / "policy", False
    live = Live(job.place, settings, examples=await examples(job.material, config))
    try:
        if last is not None:
            live.trainer.resume(last)
        rows = await demonstrations(job.material, live, watch.note)
        held_out = job.material.measured(config.evaluation.episodes, config.seed)
        watch.phase("warm-up", config.warmup.steps, live.trainer.steps_done)
        is_stopped = await _stopping(live, stop)
        if not is_stopped and live.trainer.steps_done < config.warmup.steps:
            watch.note("timing the first update; the time left is told after it")
        with logged_to(live, directory, live.trainer.steps_done) as log:
            while not is_stopped:
                done = live.trainer.steps_done
                if done and done % config.warmup.steps == 0:
                    if done >= most or config.gate is None:
                        break
                    watch.note(f"measuring the fidelity of rehearsals on the calls of {_named(job, len(held_out))}")
                    await live.publish()
                    missing = await live.trainer.processes.by_main(lambda: stop.unless(_missing(held_out, live)))
                    if not missing:  # or stopped meanwhile
                        is_stopped = missing is None
                        break
                    watch.note(f"{missing}; the warm-up goes on")
                    watch.phase("warm-up", done + config.warmup.steps, done)
                own = batch(rows, done, config.warmup.rows, config.seed) if live.trainer.processes.is_main else ()
                metrics = live.trainer.imitate(own)
                log.log(metrics.step, metrics.as_flat())
                watch.step(metrics.step, metrics.as_flat())
                is_stopped = await _stopping(live, stop)
                # The last one is saved below, once it is known to be the last.
                if metrics.step % config.checkpoints.every == 0 and metrics.step < most and not is_stopped:
                    _save(live, directory, config.checkpoints.keep, None)
            _save(live, directory, config.checkpoints.keep, None if is_stopped else "done")
        return checkpoint.folder_for(directory, live.trainer.steps_done) / "policy", is_stopped
    finally:
        await live.close()


async def _improve(job: Job, weights: Path | None, watch: Watch, stop: Stop) -> bool:
    config, directory = job.config, job.directory
    live = Live(job.place, config, weights, examples=await examples(job.material, config))
    try:
        is_open, done, pending = config.gate is None, 0, None
        last = checkpoint.latest(directory)
        if last is not None:
            extra = live.trainer.resume(last)
            is_open, done, pending = bool(extra["is_open"]), live.trainer.steps_done, extra.get("pending")
        saved = done
        logged = live.trainer.processes.from_main({values["step"]: values for values in read_metrics(directory)})
        run = config.model_dump(mode="json")
        is_stopped = await _stopping(live, stop)
        with logged_to(live, directory, done, trackers=config.trackers, run=run) as log:
            watch.phase("training", config.steps, done)
            if done == 0:
                pending = {}
            if pending is not None:
                measured = logged.get(done) or await _measured(job, live, watch, stop, pending, log)
                is_open, is_stopped = _opened(job, measured, watch, is_open=is_open), is_stopped or measured is None
            while done < config.steps and not is_stopped:
                values = await _step(job, live, done, watch, stop, is_open=is_open)
                if values is None:
                    break
                done = live.trainer.steps_done
                if _is_measured(job, done):
                    # Measuring takes minutes: what was learned is safe before.
                    _save(live, directory, config.checkpoints.keep, {"is_open": is_open, "pending": values})
                    saved = done
                    measured = await _measured(job, live, watch, stop, values, log)
                    if measured is None:
                        return False
                    is_open = _opened(job, measured, watch, is_open=is_open)
                else:
                    log.log(done, values)
                    watch.step(done, values)
                    if done % config.checkpoints.every == 0:
                        _save(live, directory, config.checkpoints.keep, {"is_open": is_open})
                        saved = done
                is_stopped = await _stopping(live, stop)
            if saved < done:
                _save(live, directory, config.checkpoints.keep, {"is_open": is_open})
        return done >= config.steps
    finally:
        await live.close()


async def _step(
    job: Job, live: Live, done: int, watch: Watch, stop: Stop, *, is_open: bool
) -> dict[str, float | None] | None:
    """One step; None where it was stopped before its update."""
    config = job.config
    begin = time.perf_counter()
    cases = _cases_of(job, done)
    await live.publish()
    published = time.perf_counter()
    processes = live.trainer.processes
    first, own = processes.share(cases)
    source: Source | None = None if is_open else "grounded"
    parts = processes.gather(
        [await stop.unless(live.source.collect(own, live.trainer.steps_done, source=source, first=first))]
    )
    trajectories = [one for part in parts for one in part or ()]
    if any(part is None for part in parts):
        return None
    rolled = time.perf_counter() - published
    if left_out := trouble(trajectories):
        watch.note(f"step {done + 1}: {left_out}")
    trim()
    rows, groups = rolewise(rows_of(trajectories), **config.advantages.model_dump())
    metrics = live.trainer.step(rows if processes.is_main else ())
    trim()
    if processes.is_main:
        job.keep_samples(metrics.step, trajectories)
    values: dict[str, float | None] = {**rollout_metrics(trajectories), **metrics.as_flat()}
    values["learning_share"] = groups.learning_share
    values["rehearsed"] = float(is_open)
    sampled = sum(len(row.completion_ids) for row in rows)
    values["time/publish_seconds"] = published - begin
    values["time/rollout_seconds"] = rolled
    values["time/sampled_tokens_per_second"] = sampled / rolled if rolled else None
    return values


def _cases_of(job: Job, step: int) -> list[Case]:
    """The tasks of a step: the training tasks in an order drawn anew each time through.

    Template by template, rare templates, which most refusals are, would fill the first steps.
    """
    config, cases = job.config, job.material.cases["train"]
    first = step * config.tasks.per_step
    found: list[Case] = []
    for time_through, places in groupby(range(first, first + config.tasks.per_step), lambda one: one // len(cases)):
        order = in_proportion(cases, config.seed + time_through)
        found += [order[place % len(cases)] for place in places]
    return list({case.name: case for case in found}.values())


def _is_measured(job: Job, done: int) -> bool:
    every = job.config.evaluation.every
    return done == job.config.steps or (every > 0 and done % every == 0)


async def _measured(
    job: Job, live: Live, watch: Watch, stop: Stop, values: Mapping[str, float | None], log: Log
) -> dict[str, float | None] | None:
    """A step's numbers with those of a measurement after it, logged; None where it was stopped before."""
    wanted = job.config.evaluation
    cases = job.material.measured(max(wanted.tasks, wanted.episodes), job.config.seed)
    tried, asked = len(cases[: wanted.tasks]), len(cases[: wanted.episodes])
    watch.note(
        f"measuring on {_named(job, tried)}: they are tried {wanted.samples} x, the calls of {asked} are rehearsed"
    )
    await live.publish()
    found = await live.trainer.processes.by_main(lambda: stop.unless(_evaluated(cases, job, live)))
    if found is None:
        return None
    measured, troubles = found
    for one in filter(None, troubles):
        watch.note(one)
    together = {**values, **measured}
    log.log(live.trainer.steps_done, together)
    watch.step(live.trainer.steps_done, together)
    return together


async def _evaluated(cases: Sequence[Case], job: Job, live: Live) -> tuple[dict[str, float], tuple[str, ...]]:
    """The numbers by name; and what people should know: what could not be tried, what is below the gate."""
    wanted, gate = job.config.evaluation, job.config.gate
    found = await evaluate(
        cases[: wanted.tasks], cases[: wanted.episodes], live, samples=wanted.samples, temperature=wanted.temperature
    )
    return found.as_flat(), (found.trouble, "" if gate is None else found.rehearsing.missing(gate))


def _named(job: Job, count: int) -> str:
    """So many of the tasks that are measured on, in words."""
    if job.material.cases["validation"]:
        return f"{count} validation tasks"
    return f"{count} training tasks, since there are no validation tasks"


async def _missing(held_out: Sequence[Case], live: Live) -> str:
    found = await role_fidelity(held_out, live, temperature=live.config.evaluation.temperature)
    missing = found.missing(live.config.gate or 0.0)
    if missing and not found.calls:
        raise TrainingError(missing)  # no further update would change it
    return missing


def _opened(job: Job, found: Mapping[str, float | None] | None, watch: Watch, *, is_open: bool) -> bool:
    """Whether the policy's own rehearsals are trained on from here."""
    if is_open or found is None or job.config.gate is None:
        return is_open
    fidelity = found.get("eval/fidelity") or 0.0  # what could not be measured is below any gate but 0
    if fidelity < job.config.gate:
        watch.note("until the gate is reached the environment's ladder answers, and only acting is trained")
        return False
    watch.note(f"the rehearsing role's fidelity is {fidelity:.2f}: from here on it answers")
    return True


def _save(live: Live, directory: Path, keep: int, extra: Any) -> None:
    try:
        live.trainer.save(checkpoint.folder_for(directory, live.trainer.steps_done), extra)
        if live.trainer.processes.is_main:
            checkpoint.prune(directory, keep)
    except OSError as error:
        raise TrainingError(f"{directory}: the checkpoint cannot be written: {error.strerror or error}") from error


async def _stopping(live: Live, stop: Stop) -> bool:
    """Whether any process was told to stop: all of them stop at the same place."""
    await stop.turn()
    return any(live.trainer.processes.gather([stop.requested]))
