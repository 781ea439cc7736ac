"""What the rules make of recorded calls: the world before each, and how often they answer as was recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.world.interpret import Answer
from envace_sdk.world.state import State

__all__ = ["Replayed"]

_MOST_TRIED = 100
_LEAST_TRIED = 3


class Replayed:
    """Recorded episodes, played from one state; each when it is first asked for.

    Args:
        fixtures: recorded calls.
        tools: the names of the toolset's tools; calls of others are left out.
        start: the state that every episode is taken to begin in.
        after: the state after a recorded call.
        run: what the rules say of a recorded call.
    """

    def __init__(
        self,
        fixtures: Sequence[Fixture],
        tools: Collection[str],
        start: State,
        *,
        after: Callable[[Fixture, State], State],
        run: Callable[[Fixture, State], Answer | None],
    ) -> None:
        self.fixtures = tuple(fixture for fixture in fixtures if fixture.is_call and fixture.call.name in tools)
        self.after = after
        self._start = start
        self._run = run
        self._shares: dict[str, float | None] = {}
        self._in_full: dict[str, float | None] = {}
        self._shown: dict[str, frozenset[str]] = {}

    @cached_property
    def states(self) -> Mapping[int, State]:
        """By the identity of a fixture, the world before it, as far as the rules and the answers tell."""
        episodes: dict[str, list[Fixture]] = {}
        for fixture in self.fixtures:
            episodes.setdefault(fixture.episode, []).append(fixture)
        found: dict[int, State] = {}
        for episode in episodes.values():
            state = self._start
            for fixture in sorted(episode, key=lambda each: each.position):
                found[id(fixture)] = state
                state = self.after(fixture, state)
        return found

    def proven(self, tool: str) -> float | None:
        """The share of recorded calls that the tool's rule answers as recorded; None where too few are recorded."""
        if tool not in self._shares:
            self._shares[tool] = self._tried(tool)
        return self._shares[tool]

    def answers(self, fixture: Fixture, state: State) -> bool:
        """Whether the rule of the tool answers a call in full: with all that every recorded success shows."""
        answer = self._run(fixture, state)
        if answer is None or answer.error is not None:
            return False
        return not isinstance(answer.value, dict) or self._always_shown(fixture.call.name) <= answer.value.keys()

    def proven_in_full(self, tool: str) -> float | None:
        """Of the recorded calls that the tool's rule answers in full, the share that it answers as recorded."""
        if tool not in self._in_full:
            answered = [f for f in self._chosen(tool) if self.answers(f, self.states[id(f)])]
            right = sum(_agrees(self._run(f, self.states[id(f)]), f) for f in answered)
            self._in_full[tool] = right / len(answered) if len(answered) >= _LEAST_TRIED else None
        return self._in_full[tool]

    def tried(self, tool: str) -> Iterator[tuple[Fixture, State, Answer | None]]:
        """Recorded calls of a tool, the world before each, and what the tool's rule answers."""
        for fixture in self._chosen(tool):
            state = self.states[id(fixture)]
            yield fixture, state, self._run(fixture, state)

    def _always_shown(self, tool: str) -> frozenset[str]:
        """The members that all recorded successes of a tool have."""
        if tool not in self._shown:
            values = [f.result.value() for f in self._chosen(tool) if not f.result.is_error]
            members = [frozenset(value) for value in values if isinstance(value, dict)]
            self._shown[tool] = frozenset.intersection(*members) if members else frozenset()
        return self._shown[tool]

    def _chosen(self, tool: str) -> list[Fixture]:
        """The recorded calls of a tool, or some from everywhere among them."""
        recorded = [fixture for fixture in self.fixtures if fixture.call.name == tool]
        size = len(recorded)
        return recorded if size <= _MOST_TRIED else [recorded[n * size // _MOST_TRIED] for n in range(_MOST_TRIED)]

    def _tried(self, tool: str) -> float | None:
        chosen = self._chosen(tool)
        if len(chosen) < _LEAST_TRIED:
            return None
        return sum(_agrees(self._run(f, self.states[id(f)]), f) for f in chosen) / len(chosen)


def _agrees(answer: Answer | None, fixture: Fixture) -> bool:
    if answer is None or (answer.error is not None) != fixture.result.is_error:
        return False
    if answer.error is not None:
        return answer.error == fixture.result.first_text
    return _holds(answer.value, fixture.result.value())


def _holds(known: Json, recorded: Json) -> bool:
    """Whether the recorded answer says what is known, and maybe more."""
    if isinstance(known, dict) and isinstance(recorded, dict):
        return all(name in recorded and _holds(part, recorded[name]) for name, part in known.items())
    if isinstance(known, list) and isinstance(recorded, list):
        return len(known) == len(recorded) and all(map(_holds, known, recorded))
    return bool(known == recorded)
