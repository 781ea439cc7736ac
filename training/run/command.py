"""What `envace-sdk train` does, beneath its options."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from envace_sdk.errors import TrainingError
from envace_sdk.json import Json

from ..processes import Processes
from ..rollout.real import real_clients
from ..rollout_config import Source
from ..rows import Role
from ..tasks import SPLITS, Split
from ..trajectory import AnsweredBy, Trajectory
from ..vllm import rollout_server
from .estimate import estimate
from .evaluation import Evaluation, evaluate
from .export import export, trained_weights
from .fidelity import known_calls
from .job import Job
from .live import Live
from .loop import train
from .machine import model_place, suitable_preset
from .material import Material
from .planning import plan
from .progress import Display
from .report import keep_report
from .resuming import resumed
from .settings import RunConfig, load_run_config, preset_name
from .stopping import Stop
from .warm import examples
from .watching import Watch

__all__ = ["evaluated", "run_eval", "run_export", "run_train", "served"]


def run_train(
    sources: Sequence[str],
    file: Path | None,
    changes: Mapping[str, Any],
    directory: Path,
    *,
    resume: bool,
    dry_run: bool,
) -> bool:
    """Begin a run or go on with one; whether it came to its end.

    Args:
        sources: toolsets; none when a run is gone on with.
        file: a configuration.
        changes: settings that go before the file's.
        directory: of the run; where there are several processes, all of them see it.
        resume: go on.
        dry_run: only say what would be done, and write nothing.

    Raises:
        EnvaceError: what is given cannot be used, or memory does not suffice.
    """
    if not resume and not dry_run:
        Job.check_new(directory)  # before minutes are spent on tasks and on measuring
    found = resumed(directory, file, changes) if resume else None
    config = found.config if found else load_run_config(file, changes, preset=suitable_preset())
    processes = Processes(config.compute.device)
    with Display(None if processes.is_main else Console(quiet=True)) as display, ExitStack() as ending:
        ending.callback(processes.leave)
        job = found or asyncio.run(_planned(sources, config, directory, processes, display))
        # What was asked for goes to the standard output, where it can be kept.
        tell = Console(quiet=not processes.is_main, soft_wrap=True, markup=False).print if dry_run else display.note
        if resume:
            tell(f"{job.steps_done} of {job.config.steps} steps are done")
            if not dry_run:
                asyncio.run(processes.by_main(lambda: asyncio.to_thread(job.keep_settings)))
            elif job.steps_done == job.config.steps:
                return True
        ready = ending.enter_context(served(job, processes, display))
        if not resume or dry_run:
            if not resume:
                suited = preset_name(file, changes, preset=suitable_preset())
                tell(f"preset {suited}{f', changed by {file}' if file else ''}")
                tell(_plan(job))
            left = replace(ready, config=ready.config_left) if resume else ready
            for line in asyncio.run(estimate(left, display.note)).lines():
                tell(line)
            if dry_run:
                return True
            asyncio.run(processes.by_main(lambda: asyncio.to_thread(job.begin, sources)))
            if not processes.is_main:
                ready = replace(ready, material=Job.found(directory).material)
        stop = Stop()
        try:
            with stop.on_signals(lambda: display.note("stopping; press Ctrl-C again to stop without saving")):
                finished = asyncio.run(train(ready, display, stop))
        finally:
            if processes.is_main:
                keep_report(job, display.note)
        if finished:
            display.note(f"done: {directory / 'report.html'}; next: envace-sdk train eval {directory}")
        else:
            display.note(f"stopped and saved; go on with: envace-sdk train --resume -o {directory}")
    return finished


def run_eval(
    directory: Path,
    *,
    split: Split,
    tasks: int,
    samples: int,
    temperature: float,
    step: int | None,
    untrained: bool,
    constrained: bool = False,
    servers: Sequence[tuple[str | None, str]] = (),
) -> dict[str, Json]:
    """Measure a run's policy on held-out tasks: `scores`, `fidelity` by toolset, and how it was measured.

    With `constrained` the scores have `fidelity_constrained` too, of answers that are held to the tools' schemas.
    With `servers`, each with its toolset or None for the only one, real servers answer as in `rollout.real`.

    Raises:
        EnvaceError: the run cannot be read, the model cannot be run, or an attempt could not be made.
    """
    job = _with_real(Job.found(directory), servers)
    source: Source = "real" if servers else "grounded"
    weights = _weights(job, step, untrained=untrained)
    with Display() as display, served(job, Processes(job.config.compute.device), display) as ready:
        display.note(f"measuring on {split} tasks: up to {tasks}, {samples} attempts at each")
        measuring = evaluated(
            ready, split, tasks, samples, temperature, weights, source=source, constrained=constrained
        )
        found = asyncio.run(measuring)
    scores = {name.removeprefix("eval/"): value for name, value in found.as_flat().items()}
    return {
        "run": str(directory),
        "split": split,
        "tasks": len(found.attempts),
        "samples": samples,
        "temperature": temperature,
        "weights": "untrained" if weights is None else str(weights.parent.relative_to(directory)),
        "answered_by": _answered_by(found.trajectories),
        "scores": scores,
        "calls": {"all": found.rehearsing.calls, "new": found.rehearsing.new_calls},
        "fidelity": {name: report.overall.fidelity or 0.0 for name, report in found.rehearsing.reports.items()},
        "solved": {name: solved for name, (solved, _) in found.attempts.items()},
    }


def _answered_by(trajectories: Sequence[Trajectory]) -> AnsweredBy:
    """Who answers: a twin, where any is one; nobody, where no attempt called the server."""
    found = {one.answered_by for one in trajectories}
    return next(who for who in ("twin", "server", "ladder", "policy", "nobody") if who in found)


def run_export(directory: Path, target: Path, *, step: int | None, role: Role) -> Path:
    """Write the policy of a run as a plain model folder. Raises: EnvaceError."""
    return export(Job.found(directory), target, step=step, role=role)


def _with_real(job: Job, servers: Sequence[tuple[str | None, str]]) -> Job:
    names = [environment.toolset.name for environment in job.material.environments]
    real = dict(job.config.rollout.real)
    for name, place in servers:
        if name is None and len(names) > 1:
            raise TrainingError(f"which toolset's server is {place}? Say it as TOOLSET={place}, of {', '.join(names)}")
        if name is not None and name not in names:
            raise TrainingError(f"the run has no toolset {name!r}; it has {', '.join(names)}")
        real[name or names[0]] = place
    real_clients(real)  # what is wrong with them is told before a model is loaded
    rollout = job.config.rollout.model_copy(update={"real": real})
    return replace(job, config=job.config.model_copy(update={"rollout": rollout}))


def _weights(job: Job, step: int | None, *, untrained: bool) -> Path | None:
    if untrained:
        return None
    if step != 0:
        return trained_weights(job, step)
    return trained_weights(Job(job.warm_directory, job.place, job.config, job.material))


async def evaluated(
    job: Job,
    split: Split,
    tasks: int,
    samples: int,
    temperature: float,
    weights: Path | None,
    *,
    source: Source = "grounded",
    constrained: bool = False,
) -> Evaluation:
    """Weights of a run, by default the model's own, on tasks of a split.

    Raises:
        TrainingError: there are no such tasks, or an attempt could not be made; ModelError: the model cannot be run.
    """
    cases = job.material.chosen(split, tasks, job.config.seed)
    live = Live(job.place, job.config, weights, examples=await examples(job.material, job.config))
    try:
        await live.publish()
        found = await evaluate(
            cases,
            cases,
            live,
            samples=samples,
            temperature=temperature,
            source=source,
            constrained=constrained,
            known=await known_calls(job.material.cases["train"], job.material.environments),
        )
    finally:
        await live.close()
    if found.trouble:
        raise TrainingError(f"there is no score: {found.trouble}")
    return found


async def _planned(
    sources: Sequence[str], config: RunConfig, directory: Path, processes: Processes, display: Display
) -> Job:
    # Each process plans, since all need the tasks; the model is fetched by one of them.
    await processes.by_main(lambda: asyncio.to_thread(model_place, config.model, display.note))
    return await plan(sources, config, directory, display.note)


@contextmanager
def served(job: Job, processes: Processes, watch: Watch) -> Iterator[Job]:
    """The run with the address of its vLLM server, which is started if the settings say so."""
    rollout = job.config.rollout
    server = rollout.server
    if server is None or server.url is not None:
        yield job
        return
    with ExitStack() as ending:
        url = ""
        failure: Exception | None = None
        if processes.is_main:
            # Not within an event loop, which would keep Ctrl-C to itself until the server answers or its time is over.
            try:
                url = ending.enter_context(rollout_server(job.place, job.config, server, watch.note))
            except Exception as error:  # the others wait, and are told of it below
                failure = error

        async def started() -> str:
            if failure is not None:
                raise failure
            return url

        url = asyncio.run(processes.by_main(started))
        rollout = rollout.model_copy(update={"server": server.model_copy(update={"url": url})})
        yield replace(job, config=job.config.model_copy(update={"rollout": rollout}))


def _unmeasured(material: Material) -> str:
    missing = [split for split in SPLITS if not material.cases[split]]
    if not missing:
        return ""
    return (
        f"There are no {' and no '.join(missing)} tasks: no template is in two splits, and tasks.prompt_tokens leaves "
        "tasks out. What is learned cannot be measured there; more tools or tasks, other tasks.shares or more "
        "tasks.prompt_tokens give some.\n"
    )


def _plan(job: Job) -> str:
    config, material = job.config, job.material
    counts = ", ".join(f"{len(material.cases[split])} {split}" for split in material.cases)
    names = ", ".join(one.toolset for one in material.sets)
    gate = (
        ""
        if config.gate is None
        else f" Until its rehearsals reach a fidelity of {config.gate:g}, the environment's ladder answers."
    )
    return (
        f"{config.model} learns {names}: {counts} tasks.\n{_unmeasured(material)}"
        f"First {config.warmup.steps} supervised updates of {config.warmup.rows} turns in both roles; then "
        f"{config.steps} steps of role-wise GRPO, each {config.tasks.per_step} tasks x {config.rollout.group} "
        f"trajectories, {config.parameters.method}, {config.rendering}.{gate}"
    )
