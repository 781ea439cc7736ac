"""Conditions on texts: what is contained in, begins or ends another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .atoms import Atom, later, told
from .table import Table
from .term import Term

__all__ = ["fixed_parts", "within"]

_MARKS = ("/", "..", ".", " ", "@", "-", "_", ":", "*", "#", ",")


def within(table: Table, plain: Sequence[Term]) -> Iterator[Atom]:
    """What is contained in, begins or ends another text, also without regard to case."""
    folded = {term.source: [v.lower() if isinstance(v, str) else None for v in term.column] for term in plain}
    for whole in plain:
        if max((len(value) for value in whole.column if isinstance(value, str)), default=0) < 3:
            continue
        for part in plain:
            if part is whole or table.budget.spent or not table.concerns(whole, part):
                continue
            table.budget.spend(table.size // 2)
            held = [
                a is not None and b is not None and b in a
                for a, b in zip(folded[whole.source], folded[part.source], strict=True)
            ]
            if True in held:
                yield from _parts_of(table, whole, part)


def _parts_of(table: Table, whole: Term, part: Term) -> Iterator[Atom]:
    pairs = list(zip(whole.column, part.column, strict=True))
    cost = whole.cost + part.cost + 1
    for name, holds in _WITHIN:
        yes, no = told([holds(a, b) for a, b in pairs])
        if yes and no:
            yield Atom(table, yes, no, cost, later(table.call, name, whole, part))
    yes, no = told([_folded(a, b) for a, b in pairs])
    if yes and no:
        yield Atom(table, yes, no, cost + 2, later(_folded_term, table, whole, part))


def _both(holds: Callable[[str, str], bool]) -> Callable[[Any, Any], bool | None]:
    return lambda a, b: holds(a, b) if isinstance(a, str) and isinstance(b, str) else None


_WITHIN: tuple[tuple[str, Callable[[Any, Any], bool | None]], ...] = (
    ("contains", _both(lambda whole, part: part in whole)),
    ("startsWith", _both(lambda whole, part: whole.startswith(part))),
    ("endsWith", _both(lambda whole, part: whole.endswith(part))),
)
_folded = _both(lambda whole, part: part.lower() in whole.lower())


def _folded_term(table: Table, whole: Term, part: Term) -> Term:
    return table.call("contains", table.call("lowerAscii", whole), table.call("lowerAscii", part))


def fixed_parts(table: Table, term: Term) -> Iterator[Atom]:
    """Marks that a text holds, and the way that some begin or end."""
    for name, holds in _WITHIN:
        for mark in _MARKS:
            yes_no = told([holds(value, mark) for value in term.column])
            if yes_no[0] and yes_no[1]:
                yield Atom(table, *yes_no, term.cost + 2, later(_marked, table, name, term, mark))


def _marked(table: Table, name: str, term: Term, mark: str) -> Term:
    constant = table.constant(mark, fitted=4)
    return table.call(name, term, constant) if constant is not None else term
