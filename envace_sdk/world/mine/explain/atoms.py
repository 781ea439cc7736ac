"""Conditions as sets of rows: where they hold, and where they do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from envace_sdk.json import Json

from .evidence import information
from .forms import negated
from .table import Table
from .term import Term

__all__ = ["OPPOSITES", "Atom", "bits_of", "first_of", "later", "rows_of", "told", "with_constant"]

OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


@dataclass(eq=False, slots=True)
class Atom:
    """A condition by where it holds and where it does not; elsewhere it cannot be told. It is not changed once made."""

    table: Table
    yes: int
    no: int
    cost: int
    build: Callable[[], Term]
    build_opposite: Callable[[], Term] | None = None

    def tells(self, wanted: int, unwanted: int) -> bool:
        """Whether it holds in all of some rows (a bit each) and fails in all of others."""
        return not wanted & ~self.yes and not unwanted & ~self.no

    def opposite(self) -> Atom:
        """The atom that holds where this one does not."""
        build = self.build_opposite
        if build is not None:
            return Atom(self.table, self.no, self.yes, self.cost, build, self.build)
        return Atom(self.table, self.no, self.yes, self.cost + 1, lambda: negated(self.table, self.build()), self.build)


def bits_of(rows: Iterable[int]) -> int:
    """Rows as the bits of a number."""
    found = 0
    for row in rows:
        found |= 1 << row
    return found


def rows_of(bits: int) -> list[int]:
    """The bits of a number as rows."""
    return [row for row in range(bits.bit_length()) if bits >> row & 1]


def first_of(bits: int) -> int:
    """The first of the rows that are the bits of a number."""
    return (bits & -bits).bit_length() - 1


def told(column: Sequence[Any]) -> tuple[int, int]:
    """The rows that are true and those that are false, as bits."""
    yes = no = 0
    for row, value in enumerate(column):
        if value is True:
            yes |= 1 << row
        elif value is False:
            no |= 1 << row
    return yes, no


def later(make: Callable[..., Term], *arguments: Any) -> Callable[[], Term]:
    """A call for when it is needed."""
    return lambda: make(*arguments)


def with_constant(table: Table, term: Term, operator: str, value: Json, yes: int, no: int) -> Atom:
    """A comparison with a constant."""

    def build(sign: str) -> Term:
        constant = table.constant(value, fitted=int(information(value)))
        return table.infix(sign, term, constant) if constant is not None else term

    return Atom(table, yes, no, term.cost + 2, later(build, operator), later(build, OPPOSITES[operator]))
