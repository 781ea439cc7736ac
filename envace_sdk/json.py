"""JSON values, and the difference between null and nothing."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, TypeAlias

__all__ = ["UNSET", "Json", "Unset"]

Json: TypeAlias = Any
"""Any JSON value: None, bool, int, float, str, list or dict with string keys."""


class Unset(Enum):
    """The type of `UNSET`: JSON's null is a value, so absence needs another."""

    UNSET = "unset"

    # Enum hashes its members' names anew each time.
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset.UNSET
