"""Tests of numbers: against constants, against each other, and after one sum, difference or product."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from itertools import combinations

from .atoms import Atom, Threshold, guarded
from .columns import Column, Table, packed
from .quantity import Quantity
from .rounding import number_source, roundest

__all__ = ["Thresholds", "derived", "order_atoms", "quantities", "threshold_atom"]

MAX_QUANTITIES = 24


def quantities(table: Table) -> list[Quantity]:
    """Numbers as they are, sizes of texts and lists, and times."""
    found: list[Quantity] = []
    sizes: list[Quantity] = []
    for column in table.columns:
        if column.kind == "number":
            found.append(Quantity(column.source, tuple(column.numbers), (column,), column.cost))
        elif column.kind == "text" and column.times is not None:
            cost = column.cost + 1
            found.append(Quantity(f"timestamp({column.source})", tuple(column.times), (column,), cost, "time"))
        elif column.kind in {"text", "list"}:
            numbers = tuple(float(len(value)) if isinstance(value, str | list) else math.nan for value in column.values)
            cost = column.cost + (2 if column.kind == "text" else 1)
            sizes.append(Quantity(f"size({column.source})", numbers, (column,), cost, "size"))
    varied = [quantity for quantity in sizes if len(set(quantity.numbers)) > 1]
    return [*found[:MAX_QUANTITIES], *varied[:MAX_QUANTITIES]]


def derived(found: list[Quantity], most: int, *, differences: bool) -> list[Quantity]:
    """Sums and products of two, and differences: where numbers are compared with numbers, sums say the same."""
    operands = [quantity for quantity in found if quantity.sort == "number"][:most]
    made = []
    for left, right in combinations(operands, 2):
        cost = left.cost + right.cost + 2
        columns = (*left.columns, *right.columns)
        for sign, apply in _ARITHMETIC:
            if sign == "-" and not differences:
                continue
            numbers = tuple(map(apply, left.numbers, right.numbers))
            made.append(Quantity(f"{left.source} {sign} {right.source}", numbers, columns, cost))
    return made


_ARITHMETIC: tuple[tuple[str, Callable[[float, float], float]], ...] = (
    ("+", operator.add),
    ("-", operator.sub),
    ("*", operator.mul),
)


class Thresholds:
    """`number > constant` and its kin, of some quantities; each test is made once."""

    def __init__(self, table: Table, found: list[Quantity], most_cuts: int) -> None:
        self._all = table.all
        self._quantities = [quantity for quantity in found if quantity.sort != "time"]
        self._most = most_cuts
        self._made: dict[tuple[int, float, float], list[Atom]] = {}

    def atoms(self, yes: int, no: int) -> list[Atom]:
        """The tests at cuts that tell something about these rows."""
        found: list[Atom] = []
        for number, quantity in enumerate(self._quantities):
            for low, high in _cuts(quantity, yes, no)[: self._most]:
                known = self._made.get((number, low, high))
                if known is None:
                    known = self._made[number, low, high] = self._at(quantity, low, high)
                found += known
        return found

    def _at(self, quantity: Quantity, low: float, high: float) -> list[Atom]:
        made = [
            threshold_atom(quantity, above, low, high, missing, self._all)
            for above in (True, False)
            for missing in ((False, True) if quantity.missing else (False,))
        ]
        return [atom for atom in made if atom.rows not in {0, self._all}]


def _cuts(quantity: Quantity, yes: int, no: int) -> list[tuple[float, float]]:
    """Neighbouring numbers between which to cut: where most is told apart, and around either side's range."""
    looked = yes | no
    values, up_to = quantity.ranked
    mine = [place for place, rows in enumerate(up_to) if rows & looked & ~(up_to[place - 1] if place else 0)]
    if len(mine) < 2:
        return []
    total = tuple((up_to[-1] & side).bit_count() for side in (yes, no))
    scored = []
    edges: dict[int, None] = {}
    before = (0, 0)
    for rank, place in enumerate(mine[:-1]):
        below = (up_to[place] & yes).bit_count(), (up_to[place] & no).bit_count()
        scored.append((-abs(below[0] * max(total[1], 1) - below[1] * max(total[0], 1)), rank))
        following = up_to[mine[rank + 1]]
        for side, rows in enumerate((yes, no)):
            begins = not below[side] and following & rows
            ends = below[side] == total[side] != before[side]
            if begins or ends:
                edges[rank] = None
        before = below
    ranks = dict.fromkeys([rank for _, rank in sorted(scored)[:2]]) | edges
    return [(values[mine[rank]], values[mine[rank + 1]]) for rank in ranks]


def threshold_atom(quantity: Quantity, above: bool, low: float, high: float, missing: bool, everything: int) -> Atom:
    """The test that cuts between two numbers, at the roundest constant."""
    sign, limit, penalty = roundest(low, high, above=above)
    written = number_source(limit)
    there = quantity.present
    rows = quantity.below(limit, inclusive=sign in {"<=", ">"})
    if above:
        rows = there & ~rows
    if missing:
        rows |= everything & ~there
    bare = f"{quantity.source} {sign} {written}"
    threshold = Threshold(quantity, above, low, high, missing)
    cost = 2 + penalty + quantity.cost
    guards = list(dict.fromkeys(column.given for column in quantity.columns if column.given))
    if not guards:
        return Atom(bare, cost, rows, threshold=threshold)
    default = _default(sign, limit, missing)
    if default is not None and len(quantity.columns) == 1 and quantity.source == quantity.columns[0].source:
        source = f"default({quantity.source}, {default}) {sign} {written}"
        return Atom(source, cost, rows, "relation", bare, there, threshold)
    cost += len(guards)
    if missing:
        opposite = " && ".join([*guards, f"{quantity.source} {_OPPOSITE[sign]} {written}"])
        return Atom(f"!({opposite})", cost + 2, rows, "relation", bare, there, threshold, len(guards) + 2)
    return Atom(" && ".join([*guards, bare]), cost, rows, "and", bare, there, threshold, len(guards))


def _default(sign: str, limit: float, missing: bool) -> str | None:
    """What may stand for a missing number, so that the test comes out as it should for it."""
    for value in (0, limit):
        if _COMPARE[sign](value, limit) is missing:
            return number_source(value)
    return None


_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">"}


def order_atoms(table: Table, lefts: list[Quantity], rights: list[Quantity] | None = None) -> Iterator[Atom]:
    """`number < number` and its kin, of pairs; of all pairs of the first list where there is no second.

    Where no two numbers were equal, a test might be strict or not; it is made strict.
    """
    pairs = combinations(lefts, 2) if rights is None else ((a, b) for a in lefts for b in rights)
    for one, two in pairs:
        if not _comparable(one, two):
            continue
        left, right = (two, one) if two.is_argument and not one.is_argument else (one, two)
        there = left.present & right.present
        less = packed(map(operator.lt, left.numbers, right.numbers))
        at_most = packed(map(operator.le, left.numbers, right.numbers))
        cost = 3 + left.cost + right.cost - bool(left.words & right.words)
        columns = (*left.columns, *right.columns)
        signs = [("<", less), (">", there & ~at_most)]
        if less != at_most:
            signs += [("<=", at_most), (">=", there & ~less)]
        for sign, rows in signs:
            if rows and rows != there:
                sides = [f"{left.source} {written} {right.source}" for written in (sign, _OPPOSITE[sign])]
                yield from _ordered(table, columns, sides, rows, there, cost)


def _ordered(
    table: Table, columns: tuple[Column, ...], sides: list[str], rows: int, there: int, cost: int
) -> list[Atom]:
    source, guards = guarded(columns, sides[0])
    if not guards:
        return [Atom(source, cost, rows)]
    cost += guards
    return [
        Atom(source, cost, rows, "and", sides[0], there, None, guards),
        Atom(f"!({source})", cost + 2, table.all ^ rows, "relation", sides[1], there, None, guards + 2),
    ]


def _comparable(left: Quantity, right: Quantity) -> bool:
    if "time" in {left.sort, right.sort}:
        return left.sort == right.sort
    if left.sort == right.sort == "size":
        return False
    if left.sort != right.sort and "text" in {column.kind for column in (*left.columns, *right.columns)}:
        return False
    return not {column.path for column in left.columns} & {column.path for column in right.columns}
