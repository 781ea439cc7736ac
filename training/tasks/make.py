"""Making tasks: draft, give it a checklist, prove it, keep it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from envace_sdk.rehearse.environment import Environment
from envace_sdk.tasks import Attempt, Task, WitnessCall, WorldChanges, check
from envace_sdk.world.keys import Document

from .atlas import Atlas
from .checklists import checklist
from .compose import Composer, Draft
from .options import MakeOptions
from .populate import populate

__all__ = ["Made", "make_tasks"]

_PROVED_AT_ONCE: Final = 50
_PATIENCE: Final = 12
"""Drafts that are tried per task asked for, before the toolset is taken to give no more."""


@dataclass(slots=True)
class Made:
    """The tasks that a toolset gave."""

    environment: Environment
    tasks: list[Task] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    """Why drafts were dropped, and how many."""


async def make_tasks(
    environment: Environment, options: MakeOptions, *, progress: Callable[[int], None] | None = None
) -> Made:
    """Make tasks for a toolset: each is solved by its witness, and not by doing nothing.

    Fewer than `options.count` come when the toolset gives no more; `Made.dropped` says why drafts were dropped.

    Args:
        environment: the toolset with its dynamics; collections of which its start knows nothing are filled.
        options: what to make.
        progress: called with the number of tasks there are, each time there are more.
    """
    random = Random(f"{options.seed}/{environment.toolset.name}")
    put = populate(environment, random)
    start = Attempt(environment, Task.model_validate(_EMPTY | {"world": {"put": put}})).world.state
    composer = Composer(Atlas(environment, start), options)
    made = Made(environment)
    seen: set[tuple[str, ...]] = set()
    batch: list[Task] = []
    for number in range(options.count * _PATIENCE):
        wanted = options.count - len(made.tasks)
        if wanted <= 0 or not composer.kinds():
            break
        task = await _attempted(composer, environment, options, put, number, seen, made)
        if task is not None:
            batch.append(task)
        if len(batch) >= min(wanted, _PROVED_AT_ONCE) or (batch and number == options.count * _PATIENCE - 1):
            await _prove(batch, made)
            batch.clear()
            if progress is not None:
                progress(len(made.tasks))
    if batch:
        await _prove(batch, made)
    made.tasks = [
        task.model_copy(update={"id": f"{task.tags[0]}-{n:05}"})
        for n, task in enumerate(made.tasks[: options.count], 1)
    ]
    return made


_EMPTY: Final = {"id": "start", "instruction": "-", "checklist": [{"id": "-", "says": "-", "that": "true"}]}


async def _attempted(
    composer: Composer,
    environment: Environment,
    options: MakeOptions,
    put: dict[str, list[Document]],
    number: int,
    seen: set[tuple[str, ...]],
    made: Made,
) -> Task | None:
    random = Random(f"{options.seed}/{environment.toolset.name}/{number}")
    kinds = [kind for kind in composer.kinds() if options.mix.get(kind, 0) > 0]
    if not kinds:
        return None
    kind = random.choices(kinds, [options.mix[one] for one in kinds])[0]
    draft = await composer.draft(kind, random)
    if draft is None:
        made.dropped[f"{kind}: none was found"] += 1
        return None
    reason = _unfit(draft, options, seen)
    if reason:
        made.dropped[f"{kind}: {reason}"] += 1
        return None
    task = await _finished(draft, environment, options, put, random, number)
    if task is None:
        made.dropped[f"{kind}: nothing certain can be demanded"] += 1
        return None
    seen.add(draft.turns)
    return task


def _unfit(draft: Draft, options: MakeOptions, seen: set[tuple[str, ...]]) -> str:
    if draft.turns in seen:
        return "said before"
    if len(draft.steps) > options.max_calls:
        return "too many calls"
    if options.tools_per_task is not None and len(draft.tools) > options.tools_per_task:
        return "too many tools"
    return ""


async def _finished(
    draft: Draft,
    environment: Environment,
    options: MakeOptions,
    put: dict[str, list[Document]],
    random: Random,
    number: int,
) -> Task | None:
    tools = _shown(draft, environment, options, random)
    bare = Task.model_validate(_EMPTY | {"world": {"put": put}})
    start = Attempt(environment, bare).world.state
    calls = [step.call for step in draft.steps]
    items = await checklist(environment, start, calls, draft.wanted, draft.guards)
    if items is None:
        return None
    witness = [
        WitnessCall(tool=step.call.name, arguments=dict(step.call.arguments), expect=step.expect, turn=step.turn)
        for step in draft.steps
    ]
    return Task(
        id=f"draft-{number}",
        instruction=draft.turns[0],
        follow_ups=list(draft.turns[1:]),
        tags=[draft.kind],
        template=draft.template,
        tools=tools,
        world=WorldChanges(put=put),
        checklist=items,
        witness=witness,
        answer=draft.answer,
    )


def _shown(draft: Draft, environment: Environment, options: MakeOptions, random: Random) -> list[str] | None:
    """The tools that the task shows: those it needs and some others, in the toolset's order."""
    names = [tool.name for tool in environment.toolset if tool.name not in draft.hidden]
    most = options.tools_per_task
    if most is None:
        return names if draft.hidden else None
    others = [name for name in names if name not in draft.tools]
    chosen = {*draft.tools, *random.sample(others, min(len(others), most - len(draft.tools)))}
    return [name for name in names if name in chosen]


async def _prove(batch: Sequence[Task], made: Made) -> None:
    """Keep the tasks that the checker has nothing against; items that tell nothing are taken out."""
    report = await check(made.environment, batch)
    for one in report.tasks:
        bad = [problem for problem in one.problems if problem.severity == "error" or problem.kind == "generous"]
        bad += [problem for problem in one.problems if problem.kind == "unexpected outcome"]
        if bad:
            made.dropped[f"{one.task.tags[0]}: {bad[0].kind}"] += 1
            continue
        empty = {problem.item for problem in one.problems if problem.kind == "tells nothing"}
        kept = [item for item in one.task.checklist if item.id not in empty]
        made.tasks.append(one.task.model_copy(update={"checklist": kept}))
