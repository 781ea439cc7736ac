"""What `envace-sdk train ablate` does: every run that is not finished, then the comparison."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final

from envace_sdk.errors import TrainingError

from ..metrics import read_metrics
from ..processes import Processes
from .ablation import MANIFEST, Ablation, Measuring, Way, What
from .ablation_report import comparisons, table, write_results
from .command import evaluated, served
from .estimate import estimate
from .export import trained_weights
from .job import Job
from .loop import train
from .machine import suitable_preset
from .planning import plan
from .progress import Display, duration
from .report import keep_report
from .settings import load_run_config
from .stopping import Stop
from .watching import Watch

__all__ = ["ablate", "run_ablate"]

_SHOWN: Final = ("success", "reward", "fidelity", "fidelity_new", "format_act", "format_rehearse")


def run_ablate(
    sources: Sequence[str],
    file: Path | None,
    changes: Mapping[str, Any],
    directory: Path,
    *,
    what: What,
    seeds: Sequence[int],
    test: Measuring,
    dry_run: bool,
    given: Collection[str] = (),
) -> list[str] | None:
    """Begin an ablation, or go on with it; the lines of its table, or None where it was stopped or nothing was run.

    Args:
        sources: toolsets; none to go on with what the directory holds.
        file: a configuration.
        changes: settings that go before the file's.
        directory: where all runs lie.
        what: what is compared.
        seeds: each is a run of both ways.
        test: how each run is measured.
        dry_run: only say what would be done, and write nothing.
        given: of `what` and the settings of `test`, those that must be so where toolsets are not named: the rest is as
            in the directory.

    Raises:
        EnvaceError: what is given cannot be used, the directory holds something else, or memory does not suffice.
    """
    with Display() as display:
        is_begun = (directory / MANIFEST).exists()
        if is_begun:
            ablation = Ablation.found(directory)
            if sources:
                config = load_run_config(file, changes, preset=suitable_preset())
                ablation.check(what, sources, config, test)
            else:
                ablation.check_given(given, what, test)
        elif not sources:
            raise TrainingError(f"{directory} holds no ablation to go on with: name the toolsets with --tools")
        else:
            ablation = _planned(sources, file, changes, directory, what, test, display)
        if Processes(ablation.config.compute.device).count > 1:
            raise TrainingError(
                "`envace-sdk train ablate` runs in one process; start it without accelerate or torchrun"
            )
        for line in _plan(ablation, seeds):
            display.note(line)
        if dry_run or not is_begun:
            for line in _cost(ablation, seeds, display):
                display.note(line)
        if dry_run:
            return None
        if not is_begun:
            ablation.begin()
        stop = Stop()
        with stop.on_signals(lambda: display.note("stopping; press Ctrl-C again to stop without saving")):
            finished = ablate(ablation, seeds, display, stop)
        write_results(ablation, ablation.seeds())
        if not finished:
            display.note(f"stopped and saved; go on with: envace-sdk train ablate -o {directory}")
            return None
        display.note(f"done: {directory / 'report.html'}")
    return table(ablation, comparisons(ablation, ablation.seeds()))


def ablate(ablation: Ablation, seeds: Sequence[int], watch: Watch, stop: Stop) -> bool:
    """Take every run that has not been measured to its end; whether all came there. Raises: EnvaceError, as `train`."""
    runs = list(_left(ablation, seeds))
    for number, (way, seed) in enumerate(runs, 1):
        if stop.requested:
            return False
        job = ablation.begun(way, seed)
        watch.note(f"run {number} of {len(runs)}: {way.name}, seed {seed}")
        with served(job, Processes(job.config.compute.device), watch) as ready:
            try:
                finished = asyncio.run(train(ready, watch, stop))
            finally:
                keep_report(job, watch.note)
            if not finished or stop.requested:
                return False
            test = ablation.test
            watch.note(f"measuring on test tasks: up to {test.tasks}, {test.samples} attempts at each")
            scores = _scores(ready, test, stop)
            if scores is None:
                return False
            ablation.keep(way, seed, scores)
        write_results(ablation, ablation.seeds())
    return True


def _left(ablation: Ablation, seeds: Sequence[int]) -> Iterator[tuple[Way, int]]:
    """Both ways of a seed follow each other, so that an ablation which is stopped has pairs to compare."""
    for seed in seeds:
        for way in ablation.ways:
            if ablation.result(way, seed) is None:
                yield way, seed


def _scores(job: Job, test: Measuring, stop: Stop) -> dict[str, float] | None:
    """How a finished run does on test tasks, how it did on the way, and what it took; None if it is to stop before."""
    weights = trained_weights(job)
    measuring = evaluated(job, "test", test.tasks, test.samples, test.temperature, weights)
    measured = asyncio.run(stop.unless(measuring))
    if measured is None:
        return None
    shown = {name.removeprefix("eval/"): value for name, value in measured.as_flat().items()}
    found = {name: value for name, value in shown.items() if name in {*_SHOWN, f"pass^{test.samples}"}}
    steps = [values for values in read_metrics(job.directory) if values["step"] > 0]
    if tried := [values["success"] for values in steps if "success" in values]:
        found["success in training"] = fmean(tried)
    found["tokens computed"] = float(sum(values.get("computed_tokens") or 0 for values in steps))
    found["minutes"] = (
        sum((values.get("time/seconds") or 0.0) + (values.get("time/rollout_seconds") or 0.0) for values in steps) / 60
    )
    return found


def _planned(
    sources: Sequence[str],
    file: Path | None,
    changes: Mapping[str, Any],
    directory: Path,
    what: What,
    test: Measuring,
    display: Display,
) -> Ablation:
    """Raises: TrainingError where there are no test tasks; EnvaceError, as `plan`."""
    config = load_run_config(file, changes, preset=suitable_preset())
    job = asyncio.run(plan(sources, config, directory, display.note))
    job.material.chosen("test", 1, config.seed)  # before hours are spent on runs that cannot be compared
    return Ablation(directory, what, tuple(sources), job.place, config, job.material, test)


def _plan(ablation: Ablation, seeds: Sequence[int]) -> list[str]:
    one, other = (way.name for way in ablation.ways)
    runs, left = 2 * len(seeds), len(list(_left(ablation, seeds)))
    more = " Both ways train adapters (LoRA)." if ablation.what == "parameters" else ""
    return [
        f"{one} or {other}: the same tasks and model, seeds {', '.join(map(str, seeds))}, "
        f"{ablation.config.steps} steps each.{more}",
        f"{runs} runs, of which {runs - left} are finished",
    ]


def _cost(ablation: Ablation, seeds: Sequence[int], watch: Watch) -> Iterator[str]:
    """What is left to run, by way; a step of each is tried."""
    total = 0.0
    left = list(_left(ablation, seeds))
    for way in ablation.ways:
        count = sum(one is way for one, _ in left)
        if not count:
            continue
        job = ablation.job(way, seeds[0])
        with served(job, Processes(job.config.compute.device), watch) as ready:
            found = asyncio.run(estimate(ready, watch.note))
        measuring = found.rollout_seconds / job.config.rollout.group * ablation.test.tasks * ablation.test.samples / 60
        minutes = count * (found.total_minutes + measuring)
        total += minutes
        yield (
            f"{way.name:<10} {count} runs, each up to {duration(found.total_minutes * 60)} and "
            f"{duration(measuring * 60)} of measuring; {found.tokens:,} tokens, {found.memory / 2**30:.1f} GiB so far"
        )
    yield f"together   up to {duration(total * 60)}"
