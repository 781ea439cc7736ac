"""What the rules make of recorded calls: the world before each, and how often they answer as was recorded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall
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
        run: what the rules say of a call.
    """

    def __init__(
        self,
        fixtures: Sequence[Fixture],
        tools: Collection[str],
        start: State,
        *,
        after: Callable[[Fixture, State], State],
        run: Callable[[ToolCall, State], Answer | None],
    ) -> None:
        self.fixtures = tuple(fixture for fixture in fixtures if fixture.is_call and fixture.call.name in tools)
        self.after = after
        self._start = start
        self._run = run
        self._shares: dict[str, float | None] = {}

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

    def _tried(self, tool: str) -> float | None:
        recorded = [fixture for fixture in self.fixtures if fixture.call.name == tool]
        size = len(recorded)
        if size < _LEAST_TRIED:
            return None
        chosen = recorded if size <= _MOST_TRIED else [recorded[n * size // _MOST_TRIED] for n in range(_MOST_TRIED)]
        return sum(_agrees(self._run(f.call, self.states[id(f)]), f) for f in chosen) / len(chosen)


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
