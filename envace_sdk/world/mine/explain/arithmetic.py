"""Numbers from numbers: one or two operations, constants that fit, rounding."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from envace_sdk.json import Json

from .evidence import information
from .fitting import roundings, simplest
from .forms import everywhere
from .goal import Goal
from .numbers import numbers
from .solver import Solver
from .table import Table
from .term import Term

__all__ = ["arithmetic", "clipped", "deep_arithmetic", "features"]

_PLAIN = 24
_DEEP = 11
_PLAIN_STAGES = 3
_MOST_WORK = 50_000
_Operation = Callable[[float, float], float]
_OPERATIONS: dict[str, _Operation] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else math.nan,
    "%": lambda a, b: math.fmod(a, b) if b else math.nan,
}
_SYMMETRIC = frozenset("+*")
_NUMERIC = frozenset({int, float})


def features(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """Sizes, sums and the like as they are."""
    if goal.kind == "number":
        yield from (term for term in numbers(table) if goal.met(term))


def arithmetic(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """One operation of two numbers, or of one and constants."""
    if goal.kind != "number" or goal.distinct < 2:
        return
    problem = _Problem(table, goal)
    known = [term for term in numbers(table) if problem.usable(term)]
    for term in known:
        yield from problem.rounded(term)
        yield from problem.with_constant(term)
    for place, left in enumerate(known):
        # One of the two may be far-fetched, but not both.
        for right in known if place < _PLAIN else known[:_PLAIN]:
            yield from problem.pair(left, right)


def deep_arithmetic(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """Two operations."""
    if goal.kind != "number" or goal.distinct < 3:
        return
    problem = _Problem(table, goal)
    known = [term for term in numbers(table) if problem.usable(term)][:_DEEP]
    rates = [rate for term in known for rate in _rates(table, term) if problem.usable(rate)]
    for left in known:
        for right in rates:
            yield from problem.pair(left, right, "*/")
    least = table.budget.left - _MOST_WORK
    for left in known:
        for right in known:
            if left is not right:
                yield from problem.weighted(left, right)
    for inner in _combined(table, known):
        if table.budget.left < max(least, 0):
            return
        if not problem.usable(inner):
            continue
        yield from problem.with_constant(inner)
        for other in known:
            yield from problem.pair(inner, other)
            yield from problem.pair(other, inner, "-/")


def clipped(table: Table, goal: Goal, solver: Solver) -> Iterator[Term]:
    """`max(0, …)`, `min(100, …)`: the least or the greatest target is met often, the others are explained."""
    inner = solver.deeper()
    if goal.kind != "number" or not goal.whole or inner is None or goal.distinct < 4:
        return
    for name, bound in (("max", min(goal.column)), ("min", max(goal.column))):
        free = [row for row, target in enumerate(goal.column) if target != bound]
        limit = table.constant(bound, fitted=int(information(bound)))
        if limit is None or len(free) > table.size - 2:
            continue
        for term in inner.solve(table.narrowed(free), Goal([goal.column[row] for row in free]), stages=_PLAIN_STAGES):
            whole = everywhere(table, term)
            made = table.call(name, limit, whole)
            if goal.met(made):
                yield made
                break


def _combined(table: Table, known: Sequence[Term]) -> Iterator[Term]:
    for place, left in enumerate(known):
        for other, right in enumerate(known):
            for operator in _OPERATIONS:
                if operator == "%" or (place == other and operator != "*"):
                    continue
                if operator not in _SYMMETRIC or place <= other:
                    yield table.infix(operator, left, right)


def _rates(table: Table, term: Term) -> Iterator[Term]:
    """A percentage as a factor: of it, more by it, less by it."""
    one, hundred = table.constant(1), table.constant(100)
    if one is None or hundred is None:
        return
    share = table.infix("/", term, hundred)
    for part in (share, term):
        if part is share:
            yield part
        yield table.infix("+", one, part)
        yield table.infix("-", one, part)


class _Problem:
    """The targets as plain numbers, and how they may have been rounded."""

    def __init__(self, table: Table, goal: Goal) -> None:
        self.table = table
        self.goal = goal
        # Rows that differ most from each other refute soonest.
        seen: set[float] = set()
        first: list[int] = []
        later: list[int] = []
        for row in goal.there:
            value = goal.column[row]
            (later if value in seen else first).append(row)
            seen.add(value)
        self.rows = first + later
        self.targets = [float(goal.column[row]) for row in self.rows]
        self.roundings = roundings(goal.column)
        self.slack = max(rounding.slack for rounding in self.roundings)

    def usable(self, term: Term) -> bool:
        column = term.column
        return all(type(column[row]) in _NUMERIC for row in self.rows)

    def pair(self, left: Term, right: Term, operators: str = "+-*/%") -> Iterable[Term]:
        """Whatever one operation on the two may be, rounded or not."""
        self.table.budget.spend(2)
        first = self.rows[0]
        a, b, target = left.column[first], right.column[first], self.targets[0]
        near = self.slack + 1e-9 * abs(target)
        found = [operator for operator in operators if abs(_OPERATIONS[operator](a, b) - target) <= near]
        extremes = operators == "+-*/%" and (target in (a, b) or target == abs(a - b))
        # Most pairs end here.
        return self._told(left, right, found, extremes) if found or extremes else ()

    def _told(self, left: Term, right: Term, operators: Sequence[str], extremes: bool) -> Iterator[Term]:
        for operator in operators:
            if operator in _SYMMETRIC and right.order < left.order:
                continue
            if left is right and operator != "*":
                continue
            if self._near(_OPERATIONS[operator], left, right):
                yield from self.rounded(self.table.infix(operator, left, right))
        if extremes and self.goal.whole and left.order < right.order:
            first = self.rows[0]
            yield from self._extremes(left, right, left.column[first], right.column[first], self.targets[0])

    def _extremes(self, left: Term, right: Term, a: float, b: float, target: float) -> Iterator[Term]:
        if target in (a, b):
            for name in ("min", "max"):
                term = self.table.call(name, left, right)
                if self.goal.met(term):
                    yield term
        if target == abs(a - b) and self._near(lambda x, y: abs(x - y), left, right):
            term = self.table.call("abs", self.table.infix("-", left, right))
            if self.goal.met(term):
                yield term

    def _near(self, run: _Operation, left: Term, right: Term) -> bool:
        self.table.budget.spend(len(self.rows))
        for row, target in zip(self.rows, self.targets, strict=True):
            a, b = left.column[row], right.column[row]
            try:
                if not abs(run(a, b) - target) <= self.slack + 1e-9 * abs(target):
                    return False
            except OverflowError:
                return False
        return True

    def rounded(self, term: Term) -> Iterator[Term]:
        """The term as it is or rounded, whichever the targets are."""
        for rounding in self.roundings:
            made = rounding.of(self.table, term)
            if self.goal.met(made):
                yield made
                return

    def with_constant(self, term: Term) -> Iterator[Term]:
        """`term + c`, `term * c`, `c - term`, `term * c + d` …"""
        values = [float(term.column[row]) for row in self.rows if _is_number(term.column[row])]
        if len(values) != len(self.rows) or min(values) == max(values):
            return
        self.table.budget.spend(2 * len(values))
        for operator, constant, swapped in self._constants(values):
            fitted = self.table.constant(constant, fitted=int(information(constant)))
            if fitted is None:
                continue
            left, right = (fitted, term) if swapped else (term, fitted)
            yield from self.rounded(self.table.infix(operator, left, right))
        yield from self._line(term, values)

    def weighted(self, term: Term, other: Term) -> Iterator[Term]:
        """`term * c + other`, `term * c - other`, `other - term * c`."""
        self.table.budget.spend(2)
        for sign in (1, -1):
            ranges: list[tuple[float, float]] = []
            for row, target in zip(self.rows, self.targets, strict=True):
                value, rest = term.column[row], target - sign * other.column[row]
                if not value:
                    if abs(rest) > 1e-9:
                        break
                    continue
                ratio = rest / value
                if ranges and not ranges[0][0] <= ratio <= ranges[0][1]:
                    break
                ranges.append((ratio - 1e-9 * (1 + abs(ratio)), ratio + 1e-9 * (1 + abs(ratio))))
            else:
                yield from self._weight(term, other, sign, simplest(ranges) if len(ranges) > 2 else None)

    def _weight(self, term: Term, other: Term, sign: int, factor: Json) -> Iterator[Term]:
        scale = self.table.constant(abs(factor), fitted=int(information(factor))) if factor else None
        if scale is None or abs(factor) == 1:
            return
        product = self.table.infix("*", term, scale)
        if factor > 0:
            made = self.table.infix("+" if sign > 0 else "-", product, other)
        elif sign > 0:
            made = self.table.infix("-", other, product)
        else:
            return
        yield from self.rounded(made)

    def _constants(self, values: list[float]) -> Iterator[tuple[str, Json, bool]]:
        targets = self.targets
        for rounding in self.roundings:
            low, high = rounding.low, rounding.high
            found = simplest((t + low - v, t + high - v) for v, t in zip(values, targets, strict=True))
            if found:
                yield ("+", found, False) if found > 0 else ("-", -found, False)
            found = simplest((t + low + v, t + high + v) for v, t in zip(values, targets, strict=True))
            if found is not None:
                yield "-", found, True
            ranges = [(t + low, t + high, v) for v, t in zip(values, targets, strict=True) if v]
            if not ranges or any(v == 0 and abs(t) > rounding.slack for v, t in zip(values, targets, strict=True)):
                continue
            found = simplest(_quotients(a, b, v) for a, b, v in ranges)
            if found not in (None, 0, 1):
                yield "*", found, False
            if found is None or (found not in (0, 1) and abs(found) < 1):
                inverse = simplest(_inverses(a, b, v) for a, b, v in ranges)
                if inverse not in (None, 0, 1):
                    yield "/", inverse, False
        if all(isinstance(self.goal.column[row], int) for row in self.rows):
            top = int(max(targets)) + 1
            if 2 <= top <= 1000 and all(value % top == target for value, target in zip(values, targets, strict=True)):
                yield "%", top, False

    def _line(self, term: Term, values: list[float]) -> Iterator[Term]:
        """`term * c + d`, when more than two points lie on the line."""
        low, high = values.index(min(values)), values.index(max(values))
        slope = (self.targets[high] - self.targets[low]) / (values[high] - values[low])
        factor = simplest([(slope - 1e-9 * abs(slope), slope + 1e-9 * abs(slope))])
        if factor in (None, 0, 1, -1) or len(set(values)) < 3:
            return
        offset = simplest(
            [
                (t - v * factor - 1e-9 * (1 + abs(t)), t - v * factor + 1e-9 * (1 + abs(t)))
                for v, t in zip(values, self.targets, strict=True)
            ]
        )
        if not offset:
            return
        scale = self.table.constant(factor, fitted=int(information(factor)))
        shift = self.table.constant(abs(offset), fitted=int(information(offset)))
        if scale is not None and shift is not None:
            product = self.table.infix("*", term, scale)
            yield from self.rounded(self.table.infix("+" if offset > 0 else "-", product, shift))


def _quotients(low: float, high: float, by: float) -> tuple[float, float]:
    first, second = low / by, high / by
    return min(first, second), max(first, second)


def _inverses(low: float, high: float, of: float) -> tuple[float, float]:
    if low <= 0 <= high:
        return -math.inf, math.inf
    first, second = of / low, of / high
    return min(first, second), max(first, second)


def _is_number(value: object) -> bool:
    return type(value) in _NUMERIC
