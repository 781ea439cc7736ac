"""From goals to a task's draft: one wish, several, on a condition, or one that nothing at hand can fulfil."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from random import Random
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.state import State

from .atlas import Atlas
from .checklists import forbidden
from .facts import said
from .goal import Goal, Kind, Step, Wanted, refusal_said
from .goals import Goals
from .options import MakeOptions, TaskKind
from .ways import tried
from .words import sentence, value_words, words

__all__ = ["Composer", "Draft"]

_SINGLE: Final[tuple[Kind, ...]] = ("read", "search", "compute", "change", "refused")
_TOOLS_TRIED: Final = 5
_SEPARATORS: Final = (" ", "\n")
"""Between two answers: in one message, or in two."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A task but for its checklist."""

    kind: TaskKind
    template: str
    turns: tuple[str, ...]
    """What the user says: the instruction, and what follows when that is answered."""
    steps: tuple[Step, ...]
    answer: str
    wanted: tuple[Wanted, ...]
    guards: tuple[Wanted, ...] = ()
    hidden: frozenset[str] = frozenset()
    """Tools that must not be shown."""
    tempting: frozenset[str] = frozenset()
    """Tools that must be shown although the witness does not need them."""

    @property
    def tools(self) -> frozenset[str]:
        """The tools that have to be shown."""
        return self.tempting | {step.call.name for step in self.steps}


class Composer:
    """Composes drafts in one world.

    Args:
        atlas: the names and values of the world.
        options: what to make.
    """

    def __init__(self, atlas: Atlas, options: MakeOptions) -> None:
        self._atlas = atlas
        self._options = options
        self._goals = Goals(atlas, hidden=options.hidden_keys)
        self._all = [tool.name for tool in atlas.environment.toolset]
        self._can = {kind: bool(self._goals.tools(kind)) for kind in _SINGLE}
        self._first = self._parts("read", "search", "change")
        self._second = self._parts("read", "search", "change", "refused")

    def kinds(self) -> list[TaskKind]:
        """The kinds of tasks that the toolset may be able to give."""
        can = self._can
        possible: dict[TaskKind, bool] = {
            **{kind: can[kind] for kind in _SINGLE},
            "unavailable": can["change"] and self._options.tools_per_task is not None,
            "conditional": can["change"] and can["read"],
            "pair": bool(self._first) and self._options.max_calls > 1,
            "conversation": bool(self._first) and self._options.max_calls > 1,
        }
        return [kind for kind, is_possible in possible.items() if is_possible]

    async def draft(self, kind: TaskKind, random: Random) -> Draft | None:
        """A draft of a kind, or None where none was found in a few tries."""
        state, shown = self._atlas.state, self._shown(random)
        if kind in _SINGLE:
            goal = await self._goal(kind, state, random, shown)
            return None if goal is None else self._with_bystander(_of_one(goal), goal, random)
        if kind == "unavailable":
            return await self._unavailable(state, random, shown)
        if kind == "conditional":
            return await self._conditional(state, random, shown)
        return await self._of_two(kind, state, random, shown)

    def _parts(self, *kinds: Kind) -> list[Kind]:
        """Which of the kinds a pair may be made of: those that are wanted alone too, or all, where none is."""
        possible = [kind for kind in kinds if self._can[kind]]
        return [kind for kind in possible if self._options.mix.get(kind, 0) > 0] or possible

    def _shown(self, random: Random) -> list[str]:
        """The tools from which a task may draw: with few shown at a time, a few more than that."""
        most = self._options.tools_per_task
        if most is None or most * 3 >= len(self._all):
            return self._all
        chosen = set(random.sample(self._all, most * 3))
        return [name for name in self._all if name in chosen]

    async def _goal(
        self, kind: Kind, state: State, random: Random, shown: Collection[str], among: Collection[str] | None = None
    ) -> Goal | None:
        tools = [tool for tool in self._goals.tools(kind) if tool.name in (shown if among is None else among)]
        for tool in random.sample(tools, min(_TOOLS_TRIED, len(tools))):
            goal = await self._goals.make(kind, tool, state, random, shown)
            if goal is not None:
                return goal
        return None

    async def _of_two(self, kind: TaskKind, state: State, random: Random, shown: Collection[str]) -> Draft | None:
        first = await self._goal(random.choice(self._first), state, random, shown)
        if first is None:
            return None
        second = await self._goal(random.choice(self._second), first.state, random, shown)
        if second is None or second.aim.call == first.aim.call:
            return None
        template = f"{kind}({first.template},{second.template})"
        wanted = (*first.wanted, *second.wanted)
        turn = 1 if kind == "conversation" else 0
        steps = (*first.steps, *(replace(step, turn=turn) for step in second.steps if step not in first.steps))
        if kind == "conversation":
            turns: tuple[str, ...] = (
                first.request,
                f"{random.choice(['Thank you.', 'Good.', 'One more thing.'])} {second.request}",
            )
        else:
            turns = (
                f"{first.request} {random.choice(['Besides that:', 'And one more thing:', 'Then:'])} {second.request}",
            )
        answer = f"{first.reply}{_SEPARATORS[turn]}{second.reply}"
        return Draft(kind, template, turns, steps, answer, wanted)

    async def _unavailable(self, state: State, random: Random, shown: Collection[str]) -> Draft | None:
        """A wish for which the tool is not there."""
        goal = await self._goal("change", state, random, shown)
        if goal is None:
            return None
        rules = self._atlas.environment.dynamics.tools
        own = rules[goal.aim.tool.name].collection
        # No other tool may be able to do it in another way: none that writes the same kind of entity is shown.
        hidden = frozenset(
            name
            for name in self._all
            if (rule := rules.get(name)) is None
            or (
                (rule.effect in {"create", "update", "delete", "opaque"})
                and own in {rule.collection, *(change.collection for change in rule.also)}
            )
        )
        steps = tuple(step for step in goal.steps[:-1] if step.call.name not in hidden)
        answer = "I am sorry, I cannot do that: none of my tools does."
        wanted = (Wanted("The answer says that it cannot be done.", refusal_said()),)
        return Draft(
            "unavailable", f"unavailable/{goal.aim.tool.name}", (goal.request,), steps, answer, wanted, hidden=hidden
        )

    async def _conditional(self, state: State, random: Random, shown: Collection[str]) -> Draft | None:
        """A change that is wanted only if something is so, which has to be looked up; it is, or it is not."""
        rules = self._atlas.environment.dynamics.tools
        read = {rules[tool.name].collection for tool in self._goals.tools("read") if tool.name in shown}
        among = [
            tool.name
            for tool in self._goals.tools("change")
            if tool.name in shown and rules[tool.name].collection in read and rules[tool.name].effect != "create"
        ]
        goal = await self._goal("change", state, random, shown, among)
        if goal is None:
            return None
        looked = await self._look(goal, state, random, shown)
        if looked is None:
            return None
        call, noun, field, value, others = looked
        holds = not others or random.random() < 0.6
        wish = value if holds else random.choice(others)
        condition = f"If the {words(field)} of {noun} is {value_words(wish)}, do the following"
        request = f"{condition}; otherwise change nothing and tell me what it is. {goal.request}"
        steps = (Step(call), *(goal.steps if holds else ()))
        template = f"conditional/{'yes' if holds else 'no'}/{call.name}/{goal.template}"
        tool = call.name
        looked_up = Wanted(f"{tool} was called.", f'called("{tool}") >= 1', 0.5)
        if holds:
            return Draft("conditional", template, (request,), steps, goal.reply, (*goal.wanted, looked_up))
        answer = sentence(f"the {words(field)} of {noun} is {value_words(value)}, so I have changed nothing")
        told = Wanted(f"The answer tells the {words(field)}.", said([value]))
        guards = (forbidden(goal.aim.tool.name),)
        tempting = frozenset({goal.aim.tool.name})
        return Draft("conditional", template, (request,), steps, answer, (looked_up, told), guards, tempting=tempting)

    async def _look(
        self, goal: Goal, state: State, random: Random, shown: Collection[str]
    ) -> tuple[ToolCall, str, str, Json, list[Json]] | None:
        """A call that reads something of the goal's entity, what it shows there, and what it could have shown."""
        atlas = self._atlas
        name = atlas.key_argument(goal.aim.tool)
        rule = atlas.environment.dynamics.tools[goal.aim.tool.name]
        if name is None or rule.collection is None or name not in goal.aim.call.arguments:
            return None
        key = goal.aim.call.arguments[name]
        readers = [tool for tool in self._goals.tools("read") if tool.name in shown]
        for tool in random.sample(readers, len(readers)):
            argument = atlas.key_argument(tool)
            if argument is None or atlas.environment.dynamics.tools[tool.name].collection != rule.collection:
                continue
            call = ToolCall(tool.name, {argument: key})
            rehearsal = await tried(atlas, call, state)
            if rehearsal is None or rehearsal.result.is_error:
                continue
            document = atlas.document(rule.collection, str(key)) or {}
            shown_there = rehearsal.result.value()
            fields = [
                (field, value)
                for field, value in document.items()
                if isinstance(value, str) and len(value) < 30 and field != argument and value in _leaves(shown_there)
            ]
            for field, value in random.sample(fields, len(fields)):
                others = [other for other in atlas.values(tool, field) if isinstance(other, str) and other != value]
                if 1 <= len(others) <= 12:
                    return call, f"{atlas.noun(rule.collection)} {key}", field, value, others
        return None

    def _with_bystander(self, draft: Draft, goal: Goal, random: Random) -> Draft:
        """The draft with something beside it that is to be left alone."""
        rule = self._atlas.environment.dynamics.tools[goal.aim.tool.name]
        if goal.kind != "change" or rule.collection is None or random.random() >= self._options.bystanders:
            return draft
        text = str(dict(goal.aim.call.arguments))
        keys = [key for key in self._atlas.keys(rule.collection) if key not in text and len(key) > 2]
        untouched = [
            key
            for key in keys[:50]
            if goal.state.get(rule.collection, key) == self._atlas.document(rule.collection, key)
        ]
        if not untouched or self._atlas.key_field(rule.collection) is None:
            return draft
        key = random.choice(untouched)
        noun = self._atlas.noun(rule.collection)
        guard = Wanted(f"{noun} {key} is left as it is.", f'!("{rule.collection}/{_plain(key)}" in changed())')
        turns = (f"{draft.turns[0]} Leave {noun} {key} as it is.", *draft.turns[1:])
        return replace(draft, turns=turns, guards=(*draft.guards, guard))


def _of_one(goal: Goal) -> Draft:
    return Draft(goal.kind, goal.template, (goal.request,), goal.steps, goal.reply, goal.wanted)


def _leaves(value: Json) -> list[Json]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in _leaves(part)]
    return [] if isinstance(value, list) else [value]


def _plain(key: str) -> str:
    return key.replace("\\", "\\\\").replace('"', '\\"')
