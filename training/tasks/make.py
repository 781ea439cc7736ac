"""Making tasks: draft, give it a checklist, prove it, keep it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

from envace_sdk.rehearse.environment import Environment
from envace_sdk.tasks import Task, WitnessCall, WorldChanges, check, start_state
from envace_sdk.tasks.said import says
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.keys import Document
from envace_sdk.world.state import State

from .atlas import Atlas
from .checklists import checklist
from .compose import Composer, Draft
from .goal import REFUSALS, owned, refusal_said
from .options import MakeOptions
from .populate import populate

__all__ = ["Made", "make_tasks"]

_DOING: Final = frozenset({"change", "pair", "conversation"})
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
    maker = _Maker(environment, options)
    made = maker.made
    batch: list[Task] = []
    for number in range(options.count * _PATIENCE):
        task = await maker.attempt(number)
        if task is not None:
            batch.append(task)
        if len(batch) >= min(options.count - len(made.tasks), _PROVED_AT_ONCE):
            await _prove(batch, made)
            batch.clear()
            if progress is not None:
                progress(len(made.tasks))
            if len(made.tasks) >= options.count:
                break
    await _prove(batch, made)
    made.tasks = [task.model_copy(update={"id": f"{task.tags[0]}-{n:05}"}) for n, task in enumerate(made.tasks, 1)]
    return made


class _Maker:
    """Turns numbers into tasks, the same number always into the same task."""

    def __init__(self, environment: Environment, options: MakeOptions) -> None:
        self.made = Made(environment)
        self._environment = environment
        self._options = options
        self._seed = f"{options.seed}/{environment.toolset.name}"
        self._put = populate(environment, Random(self._seed))
        self._composer = Composer(Atlas(environment, _start(environment, self._put)), options)
        self._kinds = [kind for kind in self._composer.kinds() if options.mix.get(kind, 0) > 0]
        self._said: set[tuple[str, ...]] = set()
        self._of_template: Counter[str] = Counter()

    async def attempt(self, number: int) -> Task | None:
        """A task, not proven yet, or None where this number gives none."""
        if not self._kinds:
            return None
        random = Random(f"{self._seed}/{number}")
        kind = random.choices(self._kinds, [self._options.mix[one] for one in self._kinds])[0]
        draft = await self._composer.draft(kind, random)
        reason = "none was found" if draft is None else self._unfit(draft)
        if draft is None or reason:
            self.made.dropped[f"{kind}: {reason}"] += 1
            return None
        task = await self._finished(draft, random, number)
        if task is None:
            self.made.dropped[f"{kind}: nothing certain can be demanded, or an answer is too long"] += 1
        else:
            self._said.add(draft.turns)
            self._of_template[draft.template] += 1
        return task

    def _unfit(self, draft: Draft) -> str:
        options = self._options
        if draft.turns in self._said:
            return "said before"
        if options.per_template is not None and self._of_template[draft.template] >= options.per_template:
            return "enough of its template"
        if len(draft.steps) > options.max_calls:
            return "too many calls"
        if options.tools_per_task is not None and len(draft.tools) > options.tools_per_task:
            return "too many tools"
        return ""

    async def _finished(self, draft: Draft, random: Random, number: int) -> Task | None:
        tools = self._shown(draft, random)
        put = self._needed(tools)
        calls = [step.call for step in draft.steps]
        start = _start(self._environment, put)
        if await self._is_wordy(start, calls):
            return None
        guards = (*draft.guards, owned()) if _is_to_be_owned(draft) else draft.guards
        items = await checklist(self._environment, start, calls, draft.wanted, guards)
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

    async def _is_wordy(self, state: State, calls: Sequence[ToolCall]) -> bool:
        """Whether an answer is longer than it may be."""
        most = self._options.largest_answer
        if most is None:
            return False
        for call in calls:
            rehearsal = await self._environment.rehearse(call, state)
            if len(json.dumps(rehearsal.result.value(), ensure_ascii=False)) > most:
                return True
            state = rehearsal.state
        return False

    def _shown(self, draft: Draft, random: Random) -> list[str] | None:
        """The tools that the task shows: those it needs and some others, in the toolset's order."""
        names = [tool.name for tool in self._environment.toolset if tool.name not in draft.hidden]
        most = self._options.tools_per_task
        if most is None:
            return names if draft.hidden else None
        others = [name for name in names if name not in draft.tools]
        chosen = {*draft.tools, *random.sample(others, min(len(others), most - len(draft.tools)))}
        return [name for name in names if name in chosen]

    def _needed(self, tools: Sequence[str] | None) -> dict[str, list[Document]]:
        """What was put into the world, as far as the tools can meet it."""
        if tools is None:
            return self._put
        rules = [rule for name in tools if (rule := self._environment.dynamics.tools.get(name)) is not None]
        met = {name for rule in rules for name in (rule.collection, *(change.collection for change in rule.also))}
        return {name: documents for name, documents in self._put.items() if name in met}


def _start(environment: Environment, put: Mapping[str, list[Document]]) -> State:
    bare = {"id": "start", "instruction": "-", "checklist": [{"id": "-", "says": "-", "that": "true"}]}
    return start_state(environment, Task.model_validate({**bare, "world": {"put": dict(put)}}))


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


def _is_to_be_owned(draft: Draft) -> bool:
    """Whether something is to be done and nothing refused; not where words of the request sound like a refusal."""
    if draft.kind not in _DOING or any(refusal_said() in one.that for one in draft.wanted):
        return False
    return not any(says(text, word) for text in (*draft.turns, draft.answer) for word in REFUSALS)
