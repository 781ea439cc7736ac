"""Times in the scopes, the spans between them, and how they are written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from .lookups import places
from .table import Table
from .term import Term

__all__ = ["spans", "time_texts", "times"]

_MOST = 8


def times(table: Table) -> list[Term]:
    """Terms whose values are times, or texts that hold one."""
    found: list[Term] = table.fact("times", _times)
    return found


def _times(table: Table) -> list[Term]:
    found = []
    for term in places(table):
        if term.kind == "time":
            found.append(term)
        elif term.kind == "text":
            told = table.call("isTimestamp", term)
            if True in told.column and False not in told.column:
                found.append(term)
    return found[:_MOST]


def spans(table: Table) -> Iterator[Term]:
    """How much later one time is than another, in days and hours."""
    for later, earlier in permutations(times(table), 2):
        span = table.infix("-", _as_time(table, later), _as_time(table, earlier))
        yield from (table.call(unit, span) for unit in ("days", "hours", "minutes"))


def _as_time(table: Table, term: Term) -> Term:
    return term if term.kind == "time" else table.call("timestamp", term, cost=0)


def time_texts(table: Table) -> Iterator[Term]:
    """Days, and times as text."""
    for term in times(table):
        yield table.call("date", term)
        if term.kind == "time":
            yield table.call("string", term)
