"""Which examples to search on: few, and as different as can be."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from envace_sdk.json import Json

from .column import value_key

__all__ = ["SAMPLE", "sample", "spread"]

SAMPLE = 20


def spread(scopes: Sequence[Mapping[str, Any]], size: int = SAMPLE) -> list[int]:
    """Rows by which names they know, taken in turns, then from all over."""
    return _in_turns([_shape(scope) for scope in scopes], size)


def sample(scopes: Sequence[Mapping[str, Any]], targets: Sequence[Json], size: int = SAMPLE) -> list[int]:
    """Rows by what their targets are and which names they know, taken in turns."""
    return _in_turns([(value_key(target), _shape(scope)) for scope, target in zip(scopes, targets, strict=True)], size)


def _in_turns(kinds: Sequence[Hashable], size: int) -> list[int]:
    if len(kinds) <= size:
        return list(range(len(kinds)))
    groups: dict[Hashable, list[int]] = {}
    for row, kind in enumerate(kinds):
        groups.setdefault(kind, []).append(row)
    waiting = list(groups.values())
    if len(waiting) > size:
        waiting = [waiting[place * len(waiting) // size] for place in range(size)]
    share = -(-size // len(waiting))
    queues = [[rows[place * len(rows) // share] for place in range(min(share, len(rows)))] for rows in waiting]
    chosen: dict[int, None] = {}
    for turn in range(share):
        chosen.update(dict.fromkeys(queue[turn] for queue in queues if turn < len(queue)))
    # Small kinds leave room.
    rest = [row for row in range(len(kinds)) if row not in chosen]
    room = max(size - len(chosen), 0)
    chosen.update(dict.fromkeys(rest[place * len(rest) // room] for place in range(min(room, len(rest)))))
    return sorted(list(chosen)[:size])


def _shape(scope: Mapping[str, Any]) -> Hashable:
    """Which members the values of the scope have, and which are null."""
    return tuple(
        (name, tuple(sorted(key for key, item in value.items() if item is not None)))
        if isinstance(value, dict)
        else (name, value is None)
        for name, value in scope.items()
    )
