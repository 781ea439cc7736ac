"""How much the targets say, and how much an expression claims: small numbers and truth values match by chance."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from typing import Any

from envace_sdk.json import UNSET, Json

from .column import column_key
from .term import Term

__all__ = ["PER_COST", "SLACK", "complexity", "distinctive", "evidence", "information", "signatures", "support"]

_MOST = 36.0
_MOST_MEMBERS = 5_000
PER_COST = 2.5
"""Bits that each part of an expression claims."""
SLACK = 2.0
"""Bits that may be wanting."""


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


def evidence(told_apart: Sequence[Hashable], targets: Sequence[Json]) -> float:
    """Bits that the targets carry together. An example that repeats another one says nothing new.

    Args:
        told_apart: the signatures of the examples' scopes.
        targets: their targets.
    """
    seen: set[Hashable] = set()
    values: set[Hashable] = set()
    keys = column_key(targets)
    more = math.log2(1 + len(set(keys)))
    total = 0.0
    for signature, key, target in zip(told_apart, keys, targets, strict=True):
        if (signature, key) in seen:
            continue
        seen.add((signature, key))
        bits = information(target)
        total += min(bits, more) if key in values else bits
        values.add(key)
    return total


def signatures(scopes: Sequence[Mapping[str, Any]]) -> list[Hashable]:
    """What tells the scopes apart, besides the time, as far as it lies at hand."""
    return [tuple(_at_hand(name, value) for name, value in scope.items() if name != "now") for scope in scopes]


def _at_hand(name: str, value: Json) -> Hashable:
    if isinstance(value, dict):
        return name, tuple((member, _brief(item)) for member, item in islice(value.items(), _MOST_MEMBERS))
    return name, _brief(value)


def _brief(value: Json) -> Hashable:
    kind = type(value)
    if kind is list or kind is dict:
        return len(value)
    return ("true" if value else "false",) if kind is bool else value


def support(scopes: Sequence[Mapping[str, Any]], targets: Sequence[Json]) -> int:
    """How many examples differ from each other."""
    return len(set(zip(signatures(scopes), column_key(targets), strict=True)))


def complexity(term: Term) -> float:
    """Bits that an expression claims."""
    return PER_COST * term.cost + term.fitted
