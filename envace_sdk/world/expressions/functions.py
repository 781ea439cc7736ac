"""Every function of the language, by name."""

from __future__ import annotations

from .lists import LISTS
from .numbers import NUMBERS
from .paths import PATHS
from .queries import QUERIES
from .registry import Function, Library
from .texts import TEXTS
from .times import TIMES

__all__ = ["FUNCTIONS", "Function"]

FUNCTIONS: Library = {**LISTS, **NUMBERS, **PATHS, **QUERIES, **TEXTS, **TIMES}
