"""Whether one of two ways is better: differences of runs that share a seed, and how sure their mean is."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Paired", "paired"]

_STUDENT: Final = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
"""Two-sided 97.5 % quantiles of Student's t, from one degree of freedom; beyond the last they only fall."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Two ways on the same seeds."""

    seeds: int
    first: float
    """Mean of the first way."""
    second: float
    difference: float
    """Mean of first - second over the seeds."""
    half: float | None
    """Half the width of the difference's 95 % interval, by Student's t; None with fewer than two seeds."""

    @property
    def low(self) -> float:
        """Where the 95 % interval begins; minus infinity if there is none."""
        return -math.inf if self.half is None else self.difference - self.half

    @property
    def high(self) -> float:
        """Where the 95 % interval ends; infinity if there is none."""
        return math.inf if self.half is None else self.difference + self.half


def paired(first: Sequence[float], second: Sequence[float]) -> Paired:
    """Compare two ways, seed by seed.

    Args:
        first: a number for each seed.
        second: for the same seeds, in the same order.

    Raises:
        ValueError: they are not equally many, or there are none.
    """
    differences = [one - other for one, other in zip(first, second, strict=True)]
    count = len(differences)
    if not count:
        raise ValueError("there is nothing to compare")
    half = None
    if count > 1:
        quantile = _STUDENT[min(count - 1, len(_STUDENT)) - 1]
        half = quantile * statistics.stdev(differences) / math.sqrt(count)
    return Paired(count, statistics.fmean(first), statistics.fmean(second), statistics.fmean(differences), half)
