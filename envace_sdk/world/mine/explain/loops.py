"""Macros over lists: the elements as rows of a table of their own, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from envace_sdk.json import UNSET

from .column import FAILED, Column
from .lookups import places
from .paths import inside
from .table import Table
from .term import Term
from .writing import Level, select

__all__ = ["Loop", "field_of", "loop", "sizes_of"]

_MOST_ELEMENTS = 600
_MOST_OUTER = 40
_MOST_LISTS = 6
"""Paths of the surroundings that are seen from inside."""


def field_of(table: Table, over: Term, name: str) -> Term:
    """`over.map(x, x.name)`."""
    variable = table.unused_name()
    column = table.rows(lambda items: _members(items, name), [over.column])
    source = f"{over.at(Level.MEMBER)}.map({variable}, {select(variable, name)})"
    return table.made(source, column, [over], Level.MEMBER, 2)


def sizes_of(table: Table, over: Term) -> Term:
    """`over.map(x, size(x))`."""
    variable = table.unused_name()
    column = table.rows(lambda items: [len(item) for item in items] if _texts(items) else FAILED, [over.column])
    return table.made(f"{over.at(Level.MEMBER)}.map({variable}, size({variable}))", column, [over], Level.MEMBER, 3)


def _texts(items: Any) -> bool:
    return isinstance(items, list) and all(isinstance(item, str) for item in items)


def _members(items: Any, name: str) -> Any:
    if not isinstance(items, list):
        return FAILED
    found = [item.get(name, UNSET) if isinstance(item, dict) else FAILED for item in items]
    return next((value for value in found if value is UNSET or value is FAILED), found)


class Loop:
    """The elements of a list in all rows, each a row of the table `inner`, in which `variable` is its name."""

    def __init__(self, table: Table, over: Term) -> None:
        self.table = table
        self.over = over
        self.variable = table.unused_name()
        self.lists = [value if isinstance(value, list) else None for value in over.column]
        self.owners = [row for row, items in enumerate(self.lists) for _ in items or ()]
        elements = tuple(element for items in self.lists for element in items or ())
        self.elements: Column = elements
        scopes = [
            {**table.scopes[row], self.variable: element} for row, element in zip(self.owners, elements, strict=True)
        ]
        self.inner = Table(scopes, table.budget, self.variable)
        self.inner.facts["paths"] = self._paths(elements)

    def _paths(self, elements: Column) -> list[Term]:
        self.table.budget.spend(len(elements) * 4)
        level = [Term(self.variable, elements, 1, leaves=(self.variable,))]
        found = list(level)
        for _ in range(3):
            level = [deeper for term in level for deeper in inside(self.inner, _bare(term, found[0]))][:60]
            found.extend(level)
        self.own = list(found)
        """Paths of the elements themselves."""
        for term in [*places(self.table)[:_MOST_OUTER], *_other_lists(self.table)]:
            outer = term.column
            column = tuple([outer[row] for row in self.owners])
            found.append(Term(term.source, column, term.cost, term.level, term.leaves))
        return sorted(found, key=lambda term: term.order)

    def owns(self, leaf: str) -> bool:
        """Whether a path is one of the elements'."""
        return leaf == self.variable or leaf.startswith((f"{self.variable}.", f"{self.variable}["))

    def regrouped(self, column: Sequence[Any]) -> list[list[Any] | None]:
        """Values of the elements, by row of the surroundings."""
        found: list[list[Any] | None] = [None if items is None else [] for items in self.lists]
        for row, value in zip(self.owners, column, strict=True):
            group = found[row]
            if group is not None:
                group.append(value)
        return found

    def map(self, body: Term) -> Term:
        """`over.map(x, body)`."""
        return self._made("map", body, lambda _, values: values)

    def filter(self, body: Term) -> Term:
        """`over.filter(x, body)`."""
        return self._made("filter", body, lambda items, values: [i for i, v in zip(items, values, strict=True) if v])

    def exists(self, body: Term) -> Term:
        """`over.exists(x, body)`."""
        return self._made("exists", body, lambda _, values: any(values))

    def all(self, body: Term) -> Term:
        """`over.all(x, body)`."""
        return self._made("all", body, lambda _, values: all(values))

    def _made(self, macro: str, body: Term, combine: Callable[[list[Any], list[Any]], Any]) -> Term:
        made = []
        for row, values in enumerate(self.regrouped(body.column)):
            bad = next((value for value in values or () if value is UNSET or value is FAILED), None)
            items = self.lists[row]
            if items is None or values is None:
                made.append(UNSET if self.over.column[row] in (None, UNSET) else FAILED)
            else:
                made.append(combine(items, values) if bad is None else bad)
        leaves = [leaf for leaf in body.leaves if not self.owns(leaf)]
        return Term(
            f"{self.over.at(Level.MEMBER)}.{macro}({self.variable}, {body.source})",
            tuple(made),
            self.over.cost + body.cost + 1,
            Level.MEMBER,
            tuple(dict.fromkeys([*self.over.leaves, *leaves])),
            self.over.fitted + body.fitted,
        )


def _other_lists(table: Table) -> list[Term]:
    """Lists of the surroundings that are made of texts: an element may be in one of them."""
    found: list[Term] = table.facts.get("sequences", [])
    return [term for term in found if term.cost > 1][:_MOST_LISTS]


def _bare(term: Term, root: Term) -> Term:
    """The element itself costs nothing below it: `x.name` is as plain as `args.name`."""
    return Term(term.source, term.column, 0, term.level, term.leaves) if term is root else term


def loop(table: Table, over: Term) -> Loop | None:
    """The loop over a list, if it has elements, and not too many."""
    name = f"loop {over.source}"
    if name not in table.facts:
        count = sum(len(value) for value in over.column if isinstance(value, list))
        table.facts[name] = Loop(table, over) if 0 < count <= _MOST_ELEMENTS else None
    found: Loop | None = table.facts[name]
    return found
