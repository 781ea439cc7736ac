"""Values that a tool always refused: too few different ones for a condition, and too often for chance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from envace_sdk.json import Json
from envace_sdk.world.infer.cel import literal, member

from .failures import Failure, known_values
from .moments import Moment

__all__ = ["not_refused"]

_OFTEN: Final = 3
"""Calls that must have been refused for one value."""
_EPISODES: Final = 2
"""Episodes that they must be from."""
_MOST: Final = 6
"""More values than these are no list that code would hold."""
_LONGEST: Final = 200


def not_refused(failure: Failure, moments: Sequence[Moment]) -> str:
    """The condition that a call names no value for which each call was refused in this way; "" where there is none.

    Such a value says so by itself, whatever things there are; of several arguments it is the one that accounts for most
    of the refusals, by the fewest values.
    """
    told = [(moment, known_values(moment.step)) for moment in moments]
    paths = sorted({path for moment, values in told if moment.failure is failure for path in values})
    best: tuple[tuple[int, int, str], list[Json]] | None = None
    for path in paths:
        values = list(_refused(path, failure, told))
        if values and len(values) <= _MOST:
            count = sum(held.get(path) in values for _, held in told)
            key = (-count, len(values), path)
            if best is None or key < best[0]:
                best = key, values
    if best is None:
        return ""
    (_, _, path), values = best
    steps = path.split(".")[1:]
    place = member("args", steps)
    given = place if all(path in held for _, held in told) else f"default({place}, null)"
    if len(values) == 1:
        return f"{given} != {literal(values[0])}"
    return f"!({given} in [{', '.join(map(literal, values))}])"


def _refused(path: str, failure: Failure, told: Iterable[tuple[Moment, Mapping[str, Json]]]) -> Iterable[str]:
    """The values at a path that no call passed with, nor failed in another way, though several tried."""
    episodes: dict[str, list[str]] = {}
    passed: set[str] = set()
    for moment, held in told:
        value = held.get(path)
        if not isinstance(value, str) or not value or len(value) > _LONGEST:
            continue
        if moment.failure is failure:
            episodes.setdefault(value, []).append(moment.step.episode)
        else:
            passed.add(value)
    for value, seen in sorted(episodes.items()):
        if value not in passed and len(seen) >= _OFTEN and len(set(seen)) >= _EPISODES:
            yield value
