"""What was there when a recorded session began, as far as its calls tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, TypeAlias

from envace_sdk.errors import EnvaceError
from envace_sdk.json import UNSET, Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.diff import diff
from envace_sdk.world.dynamics import ToolRule
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.keys import Document, get_path, keyed
from envace_sdk.world.observing import minted_key, writes
from envace_sdk.world.state import State

__all__ = ["Begun", "Replay", "begun"]

Replay: TypeAlias = Callable[[Fixture, State], State]
"""The state after a recorded call."""

_MEMBER: Final = re.compile(r"session\.([A-Za-z_]\w*)")
_SESSION: Final = "session"
_MOST_COUNTED: Final = 2**53
_VARIANTS: Final = 4
"""Ways for a session to begin that are tried where its answers do not show which it was."""


@dataclass(slots=True)
class Begun:
    """How one session began."""

    things: dict[str, dict[str, Document]] = field(default_factory=dict)
    """By collection and key, what was there, beyond or other than what all sessions begin with."""
    absent: set[tuple[str, str]] = field(default_factory=set)
    """Collection and key of what was named, and was not there."""
    counted: dict[str, int] = field(default_factory=dict)
    """By collection, the number that the first thing made in it was given."""
    calls: list[ToolCall] = field(default_factory=list)


def begun(
    episodes: Mapping[str, Sequence[Fixture]],
    start: State,
    tools: Mapping[str, Tool],
    interpreter: Interpreter,
    replay: Replay,
) -> dict[str, Begun]:
    """By episode, what was there when it began.

    Args:
        episodes: the recorded calls, in their order.
        start: what all begin with.
        tools: the toolset.
        interpreter: its rules.
        replay: what becomes of a state when a recorded call happens in it.
    """
    reading = _Reading(start, tools, interpreter, replay)
    found = {name: reading.read(calls) for name, calls in episodes.items()}
    variants: list[Document] = []
    for one in found.values():
        shown = one.things.get(_SESSION, {}).get(_SESSION)
        if shown is not None and shown not in variants:
            variants.append(shown)
    if not 0 < len(variants) <= _VARIANTS:
        return found
    for name, calls in episodes.items():
        if _SESSION not in found[name].things:
            best = max([{}, *variants], key=lambda variant: reading.agreement(calls, variant))
            if best:
                found[name].things[_SESSION] = {_SESSION: best}
    return found


class _Reading:
    def __init__(self, start: State, tools: Mapping[str, Tool], interpreter: Interpreter, replay: Replay) -> None:
        self._start = start
        self._tools = tools
        self._interpreter = interpreter
        self._replay = replay

    def read(self, calls: Sequence[Fixture]) -> Begun:
        """What the calls of an episode show of its start: what is read before anything is written to it."""
        found = Begun(calls=[fixture.call for fixture in calls])
        state = self._start
        written: set[tuple[str, str]] = set()
        for fixture in calls:
            call = fixture.call
            tool, rule = self._tools[call.name], self._interpreter.dynamics.tools.get(call.name)
            missing = [
                need
                for need in self._interpreter.needs(tool, call.arguments, state)
                if need[:2] not in written and state.get(need.collection, need.key) is None
            ]
            if fixture.result.is_error or self._interpreter.declines(tool, fixture.result.value()):
                found.absent.update(need[:2] for need in missing if len(missing) == 1)
                continue
            for need in missing:
                fields = self._interpreter.dynamics.collections[need.collection].key_fields
                parts = need.value if len(fields) > 1 else [need.value]
                if isinstance(parts, list) and len(parts) == len(fields):
                    self._note(found, need.collection, need.key, keyed(fields, parts))
            self._note_count(found, rule, fixture)
            after = self._replay(fixture, state)
            changes = writes(tool, rule)
            for change in diff(state, after):
                place = (change.collection, change.key)
                if changes:
                    written.add(place)
                elif place not in written and change.collection != _SESSION:
                    self._note(found, *place, after.get(*place) or {})
            self._note_session(found, rule, fixture, state, is_written=(_SESSION, _SESSION) in written)
            state = after
        return found

    def agreement(self, calls: Sequence[Fixture], session: Document) -> int:
        """How many calls end as recorded if the session begins so."""
        held = self._start.get(_SESSION, _SESSION) or {}
        state = self._start.put(_SESSION, _SESSION, {**held, **session}) if session else self._start
        agreed = 0
        for fixture in calls:
            tool = self._tools[fixture.call.name]
            try:
                answer = self._interpreter.run(tool, fixture.call.arguments, state, Random(0))
            except EnvaceError:
                answer = None
            if answer is not None:
                agreed += (answer.error is not None) is fixture.result.is_error
            state = self._replay(fixture, state)
        return agreed

    def _note_count(self, found: Begun, rule: ToolRule | None, fixture: Fixture) -> None:
        """The number that a new thing is given, if it is the first."""
        if rule is None or rule.collection is None or rule.collection in found.counted:
            return
        minted = minted_key(rule, self._interpreter.dynamics, fixture.result.value())
        if isinstance(minted, int) and not isinstance(minted, bool) and 0 <= minted < _MOST_COUNTED:
            found.counted[rule.collection] = minted

    def _note(self, found: Begun, collection: str, key: str, shown: Document) -> None:
        known = self._start.get(collection, key)
        if known is not None and all(name in known and known[name] == part for name, part in shown.items()):
            return
        held = found.things.setdefault(collection, {}).setdefault(key, {})
        for name, part in shown.items():
            held.setdefault(name, part)

    def _note_session(
        self, found: Begun, rule: ToolRule | None, fixture: Fixture, state: State, *, is_written: bool
    ) -> None:
        """What an answer shows of the session. A place in a tree stays: things are known by where they lie below it."""
        if rule is None or is_written or rule.returns.object is None:
            return
        held = state.get(_SESSION, _SESSION) or {}
        for name, source in rule.returns.object.items():
            member = _MEMBER.fullmatch(source)
            value: Json = get_path(fixture.result.value(), name) if isinstance(fixture.result.value(), dict) else None
            if member is None or value is UNSET or value is None or (isinstance(value, str) and "/" in value):
                continue
            if member[1] in held and held[member[1]] != value:
                self._note(found, _SESSION, _SESSION, {member[1]: value})
