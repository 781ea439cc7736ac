"""What is to be explained, and how it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from envace_sdk.json import Json

__all__ = ["Example", "Explanation"]


@dataclass(frozen=True, slots=True)
class Example:
    """One case: what was known, and what came of it."""

    scope: Mapping[str, Json]
    """Plain JSON by the names that expressions may use. A text under "now" that holds a time is one."""
    target: Json
    """The value to be explained; `UNSET` where there was none."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """An expression, and how well it does on all examples."""

    source: str
    """CEL over the names of the scopes."""
    cost: int
    """How large it is: names, literals, operators and calls."""
    hits: int
    """Examples whose target it gives; `UNSET` is given by an expression that asks for something absent."""
    misses: int
    support: int
    """Distinct cases among the hits: examples that differ neither in what the expression reads nor in the target
    count once."""
