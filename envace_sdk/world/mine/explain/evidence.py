"""How much the targets say, and how much an expression claims: small numbers and truth values match by chance."""

from __future__ import annotations

import math
from collections.abc import Hashable

from envace_sdk.json import UNSET, Json

from .goal import Goal
from .paths import paths
from .table import Table
from .term import Term

__all__ = ["complexity", "distinctive", "evidence", "information"]

_MOST = 36.0
_PER_COST = 3.0


def information(value: Json) -> float:
    """Bits that a value carries: how unlikely it is to be met by chance."""
    if value is None or value is UNSET or isinstance(value, bool):
        return 1.0
    if isinstance(value, str):
        return min(1.0 + 3.0 * len(value), _MOST)
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return min(1.5 + math.log2(1 + abs(value)), _MOST)
    if isinstance(value, float):
        digits = repr(abs(value)).replace(".", "").strip("0")
        return min(1.5 + 3.3 * len(digits), _MOST)
    total = 1.5
    for item in value.values() if isinstance(value, dict) else value:
        total += information(item)
        if total > _MOST:
            return _MOST
    return total


def distinctive(value: Json) -> bool:
    """Whether a value is so particular that where it is met twice, it was copied."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return abs(value) >= 100
    if isinstance(value, float):
        return not value.is_integer() or abs(value) >= 100
    return information(value) >= 13.0


def evidence(table: Table, goal: Goal) -> float:
    """Bits that the targets carry together. A row that repeats another one says nothing new."""
    seen: set[Hashable] = set()
    values: set[Hashable] = set()
    more = math.log2(1 + goal.distinct)
    total = 0.0
    for row, signature in enumerate(signatures(table)):
        key = goal.key[row]
        if (signature, key) in seen:
            continue
        seen.add((signature, key))
        bits = information(goal.column[row])
        total += min(bits, more) if key in values else bits
        values.add(key)
    return total


def signatures(table: Table) -> list[Hashable]:
    """What tells the rows apart, besides the time."""
    found: list[Hashable] = table.fact("signatures", _signatures)
    return found


def _signatures(table: Table) -> list[Hashable]:
    keys = [term.key for term in paths(table) if term.source != "now" and term.kind not in {"object", "list"}]
    return list(zip(*keys, strict=True)) if keys else [()] * table.size


def support(table: Table, goal: Goal) -> int:
    """How many rows differ from each other."""
    return len(set(zip(signatures(table), goal.key, strict=True)))


def complexity(term: Term) -> float:
    """Bits that an expression claims."""
    return _PER_COST * term.cost + term.fitted
