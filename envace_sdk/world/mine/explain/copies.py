"""Constants, and copies of what a path leads to."""

from __future__ import annotations

from collections.abc import Iterator

from envace_sdk.json import UNSET

from .evidence import distinctive, information
from .forms import default
from .goal import Goal
from .lookups import lookups
from .paths import paths
from .solver import Solver
from .table import Table
from .term import Term

__all__ = ["constants", "copies", "defaults"]


def constants(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """The one value that all targets have."""
    if goal.distinct == 1 and goal.column[0] is not UNSET:
        term = table.constant(goal.column[0], fitted=int(information(goal.column[0])))
        if term is not None:
            yield term


def copies(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """Paths that have the targets as they are; one example is enough for a value that is met nowhere by chance."""
    enough = table.distinct >= 2 or any(distinctive(value) for value in goal.column)
    if enough:
        yield from (term for term in [*paths(table), *lookups(table)] if goal.met(term))


def defaults(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """`default(path, …)`: an argument where it is given, else a constant or what was there before."""
    if goal.distinct < 2 and table.distinct < 2:
        return
    known = paths(table)
    partial = []
    for term in known:
        given = [row for row, value in enumerate(term.column) if value is not UNSET and value is not None]
        if 0 < len(given) < table.size and all(term.key[row] == goal.key[row] for row in given):
            partial.append((term, given))
    for term, given in partial:
        rest = [row for row in range(table.size) if row not in set(given)]
        values = {goal.key[row]: goal.column[row] for row in rest}
        if UNSET in values.values():
            continue
        others = [
            other for other in known if other is not term and all(other.key[row] == goal.key[row] for row in rest)
        ]
        if len(values) == 1:
            value = next(iter(values.values()))
            constant = table.constant(value, fitted=int(information(value)) // 2)
            others = [constant, *others] if constant is not None else others
        for other in others[:4]:
            made = default(table, term, other)
            if goal.met(made):
                yield made
