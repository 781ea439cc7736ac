"""Scopes as a table: one row per scope, one column per path that any of them has.

A set of rows is an integer with one bit per row: unions and intersections of hundreds of rows are then one operation,
and `bit_count` counts them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property

from envace_sdk.json import UNSET, Json

from ...clock import parse_time
from ...index import value_key
from ...infer.cel import member

__all__ = ["Column", "Table", "packed", "unpacked"]

MAX_COLUMNS = 80
MAX_DEPTH = 5
MAX_NAMES = 40
"""An object with more different names than this is a map, whose names are data."""
_ROOTS = {"known": 0, "entity": 1, "args": 2, "session": 3}
_DIGITS = b"01".ljust(256, b"1")
"""Translates truth into the digits of a binary number."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def packed(truth: Iterable[bool]) -> int:
    """The set of rows for which it is true."""
    return int(b"0" + bytes(truth).translate(_DIGITS)[::-1], 2)


def unpacked(rows: int, count: int) -> list[bool]:
    """Row by row, whether it is in the set."""
    return [digit == "1" for digit in f"{rows:0{count}b}"[::-1]]


class Column:
    """The values at one path, `UNSET` in rows that have nothing there."""

    def __init__(self, path: tuple[str, ...], values: list[Json], source: str = "") -> None:
        self.path = path
        self.values = values
        self.source = source or member(path[0], path[1:])
        self.kinds = frozenset(_kind(value) for value in values)
        self.optional = "absent" in self.kinds
        self.nullable = "null" in self.kinds
        self.kind = next(iter(self.kinds - {"absent", "null"}), "null") if self._pure else "mixed"
        """The type of all values that are there."""
        self.words = frozenset(word.lower() for word in _WORD.findall(path[-1]))
        self.cost = 0 if path[0] == "known" or len(path) == 1 else 1 + (len(path) > 3)
        if source:
            self.cost += 2

    @property
    def _pure(self) -> bool:
        return len(self.kinds - {"absent", "null"}) <= 1

    @property
    def solid(self) -> bool:
        """Whether every row has a value other than null."""
        return not (self.optional or self.nullable)

    @property
    def plain(self) -> str:
        """The value, null where it is absent."""
        return f"default({self.source}, null)" if self.optional else self.source

    def value(self, otherwise: str) -> str:
        """The value, or something else where it is absent or null."""
        return self.source if self.solid else f"default({self.source}, {otherwise})"

    @property
    def given(self) -> str:
        """The condition that there is a value other than null; "" where there always is."""
        if self.solid:
            return ""
        if not self.optional:
            return f"{self.source} != null"
        return f"default({self.source}, null) != null" if self.nullable else f"has({self.source})"

    @cached_property
    def keys(self) -> list[Hashable]:
        """Values that are equal for equal JSON values; of what is absent, as of null."""
        return [value_key(value) for value in self.values]

    @cached_property
    def present(self) -> int:
        """Rows with a value other than null."""
        return packed(value is not None and value is not UNSET for value in self.values)

    @cached_property
    def exists(self) -> int:
        """Rows with a value, or null."""
        return packed(value is not UNSET for value in self.values)

    @cached_property
    def numbers(self) -> list[float]:
        """The numbers, NaN where there is none: no comparison holds for it."""
        return [math.nan if value is None or value is UNSET else value for value in self.values]

    @cached_property
    def texts(self) -> list[str]:
        """The texts, "" where there is none."""
        return [value if isinstance(value, str) else "" for value in self.values]

    @cached_property
    def times(self) -> list[float] | None:
        """The moments, if all texts that are there are times."""
        if self.kind != "text" or not self.present:
            return None
        moments = []
        for value in self.values:
            found = parse_time(value) if isinstance(value, str) and 10 <= len(value) <= 40 else None
            if found is None and isinstance(value, str):
                return None
            moments.append(math.nan if found is None else found.timestamp())
        return moments

    @cached_property
    def holders(self) -> dict[Hashable, int]:
        """The rows that have each value, in the order of first appearance; without null and absent."""
        places: dict[Hashable, list[int]] = {}
        for place, key in enumerate(self.keys):
            if key is not None:
                places.setdefault(key, []).append(place)
        return {key: sum(1 << place for place in found) for key, found in places.items()}

    @cached_property
    def counts(self) -> dict[Hashable, int]:
        """How many rows have each value."""
        return {key: rows.bit_count() for key, rows in self.holders.items()}

    @cached_property
    def examples(self) -> dict[Hashable, Json]:
        """By key, the value that was met first."""
        return dict(zip(reversed(self.keys), reversed(self.values), strict=True))

    @cached_property
    def is_enum(self) -> bool:
        """Whether the values are few and come again and again."""
        total = sum(self.counts.values())
        return self.kind in {"text", "number", "mixed"} and len(self.counts) <= 12 and 2 * len(self.counts) <= total


def _kind(value: Json) -> str:
    if value is UNSET:
        return "absent"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list) else "object"


class Table:
    """Rows and columns; what is absent in most rows has no column where there are too many."""

    def __init__(self, rows: Sequence[Mapping[str, Json]]) -> None:
        self.rows = list(rows)
        self.all = (1 << len(self.rows)) - 1

    @cached_property
    def columns(self) -> list[Column]:
        """The columns: known things first, then those of the entity, the arguments, the session and the rest."""
        found: dict[tuple[str, ...], list[Json]] = {}
        names = sorted({name for row in self.rows for name in row}, key=lambda name: (_ROOTS.get(name, 9), name))
        for name in names:
            self._collect((name,), [row.get(name, UNSET) for row in self.rows], found)
        paths = list(found)
        if len(paths) > MAX_COLUMNS:
            seen = {path: sum(value is not UNSET for value in found[path]) for path in paths}
            kept = set(sorted(paths, key=lambda path: (len(path) > 1, -seen[path], paths.index(path)))[:MAX_COLUMNS])
            paths = [path for path in paths if path in kept]
        return [Column(path, found[path]) for path in paths]

    def _collect(self, path: tuple[str, ...], values: list[Json], found: dict[tuple[str, ...], list[Json]]) -> None:
        found[path] = values
        if len(path) >= MAX_DEPTH or len(found) > 4 * MAX_COLUMNS:
            return
        names: dict[str, None] = {}
        for value in values:
            if isinstance(value, dict):
                names.update(dict.fromkeys(value))
        if len(names) > MAX_NAMES:
            return
        for name in names:
            below = [value.get(name, UNSET) if isinstance(value, dict) else UNSET for value in values]
            if all(isinstance(value, dict) or value is None or value is UNSET for value in values):
                self._collect((*path, name), below, found)
