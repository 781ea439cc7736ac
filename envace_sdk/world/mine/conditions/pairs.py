"""Tests of two paths: equality, and membership of one in what the other holds."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from envace_sdk.json import UNSET, Json

from ...index import value_key
from ...infer.cel import member
from .atoms import Atom, both
from .columns import Column, Table, packed, unpacked
from .single import MAX_CONSTANT, constant

__all__ = ["Holder", "equal_pair_atoms", "holders", "member_atoms", "subset_atoms"]

MAX_PAIRED = 60
MAX_MEMBERS = 1000
"""Elements of a list that are looked at."""
MAX_FIELDS = 8
MAX_ALLOWED = 12
_SCALARS = {"text", "number", "mixed"}


def equal_pair_atoms(table: Table) -> Iterator[Atom]:
    """`path == path`, of paths that hold values of the same type."""
    columns = [column for column in table.columns if column.kind != "null" and len(column.path) > 1][:MAX_PAIRED]
    for one, two in combinations(columns, 2):
        if not _same_sort(one, two):
            continue
        left, right = (two, one) if two.path[0] == "args" != one.path[0] else (one, two)
        rows = packed(map(operator.eq, left.keys, right.keys))
        if rows in {0, table.all}:
            continue
        there = left.exists & right.exists
        cost = 2 + left.cost + right.cost - bool(left.words & right.words) + (left.kind == "bool")
        # Two things that are both absent are hardly meant to be equal.
        spare = 2 if ~(left.present | right.present) & table.all else 0
        sources = f"{left.plain} == {right.plain}", f"{left.plain} != {right.plain}"
        bare = f"{left.source} == {right.source}", f"{left.source} != {right.source}"
        yield from both(table.all, *sources, rows, cost + spare, bare=bare, there=there, spare=spare)


def _same_sort(left: Column, right: Column) -> bool:
    if left.path[: len(right.path)] == right.path or right.path[: len(left.path)] == left.path:
        return False
    return left.kind == right.kind or "mixed" in {left.kind, right.kind}


@dataclass(frozen=True)
class Holder:
    """Something that holds scalars: a list, the names of an object, one field of a list of objects."""

    column: Column
    sets: list[frozenset[Hashable]]
    field: str | None = None
    optional: bool = False

    def source(self, item: str) -> str:
        """The test that it holds something."""
        held = self.column.value("{}" if self.column.kind == "object" else "[]")
        if self.field is None:
            return f"{item} in {held}"
        place = member("i", [self.field])
        return f"{held}.exists(i, {f'default({place}, null)' if self.optional else place} == {item})"

    @property
    def cost(self) -> int:
        """What it costs."""
        return self.column.cost + (2 if self.field is not None else 0)


def holders(table: Table) -> Iterator[Holder]:
    """Lists, and objects as sets of names."""
    for column in table.columns:
        if column.kind == "object" and column.path[-1] != "args" and len(column.path) > 1:
            yield Holder(column, [frozenset(value) if isinstance(value, dict) else _NONE for value in column.values])
        elif column.kind == "list":
            lists = [value[:MAX_MEMBERS] if isinstance(value, list) else [] for value in column.values]
            yield Holder(column, [frozenset(map(value_key, filter(_scalar, items))) for items in lists])
            yield from _fields(column, lists)


_NONE: frozenset[Hashable] = frozenset()


def _scalar(value: Json) -> bool:
    return value is not None and value is not UNSET and not isinstance(value, list | dict)


def _fields(column: Column, lists: list[list[Json]]) -> Iterator[Holder]:
    items = [item for values in lists for item in values]
    if not items or not all(isinstance(item, dict) for item in items):
        return
    names: dict[str, int] = {}
    for item in items:
        for name in item:
            names[name] = names.get(name, 0) + 1
    for name in list(names)[:MAX_FIELDS]:
        sets = [
            frozenset(value_key(item[name]) for item in values if _scalar(item.get(name, UNSET))) for values in lists
        ]
        yield Holder(column, sets, name, names[name] < len(items))


def member_atoms(table: Table) -> Iterator[Atom]:
    """`path in list`, `constant in list`, and the same of a field of the list's objects."""
    for holder in holders(table):
        if not any(holder.sets):
            continue
        for column in table.columns:
            is_text = column.kind == "text"
            if column.kind not in _SCALARS or (holder.column.kind == "object" and not is_text):
                continue
            present = column.present
            rows = packed(map(_holds, holder.sets, column.keys)) & present
            item = column.plain
            cost = 2 + holder.cost + column.cost
            source = holder.source(item)
            yield from both(table.all, source, f"!({source})", rows, cost)
        yield from _constants(table, holder)


def _holds(held: frozenset[Hashable], key: Hashable) -> bool:
    return key in held


def _constants(table: Table, holder: Holder) -> Iterator[Atom]:
    counts: dict[str | float, int] = {}
    for held in holder.sets:
        for key in held:
            if isinstance(key, str | int | float) and len(str(key)) <= MAX_CONSTANT:
                counts[key] = counts.get(key, 0) + 1
    repeated = sorted(((-n, str(key), isinstance(key, str)), key) for key, n in counts.items() if n >= 2)
    for _, key in repeated[:MAX_FIELDS]:
        rows = packed(key in held for held in holder.sets)
        source = holder.source(constant(key))
        yield from both(table.all, source, f"!({source})", rows, 4 + holder.cost)


def subset_atoms(table: Table, found: list[Holder], yes: int, no: int) -> Iterator[Atom]:
    """`list.all(i, i in [constants])`: nothing is in it but what one of the sides has."""
    for holder in found:
        if holder.field is not None:
            continue
        held = holder.column.value("{}" if holder.column.kind == "object" else "[]")
        for side in (yes, no):
            allowed = _often(holder, unpacked(side, len(table.rows)))
            if not 2 <= len(allowed) <= MAX_ALLOWED:
                continue
            rows = packed(members <= allowed.keys() for members in holder.sets)
            listed = ", ".join(constant(key) for key in sorted(allowed, key=lambda key: (isinstance(key, str), key)))
            source = f"{held}.all(i, i in [{listed}])"
            yield from both(table.all, source, f"!{source}", rows, 2 + holder.cost + len(allowed))


def _often(holder: Holder, side: Sequence[bool]) -> dict[str | float, int]:
    """What the rows of one side hold, if each is held by two of them at least."""
    counts: dict[str | float, int] = {}
    for held, inside in zip(holder.sets, side, strict=True):
        for key in held if inside else ():
            if not isinstance(key, str | int | float) or len(str(key)) > MAX_CONSTANT:
                return {}
            counts[key] = counts.get(key, 0) + 1
            if len(counts) > MAX_ALLOWED:
                return {}
    return counts if all(count > 1 for count in counts.values()) else {}
