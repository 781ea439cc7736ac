"""All atoms that a table has for telling two sets of its rows apart."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from operator import attrgetter

from .atoms import Atom
from .columns import Table
from .numeric import Thresholds, derived, order_atoms, quantities
from .pairs import Holder, equal_pair_atoms, holders, member_atoms, subset_atoms
from .quantity import Quantity
from .single import equality_atoms, presence_atoms, set_atoms
from .textual import TextTests, text_pair_atoms
from .views import view_pair_atoms, views

__all__ = ["Pool"]

MAX_CUTS = 6
MAX_OPERANDS = 12
MAX_CUT_OPERANDS = 8
"""Numbers that are added and multiplied, for comparing with numbers and with constants."""
MAX_ALIKE = 3
"""Atoms kept of those that hold for the same rows."""
MAX_KEPT = 16
_COST = attrgetter("cost")


class Pool:
    """The atoms of one table; those that do not hang on what is to be told apart are made once."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._found: dict[tuple[int, int, int], list[Atom]] = {}
        """The last answers: each stage of a search asks again."""

    @cached_property
    def quantities(self) -> list[Quantity]:
        """What can be compared as a number."""
        return quantities(self.table)

    @cached_property
    def _thresholds(self) -> Thresholds:
        return Thresholds(self.table, self.quantities, MAX_CUTS)

    @cached_property
    def _computed_thresholds(self) -> Thresholds:
        return Thresholds(self.table, derived(self.quantities, MAX_CUT_OPERANDS, differences=True), 2)

    @cached_property
    def _texts(self) -> TextTests:
        return TextTests(self.table)

    @cached_property
    def _plain(self) -> list[Atom]:
        return [*presence_atoms(self.table), *equality_atoms(self.table), *equal_pair_atoms(self.table)]

    @cached_property
    def _relating(self) -> list[Atom]:
        table = self.table
        return [
            *member_atoms(table),
            *order_atoms(table, self.quantities),
            *text_pair_atoms(table),
            *equality_atoms(self._views),
            *view_pair_atoms(table, self._views),
        ]

    @cached_property
    def _views(self) -> Table:
        return views(self.table)

    @cached_property
    def _holders(self) -> list[Holder]:
        return list(holders(self.table))

    @cached_property
    def _computed(self) -> list[Atom]:
        plain = [quantity for quantity in self.quantities if quantity.sort == "number"]
        return list(order_atoms(self.table, derived(plain, MAX_OPERANDS, differences=False), plain))

    def atoms(self, yes: int, no: int, depth: int) -> list[Atom]:
        """Atoms that tell some of the rows in `yes` from some in `no`, cheapest first; at most a few of those that
        hold for the same of these rows.

        Depth 0: one path and constants, and equality of two paths. 1: also texts, sizes, and all other relations
        of two paths. 2: also sums, differences and products.
        """
        key = (yes, no, depth)
        found = self._found.get(key)
        if found is None:
            plainer = self.atoms(yes, no, depth - 1) if depth else []
            found = self._found[key] = _distinct([*plainer, *self._parts(yes, no, depth)], yes | no)
            if len(self._found) > MAX_KEPT:
                del self._found[next(iter(self._found))]
        return found

    def _parts(self, yes: int, no: int, depth: int) -> list[Atom]:
        """The atoms that come in at a depth."""
        if depth == 0:
            return [*self._plain, *set_atoms(self.table, yes, no), *self._thresholds.atoms(yes, no)]
        if depth == 1:
            told = [*self._texts.atoms(yes, no), *set_atoms(self._views, yes, no)]
            return [*self._relating, *told, *subset_atoms(self.table, self._holders, yes, no)]
        return [*self._computed, *self._computed_thresholds.atoms(yes, no)]


def _distinct(atoms: Iterable[Atom], looked: int) -> list[Atom]:
    found: list[Atom] = []
    alike: dict[int, int] = {0: MAX_ALIKE, looked: MAX_ALIKE}
    for atom in sorted(atoms, key=_COST):
        rows = atom.rows & looked
        count = alike.get(rows, 0)
        if count < MAX_ALIKE:
            alike[rows] = count + 1
            found.append(atom)
    return found
