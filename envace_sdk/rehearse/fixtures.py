"""The fixture layer: what was observed is answered again, as long as it is still true.

A fixture is true while nothing it read has been written since. At load the recorded writes are applied once, in order,
and each fixture notes the history of what it read at that moment (`histories`); it answers whenever the live world has
the same one. So a fixture holds again after the same recorded writes, on any fork, and after a reset.

Of tools whose effect is unknown, the recorded order is all that is known to hold. Called in another one, they answer
as they did when recorded all the same, with less confidence: nothing else speaks of them (`RecalledRehearser`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from envace_sdk.errors import DynamicsError
from envace_sdk.json import Json
from envace_sdk.recordings import Client, Matching, explain_miss
from envace_sdk.tools.fixture import TOOL_CALL, Fixture
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.absorb import amend
from envace_sdk.world.answer import Touch
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Answer, Interpreter
from envace_sdk.world.observing import Observer, minted_key, writes
from envace_sdk.world.state import State

from .agreement import Agreement
from .base import Context, Outcome, Rehearsal
from .found import Found
from .histories import EVERYTHING, UNKNOWN, Histories, call_digest, history_of, times_called
from .replayed import Replayed
from .soundness import Soundness

__all__ = ["RECALLED", "FixtureRehearser", "place_of"]

_VAGUE = frozenset({EVERYTHING, UNKNOWN})
_HALF = 0.5
RECALLED = 0.7
"""Confidence in what was recorded of a tool of unknown effect, in another order."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A fixture, and the history of what it read when it was observed."""

    fixture: Fixture
    scopes: tuple[str, ...]
    history: tuple[str, ...]


class FixtureRehearser:
    """Answers calls that were observed, from the recordings; passes on all others."""

    def __init__(
        self,
        fixtures: Sequence[Fixture],
        tools: Mapping[str, Tool],
        dynamics: Dynamics,
        interpreter: Interpreter,
        matching: Matching | None = None,
    ) -> None:
        self._tools = tools
        self._dynamics = dynamics
        self._interpreter = interpreter
        self._observer = Observer(interpreter)
        self._matching = matching or Matching()
        self._held: dict[str, list[_Held]] = {}
        self._fixtures = tuple(fixtures)
        self.is_recorded = any(fixture.call.client is not None for fixture in fixtures)
        """Whether a recorder made any of the fixtures: then a call without one is worth a word."""
        self._soundness = Soundness(tools)
        self._essences: dict[tuple[str, str], list[tuple[str, Json]]] = {}
        self.histories = Histories(tools, dynamics, interpreter, self._run)
        self._replayed: Replayed | None = None
        self._agreement: Agreement | None = None
        self.open: Container[str] = ()
        """Tools whose recordings a layer below compares."""

    def learn(self, start: State) -> State:
        """Note what each fixture read, and return the start state with the entities that recordings show were there.

        An entity is taken to have been there from the start when it is read before any recorded write to it.
        """
        episodes: dict[str, list[Fixture]] = {}
        for fixture in self._fixtures:
            episodes.setdefault(fixture.episode, []).append(fixture)
        found = Found(self._tools, self._dynamics, self.after)
        for episode in episodes.values():
            start = found.at_start(episode, start)
        self._observe(episodes.values(), start)
        if contradicted := self._contradicted():
            self.histories.farsighted = contradicted
            self._observe(episodes.values(), start)
        if contradicted := self._contradicted(at_all=True):
            self.histories.restless = contradicted
            self._observe(episodes.values(), start)
        self._replayed = self.replay(self._fixtures, start)
        return start

    def replay(self, fixtures: Sequence[Fixture], start: State) -> Replayed:
        """What the rules make of recorded calls, these or others."""
        return Replayed(fixtures, self._tools, start, after=self.after, run=self._run_again)

    def _proven(self, tool: str) -> float | None:
        return None if self._replayed is None else self._replayed.proven(tool)

    def advance(self, before: State, after: State, call: ToolCall, written: frozenset[Touch] | None = None) -> State:
        """`after` with this call in the history of everything it wrote, if there are recordings to which it matters."""
        if not self._held:
            return after
        return self.histories.advance(before, after, call, self._key(TOOL_CALL, call), written)

    def _observe(self, episodes: Iterable[Sequence[Fixture]], start: State) -> None:
        self._held = {}
        for episode in episodes:
            state = start
            for fixture in sorted(episode, key=lambda f: f.position):
                is_known = fixture.is_call and fixture.call.name in self._tools
                scopes = self.histories.reads(fixture.call, state) if is_known else (UNKNOWN, EVERYTHING)
                key = self._key(fixture.method, fixture.call)
                self._held.setdefault(key, []).append(_Held(fixture, scopes, history_of(state, scopes)))
                if is_known and not fixture.result.is_error:
                    state = self.advance(state, self.after(fixture, state), fixture.call)

    def _contradicted(self, *, at_all: bool = False) -> frozenset[str]:
        """Tools that a recording saw answer otherwise although nothing they read, as their rules say, was written.

        With `at_all`: although nothing was written at all.
        """
        found = set()
        for held in self._held.values():
            seen: dict[tuple[str, tuple[str, ...], int], ToolResult] = {}
            for one in held:
                if one.fixture.is_call and at_all == (one.scopes == (UNKNOWN, EVERYTHING)):
                    client = one.fixture.call.client or Client()
                    # Another caller may be answered otherwise at any time.
                    situation = (one.fixture.episode, one.history, client.likeness(Client()))
                    if seen.setdefault(situation, one.fixture.result) != one.fixture.result:
                        found.add(one.fixture.call.name)
        return frozenset(found)

    def find(self, call: ToolCall, state: State, method: str = TOOL_CALL) -> Fixture | None:
        """The first fixture of this very call that is true in `state`, of those the one for the most similar caller."""
        if not self._held:
            return None
        true = [
            held.fixture
            for held in self._held.get(self._key(method, call), ())
            if history_of(state, held.scopes) == held.history and self._soundness.holds(held.fixture)
        ]
        return _nearest(true, call.client)

    def recall(self, call: ToolCall, state: State, method: str = TOOL_CALL) -> Fixture | None:
        """What was recorded of this call, true or not: at its nth time what came the nth time, then the last."""
        key = self._key(method, call)
        held = [held.fixture for held in self._held.get(key, ())]
        nearest = _nearest(held, call.client)
        if nearest is None:
            return None
        alike = _likeness(nearest, call.client)
        series = [f for f in held if f.episode == nearest.episode and _likeness(f, call.client) == alike]
        series.sort(key=lambda f: f.position)
        found = series[min(times_called(state, key), len(series) - 1)]
        return found if self._soundness.holds(found) else None

    def outranks_rule(self, call: ToolCall, state: State) -> bool:
        """Whether what was recorded of this call is better evidence than the tool's rule: a guess from its name, or
        one that recordings contradict.

        Not for a read whose entities have been written since: it would take the write back.
        """
        rule = self._dynamics.tools.get(call.name)
        if (self._proven(call.name) or 0.0) >= RECALLED:
            return False
        if call.name in self.histories.restless:
            return True
        if rule is None or rule.effect == "opaque" or rule.confidence >= RECALLED:
            return False
        if writes(self._tools[call.name], rule):
            return True
        for held in self._held.get(self._key(TOOL_CALL, call), ()):
            then = dict(zip(held.scopes, held.history, strict=True))
            if all(state.history.get(scope, "") == was for scope, was in then.items() if scope not in _VAGUE):
                return True
        return False

    def explain(self, call: ToolCall, method: str = TOOL_CALL) -> str:
        """Why no fixture answers this call: the closest one, and what differs. "" where there are no fixtures."""
        if not self._held:
            return ""
        for held in self._held.get(self._key(method, call), ()):
            if not self._soundness.holds(held.fixture):
                return f"{place_of(held.fixture)} is left out: its result breaks the output schema of {call.name}"
        what = call.name if method == TOOL_CALL else method
        recorded = self._essences.get((method, what))
        if recorded is None:
            kind = (
                f for f in self._fixtures if f.method == method and (method != TOOL_CALL or f.call.name == call.name)
            )
            recorded = [(place_of(f), {"arguments": self._essence(f.method, f.call)}) for f in kind]
            self._essences[method, what] = recorded
        return explain_miss(what, {"arguments": self._essence(method, call)}, recorded)

    async def rehearse(self, call: ToolCall, context: Context) -> Rehearsal | None:
        """Answer as observed; a recorded write changes the world as its rule, or its recorded answer, says."""
        fixture = self.find(call, context.state)
        if fixture is None:
            return None
        confidence = self._confidence(call.name)
        if confidence < 1.0 and (self._proven(call.name) or _HALF * (call.name in self.open)) > confidence:
            return None
        state = self.after(fixture, context.state)
        outcome: Outcome = "success"
        if fixture.result.is_error:
            predicted = self._run(call, context.state)
            outcome = predicted.outcome if predicted is not None and predicted.error is not None else "unknown"
        return Rehearsal(
            fixture.result, state, "fixture", outcome, confidence, f"observed as {place_of(fixture)}", fixture=fixture
        )

    def _confidence(self, tool: str) -> float:
        """In an answer that was recorded in the same situation: episodes may begin in different states."""
        if self._agreement is None:
            self._agreement = Agreement(
                ((key, held.scopes, held.history, _likeness(held.fixture, Client())), held.fixture)
                for key, group in self._held.items()
                for held in group
                if held.fixture.is_call
            )
        return self._agreement.share(tool)

    def observe(self, fixture: Fixture, state: State) -> State:
        """The state after a call that was really answered so, whatever would have been rehearsed."""
        after = self.after(fixture, state)
        if fixture.result.is_error:
            return after
        if self.histories.changes(fixture.call):
            return self.advance(state, after, fixture.call).tick()
        rule = self._dynamics.tools.get(fixture.call.name)
        after = amend(fixture.result.value(), rule, self._dynamics, after)
        return after if after is state else after.replace(version=state.version + 1)

    def after(self, fixture: Fixture, state: State) -> State:
        """The state after a recorded call: what its rule changes, corrected by what its recorded answer shows."""
        if fixture.result.is_error:
            return state
        call = fixture.call
        return self._observer.after(
            self._tools[call.name], call.arguments, fixture.result.value(), state, Random(call_digest(call))
        )

    def _key(self, method: str, call: ToolCall) -> str:
        return self._matching.key(method, _params(method, call), call.inputs)

    def _essence(self, method: str, call: ToolCall) -> Json:
        essence = self._matching.essence(method, _params(method, call))
        return essence.get("arguments") if method == TOOL_CALL else essence

    def finds(self, call: ToolCall, state: State) -> bool:
        """Whether the rule of the tool has all that it needs in `state`, and succeeds."""
        answer = self._run(call, state)
        return answer is not None and answer.error is None

    def has_lost(self, call: ToolCall, state: State) -> bool:
        """Whether something that the call needs was there in `state`, and is not any more."""
        needs = self._interpreter.needs(self._tools[call.name], call.arguments, state)
        return any(state.collection(need.collection).was_removed(need.key) for need in needs)

    def _run(self, call: ToolCall, state: State, minted: Json = None) -> Answer | None:
        """What the rules say of a recorded call; nothing where they cannot be computed on what was recorded."""
        try:
            return self._interpreter.run(
                self._tools[call.name], call.arguments, state, Random(call_digest(call)), minted=minted
            )
        except DynamicsError:
            return None

    def _run_again(self, fixture: Fixture, state: State) -> Answer | None:
        """The same, naming what the call made as the real server did."""
        rule = self._dynamics.tools.get(fixture.call.name)
        minted = None if fixture.result.is_error else minted_key(rule, self._dynamics, fixture.result.value())
        return self._run(fixture.call, state, minted)


def place_of(fixture: Fixture) -> str:
    """Where a fixture is found in the recordings, in words."""
    return f"call {fixture.position + 1} of recording {fixture.episode!r}"


def _params(method: str, call: ToolCall) -> Mapping[str, Json]:
    return {"name": call.name, "arguments": call.arguments} if method == TOOL_CALL else call.arguments


def _likeness(fixture: Fixture, client: Client | None) -> int:
    return 0 if client is None or fixture.call.client is None else fixture.call.client.likeness(client)


def _nearest(fixtures: Sequence[Fixture], client: Client | None) -> Fixture | None:
    return max(fixtures, key=lambda fixture: _likeness(fixture, client), default=None)
