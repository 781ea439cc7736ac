"""What a run of a benchmark came to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json

__all__ = ["BenchReport", "CategoryReport"]

_NORMAL: Final = 1.959964
"""The 97.5 % quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class CategoryReport:
    """One category."""

    name: str
    correct: int
    """By the benchmark's own checker."""
    total: int
    """All items that were asked; those that the model took no prompt of are wrong."""
    malformed: int
    cut_off: int
    failed: int
    errors: Mapping[str, int]
    """How many answers are wrong in which way, in the checker's words."""
    tokens: int
    """Sampled, where the backend says how many."""
    seconds: float

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return self.correct / self.total

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy, by Wilson's score (J. Am. Stat. Assoc. 22, 1927)."""
        n, share, z = self.total, self.accuracy, _NORMAL
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return max(middle - half, 0.0), min(middle + half, 1.0)

    def as_json(self) -> dict[str, Json]:
        """As JSON."""
        return {
            "correct": self.correct,
            "total": self.total,
            "accuracy": self.accuracy,
            "interval": list(self.interval()),
            "malformed": self.malformed,
            "cut_off": self.cut_off,
            "failed": self.failed,
            "errors": dict(self.errors),
            "tokens": self.tokens,
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class BenchReport:
    """All categories of a run, and all that is needed to run it again."""

    benchmark: str
    """The package and its version."""
    model: str
    form: str
    """The format of calls."""
    style: str
    temperature: float
    max_tokens: int
    limit: int | None
    seed: int
    categories: Sequence[CategoryReport]

    def as_json(self) -> dict[str, Json]:
        """As JSON."""
        return {
            "benchmark": self.benchmark,
            "model": self.model,
            "format": self.form,
            "style": self.style,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "limit": self.limit,
            "seed": self.seed,
            "categories": {one.name: one.as_json() for one in self.categories},
        }
