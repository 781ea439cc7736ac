"""How many elements of a list meet a condition, whether any or all do, and sums over those that do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from .atoms import Atom
from .column import taking
from .comparing import standing_atoms
from .forms import everywhere
from .goal import Goal
from .loops import Loop, loop
from .sequences import sequences
from .solver import Solver
from .table import Table
from .term import Term

__all__ = ["counts"]

_MOST_LISTS = 6
_MOST_ELEMENTS = 80
_MOST_COST = 2
"""Of a list whose elements are worth counting one by one."""
_MOST_FOUND = 4
_MOST_FIELDS = 6


def counts(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """`size(list.filter(x, …))`, `list.exists(x, …)`, `list.all(x, …)`, `sum(list.filter(x, …).map(x, x.field))`."""
    if goal.kind not in {"number", "boolean"} or not goal.whole or goal.distinct < 2:
        return
    lists = [
        term
        for term in sequences(table)
        if term.cost <= _MOST_COST and all(isinstance(value, list) for value in term.column)
    ]
    for over in lists[:_MOST_LISTS]:
        if table.budget.spent:
            return
        rows = _few(over)
        narrow = table.narrowed(rows)
        inside = loop(narrow, over.of_rows(taking(rows)))
        if inside is not None and len(rows) > 1 and _possible(goal, over, inside):
            yield from _told(table, goal, narrow, Goal([goal.column[row] for row in rows]), inside)


def _possible(goal: Goal, over: Term, inside: Loop) -> bool:
    """Whether the targets can be numbers of elements, or sums over some of them."""
    if goal.kind == "boolean":
        return True
    targets = list(zip(goal.column, map(len, over.column), strict=True))
    return all(0 <= target <= size and target == int(target) for target, size in targets) or (
        all(size or not target for target, size in targets)
        and any(term.kind == "number" and _reach(goal, inside, term) for term in inside.own)
    )


def _reach(goal: Goal, inside: Loop, field: Term) -> bool:
    amounts = inside.regrouped([value if isinstance(value, int | float) else 0 for value in field.column])
    return all(
        sum(min(a, 0) for a in group or ()) <= target <= sum(max(a, 0) for a in group or ())
        for group, target in zip(amounts, goal.column, strict=False)
    )


def _few(over: Term) -> list[int]:
    """As many of the rows as hold not too many elements."""
    rows: list[int] = []
    total = 0
    for row, items in enumerate(over.column):
        total += len(items)
        if total > _MOST_ELEMENTS and len(rows) > 1:
            break
        rows.append(row)
    return rows


def _told(table: Table, goal: Goal, narrow: Table, part: Goal, inside: Loop) -> Iterator[Term]:
    atoms = standing_atoms(inside.inner)
    sides = sorted([side for atom in atoms for side in (atom, atom.opposite())], key=lambda side: side.cost)
    found = _numbers(narrow, part, inside, sides) if goal.kind == "number" else _truths(part, inside, sides)
    for term in islice(found, _MOST_FOUND):
        whole = everywhere(table, term)
        if goal.met(whole):
            yield whole


def _masks(inside: Loop) -> list[int]:
    """The elements of each row, as bits."""
    masks, at = [], 0
    for items in inside.lists:
        size = len(items or ())
        masks.append(((1 << size) - 1) << at)
        at += size
    return masks


def _truths(goal: Goal, inside: Loop, sides: list[Atom]) -> Iterator[Term]:
    masks = _masks(inside)
    pairs = list(zip(masks, goal.column, strict=True))
    for side in sides:
        if all((side.yes & mask != 0) is target for mask, target in pairs):
            yield inside.exists(side.build())
        elif all((side.yes & mask == mask) is target for mask, target in pairs):
            yield inside.all(side.build())


def _numbers(table: Table, goal: Goal, inside: Loop, sides: list[Atom]) -> Iterator[Term]:
    pairs = list(zip(_masks(inside), goal.column, strict=True))
    for side in sides:
        if all((side.yes & mask).bit_count() == target for mask, target in pairs):
            yield table.call("size", inside.filter(side.build()))
    fields = [term for term in inside.own if term.kind == "number" and term.source != inside.variable]
    for field in fields[:_MOST_FIELDS]:
        amounts = [value if isinstance(value, int | float) else 0 for value in field.column]
        for side in sides:
            table.budget.spend(2)
            if all(_near(amounts, side.yes & mask, target) for mask, target in pairs):
                chosen = inside.filter(side.build())
                again = loop(table, chosen)
                if again is not None:
                    body = next((term for term in again.own if term.source == field.source), None)
                    if body is not None:
                        yield table.call("sum", again.map(body))


def _near(amounts: list[float], bits: int, target: float) -> bool:
    total = 0.0
    while bits:
        low = bits & -bits
        total += amounts[low.bit_length() - 1]
        bits ^= low
    return abs(total - target) < 1e-6
