"""Terms: expressions whose values in all rows are known."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .column import Column, Kind, column_key, kind_of, places_of
from .writing import Level

__all__ = ["Term"]

_ROOTS = {"args": 1, "entity": 2, "session": 3}


@dataclass(eq=False)
class Term:
    """An expression, how large it is, and its values. It is not changed once it is made."""

    source: str
    column: Column = field(repr=False)
    cost: int
    level: Level = Level.MEMBER
    leaves: tuple[str, ...] = ()
    """The paths that it reads, each once."""
    fitted: int = 0
    """Bits of the literals in it that were chosen to fit the targets."""

    def at(self, level: Level) -> str:
        """The source, in brackets where it binds less tightly than the level asks for."""
        return self.source if self.level >= level else f"({self.source})"

    @cached_property
    def kind(self) -> Kind:
        """What its values have in common."""
        return kind_of(self.column)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Equal for terms with equal values."""
        return column_key(self.column)

    @cached_property
    def places(self) -> dict[Hashable, int]:
        """For each of its values, by key, the rows in which it has it: a bit each."""
        return places_of(self.key)

    def with_column(self, column: Column) -> Term:
        """The same expression, with its values in other rows."""
        return Term(self.source, column, self.cost, self.level, self.leaves, self.fitted)

    def of_rows(self, taken: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Term:
        """The same expression in the rows that are taken."""
        made = self.with_column(taken(self.column))
        known = self.__dict__.get("key")
        if known is not None:
            made.__dict__["key"] = taken(known)
        return made

    @cached_property
    def order(self) -> tuple[int, int, int, str]:
        """Simplest first, then what the call brings along, the entity, the session, the rest."""
        return self.cost, sum(map(_remoteness, self.leaves)), len(self.source), self.source


def _remoteness(path: str) -> int:
    root = path.split(".", 1)[0].split("[", 1)[0]
    return _ROOTS.get(root, 0 if len(root) == 1 else 4)
