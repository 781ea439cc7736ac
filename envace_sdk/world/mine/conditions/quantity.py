"""What conditions compare as numbers."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property

from .columns import Column

__all__ = ["Quantity"]


@dataclass(frozen=True)
class Quantity:
    """Something with a number in every row that has it (NaN elsewhere)."""

    source: str
    numbers: tuple[float, ...]
    columns: tuple[Column, ...]
    cost: int
    sort: str = "number"
    """What it is compared with: numbers with numbers, sizes also with numbers, times with times."""

    @cached_property
    def missing(self) -> bool:
        """Whether some row has none."""
        return self.present.bit_count() < len(self.numbers)

    @cached_property
    def ranked(self) -> tuple[list[float], list[int]]:
        """The different numbers in order, and with each the rows that have it or a smaller one."""
        places: dict[float, list[int]] = {}
        for place, value in enumerate(self.numbers):
            if value == value:
                places.setdefault(value, []).append(place)
        values = sorted(places)
        below, up_to = 0, []
        for value in values:
            below |= sum(1 << place for place in places[value])
            up_to.append(below)
        return values, up_to

    def below(self, limit: float, *, inclusive: bool) -> int:
        """The rows whose number is below a limit, or at most the limit."""
        values, up_to = self.ranked
        place = (bisect_right if inclusive else bisect_left)(values, limit)
        return up_to[place - 1] if place else 0

    @cached_property
    def present(self) -> int:
        """The rows that have one."""
        _, up_to = self.ranked
        return up_to[-1] if up_to else 0

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its names."""
        return frozenset().union(*(column.words for column in self.columns))

    @property
    def is_argument(self) -> bool:
        """Whether it is an argument, or made of some."""
        return all(column.path[0] == "args" for column in self.columns)
