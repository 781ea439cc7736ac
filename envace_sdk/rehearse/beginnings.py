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

__all__ = ["SESSION", "Begun", "Replay", "begun", "consulted"]

Replay: TypeAlias = Callable[[Fixture, State], State]
"""The state after a recorded call."""

_MEMBER: Final = re.compile(r"session\.([A-Za-z_]\w*)")
SESSION: Final = "session"
"""The collection, and its only key, of what is true of a session as a whole."""
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
    session: Document | None = None
    """What the session held, other than all begin with; None where nothing tells."""
    opening: list[ToolCall] = field(default_factory=list)
    """The calls before anything told what the session held, or changed it; and the one that did."""


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
        if one.session and one.session not in variants:
            variants.append(one.session)
    shown = frozenset(name for variant in variants for name in variant)
    for name, value in (start.get(SESSION, SESSION) or {}).items():
        if isinstance(value, bool) and name not in shown:
            variants.append({name: not value})  # what is never shown may decide all the same
    if 0 < len(variants) <= _VARIANTS:
        for name, calls in episodes.items():
            if found[name].session is None:
                found[name].session = reading.best(calls, [{}, *variants])
    members = frozenset(name for one in found.values() for name in one.session or ())
    for name, calls in episodes.items():
        found[name].opening = reading.opening(calls, members)
    return found


def consulted(rule: ToolRule | None) -> frozenset[str]:
    """What of the session decides how calls of a tool are answered; not what they only keep as it is."""
    if rule is None:
        return frozenset()
    written = rule.model_dump(exclude_defaults=True, exclude={"reason", "also"})
    found = set(_MEMBER.findall(repr(written)))
    for change in rule.also:
        sets = change.set if change.collection == SESSION else {}
        found.update(_MEMBER.findall(repr(change.model_dump(exclude_defaults=True, exclude={"set"}))))
        for name, source in (sets or change.set).items():
            found.update(member for member in _MEMBER.findall(source) if not sets or member != name)
    return frozenset(found)


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
                elif place not in written and change.collection != SESSION:
                    self._note(found, *place, after.get(*place) or {})
            self._note_session(found, rule, fixture, state, is_written=(SESSION, SESSION) in written)
            state = after
        return found

    def best(self, calls: Sequence[Fixture], variants: Sequence[Document]) -> Document | None:
        """That with which calls end as recorded more often than with any other; None where there is no such one."""
        agreed = [self._agreement(calls, variant) for variant in variants]
        most = max(agreed)
        return variants[agreed.index(most)] if agreed.count(most) == 1 else None

    def opening(self, calls: Sequence[Fixture], members: frozenset[str]) -> list[ToolCall]:
        """The calls until one is answered after such a member of the session, or changes it."""
        found: list[ToolCall] = []
        state = self._start
        for fixture in calls if members else ():
            found.append(fixture.call)
            if consulted(self._interpreter.dynamics.tools.get(fixture.call.name)) & members:
                break
            after = self._replay(fixture, state)
            if after.get(SESSION, SESSION) != state.get(SESSION, SESSION):
                break
            state = after
        return found

    def _agreement(self, calls: Sequence[Fixture], session: Document) -> int:
        """How many calls end as recorded if the session begins so, and how many more are answered so."""
        held = self._start.get(SESSION, SESSION) or {}
        state = self._start.put(SESSION, SESSION, {**held, **session}) if session else self._start
        agreed = 0
        for fixture in calls:
            tool, recorded = self._tools[fixture.call.name], fixture.result
            try:
                answer = self._interpreter.run(tool, fixture.call.arguments, state, Random(0))
            except EnvaceError:
                answer = None
            if answer is not None and (answer.error is not None) is recorded.is_error:
                agreed += self._declines(tool, answer.value) is self._declines(tool, recorded.value())
                agreed += answer.error is None and answer.value == recorded.value()
            state = self._replay(fixture, state)
        return agreed

    def _declines(self, tool: Tool, value: Json) -> bool:
        return self._interpreter.declines(tool, value)

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
        held = state.get(SESSION, SESSION) or {}
        for name, source in rule.returns.object.items():
            member = _MEMBER.fullmatch(source)
            value: Json = get_path(fixture.result.value(), name) if isinstance(fixture.result.value(), dict) else None
            if member is None or value is UNSET or value is None or (isinstance(value, str) and "/" in value):
                continue
            if member[1] in held:
                shown = found.session or {}
                found.session = shown if held[member[1]] == value else {member[1]: value, **shown}
