"""Tests of one path: presence, truth, equality with constants, membership of constants, and the like."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from envace_sdk.json import UNSET, Json

from ...infer.cel import literal, text
from .atoms import Atom, both, guarded
from .columns import Column, Table, packed

__all__ = ["constant", "equality_atoms", "presence_atoms", "set_atoms"]

MAX_CONSTANTS = 12
MAX_SET = 8
MAX_CONSTANT = 60
"""Characters of a text that may stand in a condition."""


def constant(value: Json) -> str:
    """A scalar as CEL."""
    return text(value) if isinstance(value, str) else literal(value)


def presence_atoms(table: Table) -> list[Atom]:
    """Whether something is there, is null, is true, is empty."""
    found: list[Atom] = []
    for column in table.columns:
        missing = table.all ^ column.present
        there = column.exists
        cost = 1 + column.cost
        if column.optional:
            found += both(table.all, f"has({column.source})", f"!has({column.source})", there, cost)
        if column.nullable:
            extra = int(column.optional)
            sides = f"{column.plain} == null", f"{column.plain} != null"
            bare = f"{column.source} == null", f"{column.source} != null"
            found += both(table.all, *sides, missing, cost + extra, bare=bare, there=there, spare=extra)
        if column.kind == "bool":
            found += _truth(table, column)
        elif column.kind == "list" or (column.kind == "object" and len(column.path) > 1):
            empty = column.value("[]" if column.kind == "list" else "{}")
            rows = packed(not value for value in column.values)
            found += both(table.all, f"size({empty}) == 0", f"size({empty}) > 0", rows, cost + 1)
        elif column.kind == "number":
            found += _whole(table, column)
        elif column.kind == "mixed":
            found += _type(table, column)
    return found


def _truth(table: Table, column: Column) -> Iterator[Atom]:
    for otherwise in (False, True):
        source = column.value(str(otherwise).lower())
        rows = packed(value is True or (otherwise and value is not False) for value in column.values)
        yield from both(table.all, source, f"!{source}", rows, 1 + column.cost + otherwise)
        if column.solid:
            return


def _whole(table: Table, column: Column) -> list[Atom]:
    """Whether a number is whole, where some are not."""
    if all(value == value // 1 for value in column.numbers if value == value):
        return []
    rows = packed(value == value // 1 for value in column.numbers)
    source, guards = guarded([column], f"floor({column.source}) == {column.source}")
    return both(table.all, source, f"!({source})", rows, 4 + column.cost + guards)


def _type(table: Table, column: Column) -> list[Atom]:
    """Whether a value is a text, where others have other types."""
    rows = packed(isinstance(value, str) for value in column.values)
    source, guards = guarded([column], f"string({column.source}) == {column.source}")
    return both(table.all, source, f"!({source})", rows, 3 + column.cost + guards)


def is_constant(column: Column, key: Hashable, value: Json, looked: int) -> bool:
    """Whether a value may stand in a condition: it is seen again, or one of few values that are."""
    if isinstance(value, str) and len(value) > MAX_CONSTANT:
        return False
    if isinstance(value, bool | list | dict) or value is None or value is UNSET:
        return False
    return column.counts[key] >= 2 or (column.is_enum and looked < MAX_CONSTANTS)


def constant_cost(column: Column, key: Hashable, value: Json) -> int:
    """Values that look like those of an enumeration cost least, those that look like ids most."""
    if value == "" or value == 0:
        return 2
    cost = 2 if column.is_enum else 4
    if column.counts[key] < 2:
        cost += 2
    if isinstance(value, str) and (any(map(str.isdigit, value)) or len(value) > 24):
        cost += 1 if column.is_enum else 2
    return cost


def equality_atoms(table: Table) -> list[Atom]:
    """`path == constant`, for values that are seen again."""
    found: list[Atom] = []
    for column in table.columns:
        if column.kind not in {"text", "number", "mixed"}:
            continue
        looked = 0
        for key in sorted(column.counts, key=lambda key: -column.counts[key]):
            value = column.examples[key]
            if looked >= MAX_CONSTANTS or (column.counts[key] < 2 and not column.is_enum):
                break
            if not is_constant(column, key, value, looked):
                continue
            looked += 1
            there = column.exists
            rows = column.holders[key]
            sides = f"{column.plain} == {constant(value)}", f"{column.plain} != {constant(value)}"
            bare = f"{column.source} == {constant(value)}", f"{column.source} != {constant(value)}"
            found += both(
                table.all, *sides, rows, constant_cost(column, key, value) + column.cost, bare=bare, there=there
            )
    return found


def set_atoms(table: Table, yes: int, no: int) -> list[Atom]:
    """`path in [constants]`: the values that only the one side has, or that the other side lacks."""
    found: list[Atom] = []
    for column in table.columns:
        if column.kind not in {"text", "number", "mixed"}:
            continue
        for side, other in ((yes, no), (no, yes)):
            inside = [key for key, rows in column.holders.items() if rows & side]
            found += _membership(table, column, inside)
            alone = [key for key in inside if not column.holders[key] & other]
            if len(alone) < len(inside):
                found += _membership(table, column, alone)
    return found


def _membership(table: Table, column: Column, keys: list[Hashable]) -> list[Atom]:
    if not 2 <= len(keys) <= MAX_SET:
        return []
    values = {key: column.examples[key] for key in keys}
    if not all(is_constant(column, key, values[key], 0) for key in keys):
        return []
    ordered = sorted((values[key] for key in keys), key=lambda value: (isinstance(value, str), value))
    listed = "[" + ", ".join(map(constant, ordered)) + "]"
    there = column.exists
    rows = sum(column.holders[key] for key in keys)
    cost = column.cost + len(keys) + max(constant_cost(column, key, values[key]) for key in keys)
    if column.kind == "number":
        cost += len(keys)  # Of numbers, a range is more likely meant than some of them.
    sources = f"{column.plain} in {listed}", f"!({column.plain} in {listed})"
    bare = f"{column.source} in {listed}", f"!({column.source} in {listed})"
    return both(table.all, *sources, rows, cost, bare=bare, there=there)
