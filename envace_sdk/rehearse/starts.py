"""Where recorded sessions began, and which of them a world's session is like.

Sessions may begin in states of their own: another user's files, another queue. A world begins with what they have in
common. What a call names and the world has not, a recorded session may have had when it began; and whoever names what
a few of them had, and makes the calls that they made, is most likely where they were. So the world is laid out as
those sessions began that are most like it: with what most of them agree on, never over what it knows already.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.interpret import Interpreter, Needed
from envace_sdk.world.keys import keyed
from envace_sdk.world.state import State

from .beginnings import SESSION, Begun, Replay, begun, consulted
from .openings import Openings
from .precedents import call_key, is_distinctive, leaves

__all__ = ["Starts"]

_NAME: Final = "rehearse.starts"
_OPENING: Final = "rehearse.opening"
_SETTLED: Final = "settled"
_LEAST: Final = 4
"""Sessions that must have been recorded, for some of them to be like a world's."""
_MOST: Final = 2000
"""Sessions that are looked at."""
_MOST_MARKS: Final = 60
"""Marks of a world that are remembered."""
_CLEAR: Final = math.log(3)
"""How much must speak for a session before more than what is named is taken from it."""
_SOME: Final = 3
"""Different things of a form that must have been there, for another one of that form to be likely there."""
_OFTEN: Final = 4
"""And so many times more than were named in vain."""
_AS_GOOD: Final = 0.5
"""Sessions for which hardly less speaks count as much as the best."""


class Starts:
    """The starts of recorded sessions.

    Args:
        fixtures: recorded calls.
        start: the state in which a world begins.
        tools: the toolset.
        interpreter: its rules.
        replay: what becomes of a state when a recorded call happens in it.
    """

    def __init__(
        self,
        fixtures: Sequence[Fixture],
        start: State,
        tools: Mapping[str, Tool],
        interpreter: Interpreter,
        replay: Replay,
    ) -> None:
        self._fixtures = fixtures
        self._start = start
        self._tools = tools
        self._interpreter = interpreter
        self._replay = replay

    def laid(self, call: ToolCall, state: State) -> State:
        """The state with what was there in the beginning, as far as this call tells where its session began."""
        if not self._begun:
            return state
        state = self._opened(call, state)
        missing = [
            need
            for need in self._interpreter.needs(self._tools[call.name], call.arguments, state)
            if state.get(need.collection, need.key) is None
            and not state.collection(need.collection).was_removed(need.key)
        ]
        named = [(need.collection, need.key) for need in missing]
        marks = [mark for mark in _marks(call, named) if mark in self._marked]
        known = _read(state, _NAME)
        new = [mark for mark in marks if mark not in known]
        if not new:
            return self._with_likely(missing, state)
        known = (known + new)[-_MOST_MARKS:]
        likely, clear = self._likely(known)
        before = state
        for collection, key in named:
            holders = self._holders(likely, collection, key) or self._holders(self._begun.values(), collection, key)
            if holders:
                state = state.put(collection, key, self._agreed(collection, key, holders))
        if clear:
            state = self._counted(likely, self._laid(likely, state, frozenset(known)))
        state = self._with_likely(missing, state)
        history = state.history.set(_NAME, json.dumps(known))
        return before.replace(history=history) if state is before else state.replace(history=history)

    def seen(self, call: ToolCall, state: State) -> State:
        """The state in which such a call was really answered: what its answer hung on is no longer open."""
        if not self._begun or not self._hangs_on_opening(call) or state.history.get(_OPENING) == _SETTLED:
            return state
        return state.replace(history=state.history.set(_OPENING, _SETTLED))

    def _hangs_on_opening(self, call: ToolCall) -> bool:
        rule = self._interpreter.dynamics.tools.get(call.name)
        return self._openings.differ and not consulted(rule).isdisjoint(self._openings.fields)

    def _opened(self, call: ToolCall, state: State) -> State:
        """With what the session held, once a call hangs on it; from then on it stays so."""
        openings = self._openings
        if not openings.differ or state.history.get(_OPENING) == _SETTLED:
            return state
        held, begun = (each.get(SESSION, SESSION) or {} for each in (state, self._start))
        if any(held.get(name) != begun.get(name) for name in openings.fields):
            return state.replace(history=state.history.set(_OPENING, _SETTLED))
        known = _read(state, _OPENING)
        marks = [*known, *(mark for mark in openings.marks(call) if mark not in known)][-_MOST_MARKS:]
        if not self._hangs_on_opening(call):
            if marks == known:
                return state
            return state.replace(history=state.history.set(_OPENING, json.dumps(marks)))
        likely = openings.likeliest(marks)
        if likely:
            state = state.put(SESSION, SESSION, {**held, **likely})
        return state.replace(history=state.history.set(_OPENING, _SETTLED))

    @cached_property
    def _openings(self) -> Openings:
        return Openings(self._begun)

    def _with_likely(self, missing: Iterable[Needed], state: State) -> State:
        """With what is named like things that were there in the beginning, and not like what was named in vain."""
        for need in missing:
            rule = self._interpreter.dynamics.collections[need.collection]
            if rule.open or len(rule.key_fields) != 1 or state.get(need.collection, need.key) is not None:
                continue  # of what may be there unseen, other layers tell
            if need[:2] in self._in_vain:
                continue
            there, vain = self._forms.get((need.collection, _form(need.key)), (0, 0))
            if there >= _SOME and there > _OFTEN * vain:
                state = state.put(need.collection, need.key, keyed(rule.key_fields, [need.value]))
        return state

    @cached_property
    def _forms(self) -> dict[tuple[str, str], tuple[int, int]]:
        """By collection and form of a key, how many different things were there, and how many were named in vain."""
        there: dict[tuple[str, str], set[str]] = {}
        vain: dict[tuple[str, str], set[str]] = {}
        for collection, key in self._in_vain:
            vain.setdefault((collection, _form(key)), set()).add(key)
        for collection in self._start.collections:
            for key, _ in islice(self._start.collection(collection).items(), _MOST):
                there.setdefault((collection, _form(key)), set()).add(key)
        for one in self._begun.values():
            for collection, things in one.things.items():
                for key in things:
                    there.setdefault((collection, _form(key)), set()).add(key)
        return {place: (len(there.get(place, ())), len(vain.get(place, ()))) for place in there.keys() | vain.keys()}

    @cached_property
    def _in_vain(self) -> frozenset[tuple[str, str]]:
        """Collection and key of what some session named, and had not."""
        return frozenset(place for one in self._begun.values() for place in one.absent)

    @staticmethod
    def _holders(among: Iterable[Begun], collection: str, key: str) -> list[Begun]:
        """Those that had a thing, if it was more often there than not."""
        among = list(among)
        holders = [one for one in among if key in one.things.get(collection, ())]
        return holders if len(holders) > sum((collection, key) in one.absent for one in among) else []

    def _likely(self, marks: Iterable[str]) -> tuple[list[Begun], bool]:
        """The sessions for which most speaks, and whether it is enough."""
        scores: dict[str, float] = {}
        for mark in marks:
            holders = self._marked.get(mark, ())
            for name in holders:
                scores[name] = scores.get(name, 0.0) + math.log(len(self._begun) / len(holders))
        best = max(scores.values(), default=0.0)
        return [self._begun[n] for n, score in scores.items() if score >= best - _AS_GOOD], best >= _CLEAR

    def _laid(self, likely: Sequence[Begun], state: State, named: frozenset[str]) -> State:
        """With what most of the likely sessions had, where the world has nothing.

        What was `named` and is not there stays so: a call was answered that it is not.
        """
        counts = Counter(
            (collection, key) for one in likely for collection in one.things for key in one.things[collection]
        )
        for (collection, key), count in sorted(counts.items()):
            if 2 * count <= len(likely):
                continue
            held = state.get(collection, key)
            holders = [one for one in likely if key in one.things.get(collection, ())]
            agreed = self._agreed(collection, key, holders)
            if held is None and _thing(collection, key) not in named:
                if not state.collection(collection).was_removed(key):
                    state = state.put(collection, key, agreed)
            elif held is not None and held == self._start.get(collection, key):
                # As it was in most sessions: nothing has happened to it here.
                state = state.put(collection, key, {**held, **agreed})
        return state

    def _agreed(self, collection: str, key: str, holders: Iterable[Begun]) -> dict[str, Json]:
        """What those who had a thing agree on; of its key, what most of them say."""
        rule = self._interpreter.dynamics.collections.get(collection)
        naming = frozenset(path.split(".")[0] for path in rule.key_fields) if rule is not None else frozenset()
        return _agreed((one.things[collection][key] for one in holders), naming)

    @staticmethod
    def _counted(likely: Sequence[Begun], state: State) -> State:
        """Counting on from where most of the likely sessions did, where nothing has been counted here."""
        for collection in sorted({name for one in likely for name in one.counted}):
            if collection not in state.counters:
                numbers = Counter(one.counted[collection] for one in likely if collection in one.counted)
                number, count = min(numbers.items(), key=lambda item: (-item[1], item[0]))
                if 2 * count > numbers.total():
                    state = state.counted(collection, number)
        return state

    @cached_property
    def _begun(self) -> dict[str, Begun]:
        """By episode, what was there when it began; none where there is but one start."""
        episodes: dict[str, list[Fixture]] = {}
        for fixture in self._fixtures:
            is_looked_at = fixture.episode in episodes or len(episodes) < _MOST
            if is_looked_at and fixture.is_call and fixture.call.name in self._tools:
                episodes.setdefault(fixture.episode, []).append(fixture)
        if len(episodes) < _LEAST:
            return {}
        ordered = {name: sorted(calls, key=lambda each: each.position) for name, calls in episodes.items()}
        found = begun(ordered, self._start, self._tools, self._interpreter, self._replay)
        return found if any(one.things or one.session for one in found.values()) else {}

    @cached_property
    def _marked(self) -> dict[str, tuple[str, ...]]:
        """By mark, the sessions that have it."""
        found: dict[str, dict[str, None]] = {}
        for name, one in self._begun.items():
            for collection, things in one.things.items():
                for key in things:
                    found.setdefault(_thing(collection, key), {})[name] = None
            for place in one.absent:
                found.setdefault(_thing(*place), {})[name] = None  # who names it may be where it is missing
            for call in one.calls:
                for mark in _marks(call, ()):
                    found.setdefault(mark, {})[name] = None
        return {mark: tuple(names) for mark, names in found.items()}


def _marks(call: ToolCall, missing: Iterable[tuple[str, str]]) -> list[str]:
    """What of a call tells sessions apart: the things that it names, and itself, if it says anything."""
    found = [_thing(collection, key) for collection, key in missing]
    if any(isinstance(value, str) and is_distinctive(value) for _, _, value in leaves(call.arguments)):
        found.append(call_key(call.name, call.arguments))
    return found


def _form(key: str) -> str:
    """What a key looks like: its length, and what kinds of characters it has."""
    return f"{len(key)}{'d' * key.isdigit()}{'/' * ('/' in key)}"


def _thing(collection: str, key: str) -> str:
    return f"{collection}/{key}"


def _agreed(documents: Iterable[Mapping[str, Json]], always: Container[str]) -> dict[str, Json]:
    """The fields on which most of those agree that have them, and those that are needed `always`."""
    values: dict[str, Counter[str]] = {}
    for document in documents:
        for name, value in document.items():
            values.setdefault(name, Counter())[json.dumps(value, sort_keys=True)] += 1
    found: dict[str, Json] = {}
    for name, counts in values.items():
        text, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
        if 2 * count > counts.total() or name in always:
            found[name] = json.loads(text)
    return found


def _read(state: State, name: str) -> list[str]:
    try:
        found = json.loads(state.history.get(name, "[]"))
    except (ValueError, RecursionError):
        return []  # a snapshot may hold anything
    return [mark for mark in found[-_MOST_MARKS:] if isinstance(mark, str)] if isinstance(found, list) else []
