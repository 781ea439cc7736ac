"""Many mistakes in one message: the first of them, each as long as people read."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

__all__ = ["first_of"]

_MOST: Final = 20
_LONGEST: Final = 500
"""Characters: a mistake quotes names that strangers wrote."""


def first_of(mistakes: Iterable[str], separator: str = "; ") -> str:
    """The first mistakes, and how many more there are."""
    found = iter(mistakes)
    told = [each if len(each) <= _LONGEST else f"{each[:_LONGEST]}…" for each in islice(found, _MOST)]
    left = sum(1 for _ in found)
    return separator.join([*told, f"and {left} more"] if left else told)
