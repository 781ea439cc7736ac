"""Objects member by member, and objects with members changed."""

from __future__ import annotations

from collections.abc import Iterator

from envace_sdk.json import UNSET

from .forms import record
from .goal import Goal
from .solver import Solver
from .table import Table
from .term import Term

__all__ = ["records"]

_MOST_MEMBERS = 40


def records(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """`{'name': …, …}` where all targets have the same members."""
    inner = solver.deeper()
    if goal.kind != "object" or not goal.whole or inner is None:
        return
    names = list(goal.column[0])
    if not 0 < len(names) <= _MOST_MEMBERS or any(set(value) != set(names) for value in goal.column):
        return
    members: dict[str, Term] = {}
    for name in names:
        best = inner.best(table, Goal([value[name] for value in goal.column]))
        if best is None:
            return
        members[name] = best
    made = record(table, members)
    if goal.met(made) and UNSET not in made.column:
        yield made
