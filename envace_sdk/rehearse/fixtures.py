"""The fixture layer: what was observed is answered again, as long as it is still true.

A fixture is true while nothing it read has been written since. To tell, every write adds to the *history* of what it
wrote (an entity, its collection, the world), a digest chained from call to call. At load the recorded writes are
applied once, in order, and each fixture notes the history of what it read at that moment; it answers whenever the
live world has the same one. So a fixture holds again after the same recorded writes, on any fork, and after a reset.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from envace_sdk.errors import DynamicsError
from envace_sdk.evidence.canonical import digest
from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.answer import Touch
from envace_sdk.world.diff import diff
from envace_sdk.world.dynamics import Dynamics, ToolRule
from envace_sdk.world.interpret import Answer, Interpreter
from envace_sdk.world.keys import get_path, key_text
from envace_sdk.world.state import State

from .absorb import absorb, shown_entities
from .base import Context, Outcome, Rehearsal

__all__ = ["FixtureRehearser", "call_digest", "note_changes", "writes"]

EVERYTHING = "*"
UNKNOWN = "?"
"""Scope of writes by tools of which no rule says what they change: whoever reads anything depends on it."""


def call_digest(call: ToolCall) -> str:
    """A digest of the tool and its arguments, whatever the order of their keys."""
    text = json.dumps([call.name, call.arguments], sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def writes(tool: Tool, rule: ToolRule | None) -> bool:
    """Whether the tool may change the world, as far as its rule, else its own hint, says."""
    if rule is None or rule.effect == "opaque":
        return tool.annotations.get("readOnlyHint") is not True
    return rule.effect in {"create", "update", "delete"} or bool(rule.also)


def note_changes(before: State, after: State) -> State:
    """`after` with what no call changed in the history of what it touches: recordings of it do not hold there."""
    changed = diff(before, after)
    if not changed:
        return after
    mark = digest([[change.name, after.get(change.collection, change.key)] for change in changed])
    scopes = {EVERYTHING, *(c.collection for c in changed), *(c.name for c in changed)}
    return after.replace(history=after.history.update(dict.fromkeys(sorted(scopes), mark)))


@dataclass(frozen=True, slots=True)
class _Held:
    """A fixture, and the history of what it read when it was observed."""

    fixture: Fixture
    scopes: tuple[str, ...]
    history: tuple[str, ...]


class FixtureRehearser:
    """Answers calls that were observed, from the recordings; passes on all others."""

    def __init__(
        self, fixtures: Sequence[Fixture], tools: Mapping[str, Tool], dynamics: Dynamics, interpreter: Interpreter
    ) -> None:
        self._tools = tools
        self._dynamics = dynamics
        self._interpreter = interpreter
        self._held: dict[str, list[_Held]] = {}
        self._fixtures = [f for f in fixtures if f.call.name in tools]

    def learn(self, start: State) -> State:
        """Note what each fixture read, and return the start state with the entities that recordings show were there.

        An entity is taken to have been there from the start when it is read before any recorded write to it.
        """
        episodes: dict[str, list[Fixture]] = {}
        for fixture in self._fixtures:
            episodes.setdefault(fixture.episode, []).append(fixture)
        for episode in episodes.values():
            start = self._found_at_start(episode, start)
        for episode in episodes.values():
            state = start
            for fixture in sorted(episode, key=lambda f: f.position):
                scopes = self._reads(fixture.call, state)
                self._held.setdefault(call_digest(fixture.call), []).append(
                    _Held(fixture, scopes, _history(state, scopes))
                )
                state = self.advance(state, self._after(fixture, state), fixture.call)
        return start

    def find(self, call: ToolCall, state: State) -> Fixture | None:
        """The first fixture of this very call that is true in `state`."""
        for held in self._held.get(call_digest(call), ()):
            if _history(state, held.scopes) == held.history:
                return held.fixture
        return None

    async def rehearse(self, call: ToolCall, context: Context) -> Rehearsal | None:
        """Answer as observed; a recorded write changes the world as its rule, or its recorded answer, says."""
        fixture = self.find(call, context.state)
        if fixture is None:
            return None
        state = self._after(fixture, context.state)
        outcome: Outcome = "success"
        if fixture.result.is_error:
            predicted = self._run(call, context.state)
            outcome = predicted.outcome if predicted is not None and predicted.error is not None else "unknown"
        reason = f"observed as call {fixture.position + 1} of recording {fixture.episode!r}"
        return Rehearsal(fixture.result, state, "fixture", outcome, 1.0, reason)

    def advance(self, before: State, after: State, call: ToolCall, written: frozenset[Touch] | None = None) -> State:
        """`after` with this call in the history of everything it wrote."""
        if not self._held:
            return after
        tool, rule = self._tools[call.name], self._dynamics.tools.get(call.name)
        if not writes(tool, rule):
            return after
        scopes = set()
        if rule is None or rule.effect == "opaque":
            scopes.add(UNKNOWN)
        if written is None:
            written = frozenset((change.collection, change.key) for change in diff(before, after))
        for collection, key in written:
            scopes |= {collection, f"{collection}/{key}"}
        if not scopes:
            return after
        link = call_digest(call)
        history = after.history.update(
            {scope: _chain(after.history.get(scope, ""), link) for scope in (*scopes, EVERYTHING)}
        )
        return after.replace(history=history)

    def _after(self, fixture: Fixture, state: State) -> State:
        """The state after a recorded call: what its rule changes, corrected by what its recorded answer shows."""
        if fixture.result.is_error:
            return state
        call, rule = fixture.call, self._dynamics.tools.get(fixture.call.name)
        value = fixture.result.value()
        if rule is not None and writes(self._tools[call.name], rule):
            minted = self._recorded_key(rule, value)
            answer = self._run(call, state, minted)
            if answer is not None and answer.error is None:
                state = answer.state
        if rule is not None and rule.effect == "delete":
            return state
        return absorb(value, rule, self._dynamics, state)

    def _recorded_key(self, rule: ToolRule, value: Json) -> Json | None:
        """The key that the real server minted, where the recorded answer of a create shows it."""
        if rule.effect != "create" or rule.collection is None:
            return None
        fields = self._dynamics.collections[rule.collection].key_fields
        for collection, _, shown in shown_entities(value, rule, self._dynamics):
            if collection == rule.collection:
                parts = [get_path(shown, field) for field in fields]
                return parts if len(parts) > 1 else parts[0]
        return None

    def _found_at_start(self, episode: Sequence[Fixture], start: State) -> State:
        touched: set[tuple[str, str]] = set()
        state = start
        for fixture in sorted(episode, key=lambda f: f.position):
            call, rule = fixture.call, self._dynamics.tools.get(fixture.call.name)
            changing = writes(self._tools[call.name], rule)
            if not changing and not fixture.result.is_error:
                for collection, key, shown in shown_entities(fixture.result.value(), rule, self._dynamics):
                    if (collection, key) not in touched and start.get(collection, key) is None:
                        start = start.put(collection, key, shown)
            after = self._after(fixture, state)
            if changing:
                touched |= {(change.collection, change.key) for change in diff(state, after)}
            state = after
        return start

    def _run(self, call: ToolCall, state: State, minted: Json = None) -> Answer | None:
        """What the rules say of a recorded call; nothing where they cannot be computed on what was recorded."""
        try:
            return self._interpreter.run(
                self._tools[call.name], call.arguments, state, Random(call_digest(call)), minted=minted
            )
        except DynamicsError:
            return None

    def _reads(self, call: ToolCall, state: State) -> tuple[str, ...]:
        """The scopes whose history decides whether an answer to this call is still true."""
        rule = self._dynamics.tools.get(call.name)
        answer = None if rule is None else self._run(call, state)
        if answer is not None:
            scopes = {name if key is None else f"{name}/{key}" for name, key in answer.touched}
            if answer.rule.effect == "create":
                scopes.add(str(answer.rule.collection))
            return (UNKNOWN, *sorted(scopes))
        if rule is None or rule.collection is None:
            return (UNKNOWN, EVERYTHING)
        key = self._interpreter.key(self._tools[call.name], call.arguments, state)
        return (UNKNOWN, rule.collection if key is None else f"{rule.collection}/{key_text(key)}")


def _history(state: State, scopes: Sequence[str]) -> tuple[str, ...]:
    return tuple(state.history.get(scope, "") for scope in scopes)


def _chain(previous: str, digest: str) -> str:
    return hashlib.blake2b(f"{previous}|{digest}".encode(), digest_size=12).hexdigest()
