"""Atoms: the single tests that conditions are made of, each with the rows for which it holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from .columns import Column
from .quantity import Quantity

__all__ = ["Atom", "Threshold", "both", "guarded"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """Which numbers an atom compares, and where it cuts: between `low` and `high`."""

    quantity: Quantity
    above: bool
    """Whether the atom holds above the cut, or below."""
    low: float
    high: float
    missing: bool
    """Whether it holds where there is no number."""


@dataclass(eq=False, slots=True)
class Atom:
    """A test. Its source never fails on the rows of its table. It is not changed once it is made."""

    source: str
    cost: int
    rows: int
    form: Literal["and", "relation", "term"] = "relation"
    """How tightly it binds: whether it needs brackets in a negation, or among others."""
    bare: str = ""
    """The source without its guard: right where something else makes sure that the value is there."""
    there: int = -1
    """The rows in which `bare` can be computed."""
    threshold: Threshold | None = None
    spare: int = 0
    """What the guard adds to the cost."""


def both(
    table_all: int,
    source: str,
    negated: str,
    rows: int,
    cost: int,
    *,
    bare: tuple[str, str] = ("", ""),
    there: int = -1,
    spare: int = 0,
) -> list[Atom]:
    """A test and its opposite; nothing where it holds for all rows or for none."""
    if rows in {0, table_all}:
        return []
    return [
        Atom(source, cost, rows, "and" if " && " in source else "relation", bare[0], there, None, spare),
        Atom(negated, cost, table_all ^ rows, "relation", bare[1], there, None, spare),
    ]


def guarded(columns: Iterable[Column], test: str) -> tuple[str, int]:
    """A test that holds only where all these columns have a value, and what the guards cost."""
    needed: dict[int, str] = {}
    for column in columns:
        if column.given:
            needed.setdefault(column.present, column.given)
    guards = list(dict.fromkeys(needed.values()))
    return " && ".join([*guards, test]), len(guards)
