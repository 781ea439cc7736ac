"""Making a found formula read as a person would have written it, with the same outcome on all rows."""

from __future__ import annotations

from dataclasses import replace

from .atoms import Atom
from .columns import Table, unpacked
from .formula import Formula
from .numeric import threshold_atom

__all__ = ["polished"]


def polished(formula: Formula, table: Table, looked: int) -> Formula:
    """With round constants, as far as the other atoms leave room for them, and without guards that others make idle."""
    for atom in formula.atoms():
        if atom.threshold is not None:
            formula = formula.replaced(atom, _rounded(atom, formula, table, looked))
    return _unguarded(formula, looked)


def _rounded(atom: Atom, formula: Formula, table: Table, looked: int) -> Atom:
    """The cut may lie anywhere between the rows for which this atom decides."""
    threshold = atom.threshold
    if threshold is None:
        return atom
    with_it = formula.replaced(atom, replace(atom, rows=table.all)).rows
    without = formula.replaced(atom, replace(atom, rows=0)).rows
    deciding = (with_it ^ without) & looked
    above: list[float] = []
    below: list[float] = []
    for number, decides in zip(threshold.quantity.numbers, unpacked(deciding, len(table.rows)), strict=True):
        if decides and number == number:
            (above if number >= threshold.high else below).append(number)
    if not above or not below:
        return atom
    low, high = max(below), min(above)
    made = threshold_atom(threshold.quantity, threshold.above, low, high, threshold.missing, table.all)
    return made if made.cost <= atom.cost else atom


def _unguarded(formula: Formula, looked: int) -> Formula:
    """In `a && b`, b may fail where a is false; in `a || b`, where a is true; and anything where nobody looks."""
    parts = [part if isinstance(part, Atom) else _unguarded(part, looked) for part in formula.parts]
    for place, part in enumerate(parts):
        if not isinstance(part, Atom) or not part.bare:
            continue
        undecided = looked
        for other in (*parts[:place], *parts[place + 1 :]):
            undecided &= other.rows if formula.join == "&&" else ~other.rows
        if not undecided & ~part.there:
            parts[place] = replace(part, source=part.bare, bare="", form="relation", cost=part.cost - part.spare)
    return Formula(tuple(parts), formula.join)
