"""The recorded calls that are most like a call."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall

__all__ = ["Nearest"]

_MOST: Final = 500
"""Recorded calls of one tool that are compared."""
_LONGEST: Final = 200
"""Characters of a text that are compared."""


class Nearest:
    """Finds recorded calls of the same tool by the similarity of their arguments.

    Arguments of the same name are compared: equal values count fully, texts by their edit similarity (rapidfuzz).

    Args:
        fixtures: what was recorded; requests that call no tool are left out.
    """

    def __init__(self, fixtures: Iterable[Fixture]) -> None:
        self._by_tool: dict[str, list[Fixture]] = {}
        for fixture in fixtures:
            if fixture.is_call:
                held = self._by_tool.setdefault(fixture.call.name, [])
                if len(held) < _MOST:
                    held.append(fixture)

    def find(self, call: ToolCall, count: int, *, without: str | None = None) -> Sequence[Fixture]:
        """The recorded calls most like this one, most alike first; of equals, the one that was recorded first.

        An error stands among them where there is one at all, so that whoever is shown them sees how the tool refuses.
        `without` names an episode whose calls are passed over.
        """
        held = [fixture for fixture in self._by_tool.get(call.name, []) if fixture.episode != without]
        if not held or count < 1:
            return ()
        scored = [(-_likeness(call.arguments, f.call.arguments), n, f) for n, f in enumerate(held)]
        found = [fixture for _, _, fixture in heapq.nsmallest(count, scored)]
        if count > 1 and not any(fixture.result.is_error for fixture in found):
            errors = [entry for entry in scored if entry[2].result.is_error]
            if errors:
                found[-1] = min(errors)[2]
        return found


def _likeness(one: Mapping[str, Json], other: Mapping[str, Json]) -> float:
    names = one.keys() | other.keys()
    if not names:
        return 1.0
    return sum(_alike(one[name], other[name]) for name in one.keys() & other.keys()) / len(names)


def _alike(one: Json, other: Json) -> float:
    if one == other:
        return 1.0
    if isinstance(one, str) and isinstance(other, str):
        from rapidfuzz.distance import Indel  # loaded where there is a model to be shown what was recorded

        # Of different values even nearly equal ones are only so good: an id that differs in a digit is another.
        return 0.5 * Indel.normalized_similarity(one[:_LONGEST], other[:_LONGEST])
    return 0.25 if type(one) is type(other) else 0.0
