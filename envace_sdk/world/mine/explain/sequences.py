"""Lists that the scopes hold or that follow from one value: lines, words, fields of a list of objects."""

from __future__ import annotations

from collections.abc import Iterator

from .collect import Collection
from .column import kind_of
from .lookups import is_map, places
from .loops import field_of
from .table import Table
from .term import Term

__all__ = ["elements_of", "sequences"]

_MOST = 60
_MOST_FIELDS = 20
_MOST_LOOKED_AT = 200
_SEPARATORS = (", ", ",", ";", "|", " ", "/")


def sequences(table: Table) -> list[Term]:
    """Terms whose values are lists, simplest first."""
    found: list[Term] = table.fact("sequences", _sequences)
    return found


def elements_of(term: Term) -> Iterator[object]:
    """The elements of the term's lists in all rows; of long ones the first."""
    for value in term.column:
        if isinstance(value, list):
            yield from value[:_MOST_LOOKED_AT]


def _sequences(table: Table) -> list[Term]:
    found = Collection("list", _MOST)
    known = places(table)
    lists = found.extend(term for term in known if term.kind == "list")
    for term in known:
        if table.budget.spent or not table.concerns(term):
            continue
        if term.kind == "text":
            found.extend(_of_text(table, term))
        elif is_map(term):
            found.extend(table.call(name, term) for name in ("keys", "values"))
    for term in lists:
        if table.concerns(term) and not table.budget.spent:
            found.extend(fields(table, term))
    return found.terms()


def _of_text(table: Table, term: Term) -> Iterator[Term]:
    texts = [value for value in term.column if isinstance(value, str)]
    if any("\n" in text for text in texts):
        yield table.call("lines", term)
    if any(" " in text for text in texts):
        yield table.call("words", term)
    for separator in _SEPARATORS:
        if sum(separator in text for text in texts) * 2 >= len(texts) > 0:
            mark = table.constant(separator)
            if mark is not None:
                yield table.call("split", term, mark)


def fields(table: Table, term: Term) -> Iterator[Term]:
    """One field of a list of objects."""
    if kind_of(elements_of(term)) != "object":
        return
    names: dict[str, int] = {}
    for element in elements_of(term):
        if isinstance(element, dict):
            for name in element:
                names[name] = names.get(name, 0) + 1
    for name in list(names)[:_MOST_FIELDS]:
        yield field_of(table, term, name)
