"""Which elements of a list were chosen, and the expression that chooses them: filter, order, first and last ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from envace_sdk.json import UNSET

from .evidence import information
from .forms import default, everywhere
from .loops import Loop, loop
from .numbers import numbers
from .paths import paths
from .table import Table
from .term import Term
from .truths import conditions

__all__ = ["Selection", "aligned", "ends", "selected"]

_MOST_TOLD = 90
"""Elements from which a condition is learnt; it is checked on all of them."""
_MOST_ORDERS = 12

Keys = list[list[Hashable]]
"""What elements look like, by row."""


@dataclass(frozen=True, slots=True)
class Selection:
    """A list, and which of its elements are wanted in each row, in that order."""

    over: Term
    wanted: tuple[tuple[int, ...], ...]
    unsure: frozenset[int] = frozenset()
    """Rows in which other elements may be meant: those that look like the wanted ones."""

    @property
    def sure(self) -> list[int]:
        """The rows to learn from."""
        return [row for row in range(len(self.wanted)) if row not in self.unsure]

    @property
    def everything(self) -> bool:
        """Whether all elements are wanted, as they come."""
        sizes = [len(items) for items in self.over.column]
        return all(len(chosen) == size for chosen, size in zip(self.wanted, sizes, strict=True)) and all(
            self.wanted[row] == tuple(range(sizes[row])) for row in self.sure
        )


def aligned(found: Sequence[Hashable], among: Sequence[Hashable]) -> tuple[int, ...] | None:
    """Where each of the found ones is among the others, each of which counts once; in order if that can be."""
    places: list[int] = []
    at = 0
    for key in found:
        while at < len(among) and among[at] != key:
            at += 1
        if at == len(among):
            return _aligned_anyhow(found, among)
        places.append(at)
        at += 1
    return tuple(places)


def _aligned_anyhow(found: Sequence[Hashable], among: Sequence[Hashable]) -> tuple[int, ...] | None:
    free: dict[Hashable, deque[int]] = {}
    for place, key in enumerate(among):
        free.setdefault(key, deque()).append(place)
    places = []
    for key in found:
        left = free.get(key)
        if not left:
            return None
        places.append(left.popleft())
    return tuple(places)


def selected(table: Table, selection: Selection) -> Iterator[Term]:
    """Expressions for the lists of the wanted elements, plainest first."""
    if selection.everything:
        yield selection.over
        return
    if all(list(selection.wanted[row]) == sorted(selection.wanted[row]) for row in selection.sure):
        yield from _in_order(table, selection)
    else:
        for order in _orders(table, selection.over):
            again = _resorted(selection, order)
            if again is not None:
                yield from _in_order(table, again, sorter=order)


@dataclass(frozen=True, slots=True)
class _Order:
    """A way to sort."""

    name: str
    field: str | None = None

    def of(self, table: Table, over: Term) -> Term:
        """The list, sorted."""
        if self.field is None:
            return table.call(self.name, over)
        field = table.constant(self.field)
        return table.call(self.name, over, field) if field is not None else over


def _orders(table: Table, over: Term) -> Iterator[_Order]:
    yield _Order("sort")
    yield _Order("sort", "-")
    yield _Order("reverse")
    inside = loop(table, over)
    if inside is None:
        return
    prefix = f"{inside.variable}."
    fields = [
        term.source.removeprefix(prefix)
        for term in inside.own
        if term.source.startswith(prefix) and term.kind in {"text", "number", "boolean"} and "[" not in term.source
    ]
    for field in fields[:_MOST_ORDERS]:
        yield _Order("sort", field)
        yield _Order("sort", f"-{field}")


def _resorted(selection: Selection, order: _Order) -> Selection | None:
    """The selection from the sorted list, if it is one in its order."""
    made = []
    for row, (items, chosen) in enumerate(zip(selection.over.column, selection.wanted, strict=True)):
        places = _sorted_places(items, order)
        rank = {place: at for at, place in enumerate(places)}
        again = tuple(rank[place] for place in chosen)
        if row not in selection.unsure and list(again) != sorted(again):
            return None
        made.append(again)
    return Selection(selection.over, tuple(made), selection.unsure)


def _sorted_places(items: list[object], order: _Order) -> list[int]:
    from ...expressions.lists import sorted_by

    if order.name == "reverse":
        return list(range(len(items)))[::-1]
    field = order.field or ""
    # What is sorted is told from its equals by where it was.
    path, sign = field.removeprefix("-"), "-" if field.startswith("-") else ""
    wrapped = [{"item": item, "place": place} for place, item in enumerate(items)]
    inner = f"{sign}item.{path}" if path else f"{sign}item"
    return [entry["place"] for entry in sorted_by(wrapped, [inner])]


def _in_order(table: Table, selection: Selection, sorter: _Order | None = None) -> Iterator[Term]:
    base = selection.over if sorter is None else sorter.of(table, selection.over)
    if selection.everything:
        yield base
        return
    yield from ends(table, base, selection)
    if sorter is not None:
        original = Selection(selection.over, _unsorted(selection, sorter), selection.unsure)
        for filtered in _filtered(table, original):
            yield sorter.of(table, filtered)
    else:
        yield from _filtered(table, selection)
        yield from _slices(table, base, selection)


def _unsorted(selection: Selection, sorter: _Order) -> tuple[tuple[int, ...], ...]:
    made = []
    for items, chosen in zip(selection.over.column, selection.wanted, strict=True):
        places = _sorted_places(items, sorter)
        made.append(tuple(sorted(places[at] for at in chosen)))
    return tuple(made)


def ends(table: Table, base: Term, selection: Selection) -> Iterator[Term]:
    """The first or last so many, or all but the first."""
    sizes = [len(items) for items in base.column]
    amounts = [len(chosen) for chosen in selection.wanted]
    sure = [(selection.wanted[row], amounts[row], sizes[row]) for row in selection.sure]
    if all(chosen == tuple(range(amount)) for chosen, amount, _ in sure):
        yield from (table.call("take", base, count) for count in _amounts(table, base, amounts, sizes))
    if all(chosen == tuple(range(size - amount, size)) for chosen, amount, size in sure):
        yield from (table.call("takeLast", base, count) for count in _amounts(table, base, amounts, sizes))
        left = [size - amount for amount, size in zip(amounts, sizes, strict=True)]
        if any(left):
            yield from (table.call("drop", base, count) for count in _amounts(table, base, left, sizes))


def _amounts(table: Table, base: Term, amounts: Sequence[int], sizes: Sequence[int]) -> Iterator[Term]:
    """Whole numbers that are the amounts, or more where the amount is all there is."""

    def fits(term: Term, rows: Sequence[int]) -> bool:
        return all(
            isinstance(value := term.column[row], int | float)
            and (value == amounts[row] or (amounts[row] == sizes[row] and value >= sizes[row] and value % 1 == 0))
            for row in rows
        )

    everywhere = range(table.size)
    if all(amount == size for amount, size in zip(amounts, sizes, strict=True)):
        return
    cut = {amount for amount, size in zip(amounts, sizes, strict=True) if amount < size}
    constant = table.constant(min(cut), fitted=int(information(min(cut)))) if len(cut) == 1 else None
    if constant is not None and fits(constant, everywhere):
        yield constant
    yield from (term for term in numbers(table) if fits(term, everywhere))
    for term in paths(table):
        given = [row for row in everywhere if term.column[row] is not UNSET and term.column[row] is not None]
        if term.kind == "number" and 0 < len(given) < table.size and fits(term, given):
            rest = [row for row in everywhere if row not in given]
            cut = {amounts[row] for row in rest if amounts[row] < sizes[row]}
            otherwise = table.constant(min(cut)) if len(cut) == 1 else None if cut else table.call("size", base)
            if otherwise is not None:
                made = default(table, term, otherwise)
                if fits(made, everywhere):
                    yield made


def _filtered(table: Table, selection: Selection) -> Iterator[Term]:
    """`over.filter(x, condition)`, perhaps cut to the first so many."""
    inside = loop(table, selection.over)
    if inside is None:
        return
    most = max(map(len, selection.wanted))
    full = [row for row, chosen in enumerate(selection.wanted) if len(chosen) == most]
    for cut in (False, True):
        yes, no = _told(inside, selection, set(full) if cut else set())
        if not yes or not no:
            continue
        for condition in _conditions(inside, yes, no):
            made = inside.filter(condition)
            if not cut:
                yield made
            elif len(full) > 1 or most > 1:
                yield from ends(table, made, _first_of(made, selection))


def _first_of(base: Term, selection: Selection) -> Selection:
    """As many, at the beginning of another list."""
    return Selection(base, tuple(tuple(range(len(chosen))) for chosen in selection.wanted), selection.unsure)


def _told(inside: Loop, selection: Selection, full: set[int]) -> tuple[list[int], list[int]]:
    """The elements that were taken and those that were not; behind the last of a full list nobody knows."""
    yes, no = [], []
    at = 0
    for row, items in enumerate(inside.lists):
        if row in selection.unsure:
            at += len(items or ())
            continue
        chosen = set(selection.wanted[row])
        last = max(chosen, default=-1)
        for place in range(len(items or ())):
            if place in chosen:
                yes.append(at + place)
            elif row not in full or place < last:
                no.append(at + place)
        at += len(items or ())
    return yes, no


def _conditions(inside: Loop, yes: Sequence[int], no: Sequence[int]) -> Iterator[Term]:
    """Conditions learnt from some of the elements that hold for all of them."""
    half = _MOST_TOLD // 2
    some_yes, some_no = _thinned(yes, half), _thinned(no, half)
    rows = sorted([*some_yes, *some_no])
    table = inside.inner.narrowed(rows)
    place = {row: at for at, row in enumerate(rows)}
    found = conditions(table, [place[row] for row in some_yes], [place[row] for row in some_no])
    for term in found:
        if not table.concerns(term):
            continue
        whole = everywhere(inside.inner, term)
        if all(whole.column[row] is True for row in yes) and all(whole.column[row] is False for row in no):
            yield whole


def _thinned(rows: Sequence[int], most: int) -> list[int]:
    if len(rows) <= most:
        return list(rows)
    return [rows[place * len(rows) // most] for place in range(most)]


def _slices(table: Table, base: Term, selection: Selection) -> Iterator[Term]:
    """A page: so many after the first so many."""
    wanted = [selection.wanted[row] for row in selection.sure]
    if any(chosen != tuple(range(chosen[0], chosen[0] + len(chosen))) for chosen in wanted if chosen):
        return
    sizes = [len(items) for items in base.column]
    begins = [chosen[0] if chosen else size for chosen, size in zip(selection.wanted, sizes, strict=True)]
    if max(begins) == 0:
        return
    for begin in _amounts(table, base, begins, sizes):
        rest = table.call("drop", base, begin)
        yield from ends(table, rest, _first_of(rest, selection))
