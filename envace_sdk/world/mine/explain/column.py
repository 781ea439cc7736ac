"""Columns: the values of one expression in all examples."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import datetime, timedelta
from enum import Enum
from operator import itemgetter
from typing import Any, Final, Literal, TypeAlias

from envace_sdk.json import UNSET

from ...expressions.values import to_json_like

__all__ = ["FAILED", "Column", "Kind", "column_key", "kind_of", "places_of", "taking", "value_key"]


class _Failed(Enum):
    FAILED = "failed"

    # Enum hashes its members' names anew each time.
    __hash__ = object.__hash__


FAILED: Final = _Failed.FAILED
"""The value of an expression that cannot be computed for another reason than that something is absent."""

Column: TypeAlias = tuple[Any, ...]
"""A value per row: JSON, a time, a duration, `UNSET` where something is absent, or `FAILED`."""

Kind = Literal["text", "number", "boolean", "list", "object", "time", "nothing", "mixed"]

_KINDS: dict[type, Kind] = {
    str: "text",
    int: "number",
    float: "number",
    bool: "boolean",
    list: "list",
    dict: "object",
    datetime: "time",
}
_NO_KIND: Final = {type(None), type(UNSET), type(FAILED)}
_TRUE, _FALSE = ("true",), ("false",)
_OWN_KEYS: Final = frozenset({str, int, float, type(None), type(UNSET), type(FAILED), datetime})
"""Types of values that are keys themselves."""
_WRITTEN: Final = json.JSONEncoder(sort_keys=True, default=to_json_like).encode
"""Times that a scope puts into a list or an object are the text that they become in a document."""


def value_key(value: Any) -> Hashable:
    """Hashable, and equal for equal values only: 2 is 2.0, true is not 1, null is not absence."""
    kind = type(value)
    if kind is str or kind is int or value is None:
        return value  # type: ignore[no-any-return]
    if value is True:
        return _TRUE
    if value is False:
        return _FALSE
    if isinstance(value, list | dict):
        text = _WRITTEN(value)
        # Whole numbers may be written in two ways.
        return ("json", _WRITTEN(_plain(value)) if ".0" in text or "e+" in text else text)
    if isinstance(value, timedelta):
        return ("duration", value)
    return value  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


def column_key(column: Iterable[Any]) -> tuple[Hashable, ...]:
    """Equal for columns whose values are equal in every row."""
    return tuple([value if type(value) in _OWN_KEYS else value_key(value) for value in column])


def places_of(key: Sequence[Hashable]) -> dict[Hashable, int]:
    """For each key of a value, the rows that it stands in: a bit each."""
    found: dict[Hashable, int] = {}
    for row, value in enumerate(key):
        found[value] = found.get(value, 0) | 1 << row
    return found


def taking(rows: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """What takes some of the rows of a column."""
    if len(rows) > 1:
        return itemgetter(*rows)
    return lambda column: tuple([column[row] for row in rows])


def kind_of(column: Iterable[Any]) -> Kind:
    """What the values have in common; null, absent and failed ones do not count."""
    kinds = {_KINDS.get(kind, "mixed") for kind in set(map(type, column)) - _NO_KIND}
    return kinds.pop() if len(kinds) == 1 else "mixed" if kinds else "nothing"
