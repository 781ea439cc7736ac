"""Conditions: which ones tell some rows of a table from others."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from .atoms import Atom, bits_of, rows_of
from .comparing import standing_atoms
from .fitted import fitted_atoms
from .forms import joined
from .goal import Goal
from .solver import Solver
from .table import Table
from .term import Term

__all__ = ["conditions", "truths"]

_MOST_PARTS = 50
_MOST_LEADS = 8


def truths(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """Targets that are true or false."""
    if goal.kind != "boolean" or goal.distinct < 2:
        return
    yes = [row for row, value in enumerate(goal.column) if value is True]
    no = [row for row, value in enumerate(goal.column) if value is False]
    if len(yes) + len(no) == table.size:
        yield from (term for term in conditions(table, yes, no) if goal.met(term))


def conditions(table: Table, yes: list[int], no: list[int], *, limit: int = 4) -> list[Term]:
    """The simplest conditions that hold in some rows and not in others; what they say of the rest does not matter."""
    if table.budget.spent:
        return []
    wanted, unwanted = bits_of(yes), bits_of(no)
    known = sorted([*standing_atoms(table), *fitted_atoms(table, yes, no)], key=lambda atom: atom.cost)
    sides = [side for atom in known for side in (atom, atom.opposite())]
    found = [side for side in sides if side.tells(wanted, unwanted)]
    if not found:
        found = list(islice(_pairs(table, sides, wanted, unwanted), 6 * limit))
    found.sort(key=lambda atom: atom.cost)
    terms = [atom.build() for atom in found[: 3 * limit]]
    return sorted(terms, key=lambda term: term.order)[:limit]


def _pairs(table: Table, sides: list[Atom], wanted: int, unwanted: int) -> Iterator[Atom]:
    """`a && b` where both hold wherever they should, `a || b` where neither does where it should not."""
    both = [side for side in sides if not wanted & ~side.yes and side.no & unwanted]
    either = [side for side in sides if not unwanted & ~side.no and side.yes & wanted]
    both.sort(key=lambda side: -(side.no & unwanted).bit_count())
    either.sort(key=lambda side: -(side.yes & wanted).bit_count())
    # A constant that would not do alone may do beside another condition.
    for first in both[:_MOST_LEADS]:
        for second in fitted_atoms(table, rows_of(wanted), rows_of(unwanted & ~first.no)):
            yield from _told(first, second, "&&", wanted, unwanted)
    for first in either[:_MOST_LEADS]:
        for second in fitted_atoms(table, rows_of(wanted & ~first.yes), rows_of(unwanted)):
            yield from _told(first, second, "||", wanted, unwanted)
    for parts, operator in ((both[:_MOST_PARTS], "&&"), (either[:_MOST_PARTS], "||")):
        for place, first in enumerate(parts):
            table.budget.spend(len(parts) // 4)
            for second in parts[place + 1 :]:
                yield from _told(first, second, operator, wanted, unwanted)


def _told(first: Atom, second: Atom, operator: str, wanted: int, unwanted: int) -> Iterator[Atom]:
    for side in (second, second.opposite()):
        made = _combined(first, side, operator)
        if made.tells(wanted, unwanted):
            yield made


def _combined(first: Atom, second: Atom, operator: str) -> Atom:
    if operator == "&&":
        yes, no = first.yes & second.yes, first.no | second.no
    else:
        yes, no = first.yes | second.yes, first.no & second.no

    def build() -> Term:
        parts = sorted(
            [first.build(), second.build()], key=lambda term: (not term.source.startswith("has("), term.order)
        )
        return joined(first.table, operator, parts)

    return Atom(first.table, yes, no, first.cost + second.cost + 1, build)
