"""Texts put together from other texts and fixed wording."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import count

from .goal import Goal
from .lookups import places
from .numbers import numbers
from .pieces import texts
from .solver import Solver
from .table import Table
from .term import Term

__all__ = ["common_start", "concatenation", "pieces"]

_MOST_STATES = 240
_MOST_PARTS = 60
_MOST_NUMBERS = 40
_MOST_GAPS = 40
_LONGEST = 1_000_000


def pieces(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """One text as it is, or a part of it."""
    if goal.kind == "text":
        yield from (term for term in texts(table) if goal.met(term))
        if any(goal.column[row][:1] in {"[", "{"} for row in goal.there):
            written = (table.call("string", term) for term in places(table) if term.kind in {"list", "object"})
            yield from (term for term in written if goal.met(term))


def concatenation(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """`a + 'wording' + b`: the shortest way through all targets at once."""
    if goal.kind != "text" or goal.distinct < 2 or max(len(goal.column[row]) for row in goal.there) > _LONGEST:
        return
    targets = [goal.column[row] for row in goal.there]
    parts = [term for term in [*texts(table), *_written(table)] if _usable(term, goal, targets)][:_MOST_PARTS]
    columns = [[term.column[row] for row in goal.there] for term in parts]
    way = _Way(table, targets, parts, columns).found()
    if way is None or not any(isinstance(step, Term) for step in way):
        return
    made = _sum(table, way)
    if made is not None and goal.met(made):
        yield made


def _written(table: Table) -> Iterator[Term]:
    """Numbers that follow from others, as text."""
    plain = {term.source for term in places(table)}
    for term in numbers(table)[:_MOST_NUMBERS]:
        if term.source not in plain and not table.budget.spent:
            yield table.call("string", term)


def _usable(term: Term, goal: Goal, targets: list[str]) -> bool:
    some = False
    for row, target in zip(goal.there, targets, strict=True):
        value = term.column[row]
        if type(value) is not str or value not in target:
            return False
        some = some or bool(value)
    return some


def _sum(table: Table, way: list[str | Term]) -> Term | None:
    made: Term | None = None
    for step in way:
        term = table.constant(step, fitted=min(3 * len(step), 9)) if isinstance(step, str) else step
        if term is None:
            return None
        made = term if made is None else table.infix("+", made, term)
    return made


def common_start(texts: Sequence[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts), max(texts)
    size = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:size]


_Places = tuple[int, ...]


class _Way:
    """Dijkstra over how far each target has been made: all of them advance by the same part at once."""

    def __init__(self, table: Table, targets: list[str], parts: list[Term], columns: list[list[str]]) -> None:
        self._table = table
        self._targets = targets
        self._parts = parts
        self._columns = columns

    def found(self) -> list[str | Term] | None:
        """Parts and wording in order, or None."""
        start: _Places = (0,) * len(self._targets)
        end: _Places = tuple(map(len, self._targets))
        tickets = count()
        waiting: list[tuple[int, int, _Places, tuple[str | Term, ...]]] = [(0, next(tickets), start, ())]
        done: set[_Places] = set()
        while waiting and len(done) < _MOST_STATES and not self._table.budget.spent:
            cost, _, places, way = heapq.heappop(waiting)
            if places == end:
                return list(way)
            if places in done:
                continue
            done.add(places)
            for price, further, steps in self._steps(places, end):
                if further not in done:
                    heapq.heappush(waiting, (cost + price, next(tickets), further, (*way, *steps)))
        return None

    def _steps(self, places: _Places, end: _Places) -> Iterator[tuple[int, _Places, tuple[str | Term, ...]]]:
        targets = self._targets
        rests = [target[place:] for target, place in zip(targets, places, strict=True)]
        self._table.budget.spend(len(rests))
        common = common_start(rests)
        if len(set(rests)) == 1:
            yield self._price(common), end, (common,)
        for term, column in zip(self._parts, self._columns, strict=True):
            yield from self._after(places, rests, common, term, column)

    def _after(
        self, places: _Places, rests: list[str], common: str, term: Term, column: list[str]
    ) -> Iterator[tuple[int, _Places, tuple[str | Term, ...]]]:
        """The term next, or next after wording that all targets have here."""
        row = max(range(len(column)), key=lambda row: len(column[row]))
        text, value = rests[row], column[row]
        last = len(common) + len(value)
        gap = text.find(value, 0, last)
        for _ in range(_MOST_GAPS):
            if gap < 0:
                return
            self._table.budget.spend(1)
            if all(rest.startswith(value, gap) for rest, value in zip(rests, column, strict=True)):
                further = tuple([place + gap + len(value) for place, value in zip(places, column, strict=True)])
                wording = common[:gap]
                price = term.cost + 1 + (self._price(wording) if wording else 0)
                yield price, further, (wording, term) if wording else (term,)
            gap = text.find(value, gap + 1, last)

    @staticmethod
    def _price(wording: str) -> int:
        return 2 + len(wording) // 24
