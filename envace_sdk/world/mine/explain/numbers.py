"""Numbers that the scopes hold or that follow from one value: sizes, sums, counts, numbers written as text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice

from .collect import Collection
from .column import kind_of
from .lookups import is_map, places
from .loops import loop, sizes_of
from .sequences import elements_of, sequences
from .table import Table
from .term import Term
from .timing import spans

__all__ = ["numbers"]

_MOST = 120
_MOST_PRODUCTS = 6


def numbers(table: Table) -> list[Term]:
    """Terms whose values are numbers, simplest first."""
    found: list[Term] = table.fact("numbers", _numbers)
    return found


def _numbers(table: Table) -> list[Term]:
    found = Collection("number", _MOST)
    known = places(table)
    found.extend(term for term in known if term.kind == "number")
    for term in known:
        if table.concerns(term) and not table.budget.spent:
            found.extend(_of(table, term))
    for term in sequences(table):
        if table.concerns(term) and not table.budget.spent:
            found.extend(_of_list(table, term))
            if table.focus is None:
                found.extend(_sums_of_products(table, term))
    if table.focus is None:
        found.extend(spans(table))
    return found.terms()


def _of(table: Table, term: Term) -> Iterator[Term]:
    if term.kind == "text":
        yield table.call("size", term, cost=2)
        if any(isinstance(value, str) and value.strip()[:1] in set("0123456789.-+") for value in term.column):
            yield from (table.call(name, term) for name in ("int", "double"))
    elif is_map(term):
        yield table.call("size", term, cost=2)


def _of_list(table: Table, term: Term) -> Iterator[Term]:
    yield table.call("size", term)
    kind = kind_of(elements_of(term))
    if kind in {"text", "number"}:
        distinct = table.call("distinct", term)
        if distinct.key != term.key:
            yield table.call("size", distinct)
    if kind == "number":
        yield from (table.call(name, term) for name in ("sum", "min", "max", "first", "last"))
    elif kind == "text" and table.focus is None:
        yield table.call("sum", sizes_of(table, term))


def _sums_of_products(table: Table, term: Term) -> Iterator[Term]:
    """Of two fields of each element: prices times quantities."""
    if kind_of(elements_of(term)) != "object":
        return
    inside = loop(table, term)
    if inside is None:
        return
    fields = [own for own in inside.own if own.kind == "number" and own.cost == 1]
    for left, right in islice(combinations(fields, 2), _MOST_PRODUCTS):
        yield table.call("sum", inside.map(inside.inner.infix("*", left, right)))
