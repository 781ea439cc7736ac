"""Which examples to search on: few, and as different as can be."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from envace_sdk.json import Json

from .column import value_key

__all__ = ["sample"]

SAMPLE = 20


def sample(scopes: Sequence[Mapping[str, Any]], targets: Sequence[Json], most: int = SAMPLE) -> list[int]:
    """Rows by what their targets are and which names they know, taken in turns, then from all over."""
    if len(scopes) <= most:
        return list(range(len(scopes)))
    groups: dict[Hashable, list[int]] = {}
    for row, (scope, target) in enumerate(zip(scopes, targets, strict=True)):
        groups.setdefault((value_key(target), _shape(scope)), []).append(row)
    chosen: list[int] = []
    waiting = list(groups.values())
    if len(waiting) > most:
        waiting = [waiting[place * len(waiting) // most] for place in range(most)]
    turn = 0
    while len(chosen) < most and waiting:
        chosen.extend(rows[(turn * 7) % len(rows)] for rows in waiting if turn < len(rows))
        waiting = [rows for rows in waiting if len(rows) > turn + 1]
        turn += 1
    return sorted(dict.fromkeys(chosen))[:most]


def _shape(scope: Mapping[str, Any]) -> Hashable:
    """Which members the values of the scope have, and which are null."""
    return tuple(
        (
            name,
            tuple(key for key, item in value.items() if item is not None) if isinstance(value, dict) else value is None,
        )
        for name, value in scope.items()
    )
