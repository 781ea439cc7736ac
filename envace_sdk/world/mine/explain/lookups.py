"""What is found by a key that another path holds: a member of an object, an element of a list of objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envace_sdk.json import UNSET

from .column import FAILED, value_key
from .paths import inside, paths
from .table import Table
from .term import Term
from .writing import Level, select

__all__ = ["is_map", "lookups", "places"]

_MOST_HOLDERS = 6
_MOST_KEYS = 16
_MOST_FOUND = 40
_MOST_FIELDS = 12
_MOST_ELEMENTS = 4_000


def places(table: Table) -> list[Term]:
    """The simplest path or look-up for each column that has values."""
    found: list[Term] = table.fact("places", _places)
    return found


def _places(table: Table) -> list[Term]:
    seen: set[object] = set()
    found = []
    for term in [*paths(table), *lookups(table)]:
        if term.kind != "nothing" and FAILED not in term.column and term.key not in seen:
            seen.add(term.key)
            found.append(term)
    return sorted(found, key=lambda term: term.order)


def is_map(term: Term) -> bool:
    """Whether the term is an object whose names are data; those of a record are always the same."""
    if term.kind != "object" or "." not in term.source:
        return False
    return len({tuple(sorted(value)) for value in term.column if isinstance(value, dict)}) > 1


def lookups(table: Table) -> list[Term]:
    """Terms that look something up, and what lies inside of it."""
    found: list[Term] = table.fact("lookups", lambda table: list(_lookups(table)))
    return found


def _lookups(table: Table) -> Iterator[Term]:
    plain = [term for term in paths(table) if FAILED not in term.column]
    keys = [term for term in plain if term.kind in {"text", "number"} and len(set(term.key)) > 1][:_MOST_KEYS]
    count = 0
    for term in _found(table, plain, keys):
        inner = inside(table, term) if term.kind == "object" else []
        for made in [term, *inner]:
            count += 1
            if count > _MOST_FOUND or table.budget.spent:
                return
            yield made


def _found(table: Table, plain: list[Term], keys: list[Term]) -> Iterator[Term]:
    objects = [term for term in plain if term.kind == "object" and any(term.column)]
    for holder in objects[:_MOST_HOLDERS]:
        for key in keys:
            if key.kind == "text" and not _within(key, holder) and _often(_held(holder, key)):
                yield table.element(holder, key)
    lists = [term for term in plain if term.kind == "list" and _of_objects(term)]
    for holder in lists[:_MOST_HOLDERS]:
        for field in _fields(holder):
            for key in keys:
                if not _within(key, holder) and _often(_matching(holder, field, key)):
                    yield _first_with(table, holder, field, key)


def _within(key: Term, holder: Term) -> bool:
    return any(leaf.startswith((holder.source + ".", holder.source + "[")) for leaf in key.leaves)


def _held(holder: Term, key: Term) -> list[bool | None]:
    return [
        None if not isinstance(value, dict) or not isinstance(name, str) else name in value
        for value, name in zip(holder.column, key.column, strict=True)
    ]


def _often(found: list[bool | None]) -> bool:
    """Whether it is found in most of the rows in which it is looked for."""
    told = [value for value in found if value is not None]
    return sum(told) * 3 >= len(told) * 2 and sum(told) >= 2


def _elements(term: Term) -> Iterator[Any]:
    for value in term.column:
        if isinstance(value, list):
            yield from value


def _of_objects(term: Term) -> bool:
    """Whether it holds objects, and not too many to look each of them over."""
    if sum(len(value) for value in term.column if isinstance(value, list)) > _MOST_ELEMENTS:
        return False
    elements = list(_elements(term))
    return bool(elements) and all(isinstance(element, dict) for element in elements)


def _fields(holder: Term) -> list[str]:
    """Members that tell the elements of each list apart."""
    names = dict.fromkeys(name for element in _elements(holder) for name in element)
    return [name for name in names if _telling(holder, name)][:_MOST_FIELDS]


def _telling(holder: Term, name: str) -> bool:
    for value in holder.column:
        if isinstance(value, list):
            found = [value_key(element.get(name)) for element in value]
            if len(set(found)) < len(found) or any(isinstance(element.get(name), list | dict) for element in value):
                return False
    return True


def _matching(holder: Term, field: str, key: Term) -> list[bool | None]:
    return [
        None
        if not isinstance(value, list) or wanted is UNSET or wanted is None
        else any(value_key(element.get(field)) == wanted for element in value)
        for value, wanted in zip(holder.column, key.key, strict=True)
    ]


def _first_with(table: Table, holder: Term, field: str, key: Term) -> Term:
    """`first(holder.filter(x, x.field == key))`."""
    variable = table.unused_name()

    def find(items: Any, wanted: Any) -> Any:
        sought = value_key(wanted)
        return next((element for element in items if value_key(element.get(field)) == sought), None)

    table.budget.spend(sum(1 for _ in _elements(holder)))
    column = table.rows(find, [holder.column, key.column])
    condition = f"{select(variable, field)} == {key.at(Level.SUM)}"
    source = f"first({holder.at(Level.MEMBER)}.filter({variable}, {condition}))"
    return table.made(source, column, (holder, key), Level.MEMBER, 3)
