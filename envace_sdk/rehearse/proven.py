"""How often a tool's rule answers what was recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.interpret import Answer
from envace_sdk.world.state import State

__all__ = ["Proven"]

_MOST_TRIED = 100
_LEAST_TRIED = 3


class Proven:
    """Plays rules on the recorded calls, each in the state it was recorded in; found when first asked for.

    Args:
        fixtures: recorded calls.
        states: by the identity of a fixture, the state before it.
        run: what the rules say of a call.
    """

    def __init__(
        self,
        fixtures: Sequence[Fixture],
        states: Mapping[int, State],
        run: Callable[[ToolCall, State], Answer | None],
    ) -> None:
        self._fixtures = fixtures
        self._states = states
        self._run = run
        self._shares: dict[str, float | None] = {}

    def share(self, tool: str) -> float | None:
        """The share of recorded calls that the tool's rule answers as recorded; None where too few are recorded."""
        if tool not in self._shares:
            self._shares[tool] = self._tried(tool)
        return self._shares[tool]

    def _tried(self, tool: str) -> float | None:
        recorded = [
            fixture
            for fixture in self._fixtures
            if fixture.is_call and fixture.call.name == tool and id(fixture) in self._states
        ]
        size = len(recorded)
        if size < _LEAST_TRIED:
            return None
        chosen = recorded if size <= _MOST_TRIED else [recorded[n * size // _MOST_TRIED] for n in range(_MOST_TRIED)]
        return sum(_agrees(self._run(f.call, self._states[id(f)]), f) for f in chosen) / len(chosen)


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
