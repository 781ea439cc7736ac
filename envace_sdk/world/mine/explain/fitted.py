"""Conditions with constants that the rows suggest: thresholds, values, one of a few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envace_sdk.json import UNSET, Json

from ...expressions.arithmetic import COMPARISONS
from .atoms import Atom, bits_of, first_of, told, with_constant
from .evidence import information
from .fitting import roundest
from .lookups import places
from .numbers import numbers
from .pieces import texts
from .table import Table
from .term import Term

__all__ = ["equalities", "fitted_atoms"]

_MOST_MEASURED = 60
_MOST_ALIKE = 40
_FEW = 6
_NUMERIC = frozenset({int, float})


def fitted_atoms(table: Table, yes: Sequence[int], no: Sequence[int]) -> Iterator[Atom]:
    """Comparisons with constants that these rows suggest."""
    table.budget.spend((len(yes) + len(no)) * _MOST_MEASURED // 2)
    for term in [term for term in numbers(table) if table.concerns(term)][:_MOST_MEASURED]:
        yield from _threshold(table, term, yes, no)
    wanted, unwanted = bits_of(yes), bits_of(no)
    for groups in _grouped(table):
        yield from _choices(table, groups, wanted, unwanted)


def _threshold(table: Table, term: Term, yes: Sequence[int], no: Sequence[int]) -> Iterator[Atom]:
    above = [term.column[row] for row in yes if _is_number(term.column[row])]
    below = [term.column[row] for row in no if _is_number(term.column[row])]
    if not above or not below:
        return
    for highs, lows, closed, opened in ((above, below, ">=", ">"), (below, above, "<", "<=")):
        low, high = max(lows), min(highs)
        if low >= high:
            continue
        value = roundest(low, high)
        # A number that was met above the gap belongs to what is above it.
        operator = opened if value == low else closed
        compare = COMPARISONS[operator]
        holds = [compare(item, value) if _is_number(item) else None for item in term.column]
        yield with_constant(table, term, operator, value, *told(holds))


def _is_number(value: object) -> bool:
    return type(value) in _NUMERIC


@dataclass(frozen=True, slots=True)
class _Groups:
    """The rows by the value of a term that has few values."""

    term: Term
    rows: tuple[int, ...]
    """A bit each."""
    there: int


def _grouped(table: Table) -> list[_Groups]:
    found: list[_Groups] = table.fact("groups", _group)
    return found


def _group(table: Table) -> list[_Groups]:
    found = []
    for term in [*places(table), *texts(table)[:_MOST_ALIKE]]:
        if term.kind not in {"text", "number"} or not table.concerns(term):
            continue
        groups = [rows for key, rows in term.places.items() if key is not None and key is not UNSET]
        if len(groups) >= 2 and (len(groups) <= _FEW or len(groups) * 3 <= table.size):
            there = ((1 << table.size) - 1) & ~term.places.get(UNSET, 0)
            found.append(_Groups(term, tuple(groups), there))
    return found


def equalities(table: Table) -> Iterator[Atom]:
    """A value that is met more than once among few."""
    for groups in _grouped(table):
        for bits in groups.rows:
            if bits.bit_count() >= 2:
                value = groups.term.column[first_of(bits)]
                yield with_constant(table, groups.term, "==", value, bits, groups.there & ~bits)


def _several(rows: int) -> bool:
    return rows.bit_count() >= 2


def _choices(table: Table, groups: _Groups, yes: int, no: int) -> Iterator[Atom]:
    """One of a few values, which only one side has."""
    for side in (yes, no):
        chosen = [rows for rows in groups.rows if rows & side]
        if 2 <= len(chosen) <= _FEW and len(chosen) < len(groups.rows) and all(map(_several, chosen)):
            bits = 0
            for rows in chosen:
                bits |= rows
            values = [groups.term.column[first_of(rows)] for rows in chosen]
            yield _one_of(table, groups.term, values, bits, groups.there & ~bits)


def _one_of(table: Table, term: Term, values: list[Json], yes: int, no: int) -> Atom:
    def build() -> Term:
        choices = table.constant(values, fitted=int(sum(map(information, values))))
        return table.infix("in", term, choices) if choices is not None else term

    return Atom(table, yes, no, term.cost + 2 + len(values), build)
