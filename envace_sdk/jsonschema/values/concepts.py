"""What a field is about, by its name."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, TypeAlias

from .names import singular, words
from .vocabulary import FLAGS_OFF, NUMBERS, PEOPLE, TEXTS, UNITS

__all__ = ["concept", "is_off", "is_person", "quantity"]

_Names: TypeAlias = dict[tuple[str, ...], str]


def _read(table: str) -> _Names:
    found: _Names = {}
    for line in re.sub(r"\n +", " ", table.strip()).splitlines():
        concept, _, names = line.partition(": ")
        found |= {words(name): concept for name in names.split(", ")}
    return found


_TEXT_NAMES: Final = _read(TEXTS)
_NUMBER_NAMES: Final = _read(NUMBERS)
_UNITS: Final = frozenset(UNITS.split())
_FLAGS_OFF: Final = frozenset(FLAGS_OFF.split())
_TICKS: Final = frozenset({"ms", "millis", "milliseconds", "seconds", "secs", "s"})
_LARGE_UNITS: Final = frozenset({"kb", "mb", "gb", "tb"})
_PEOPLE: Final = frozenset(PEOPLE.split())


@lru_cache(maxsize=4096)
def concept(name: str) -> str:
    """What a text field of that name holds; "" if its name does not tell."""
    return _find(words(name), _TEXT_NAMES)


@lru_cache(maxsize=4096)
def quantity(name: str) -> str:
    """What a number field of that name counts or measures; "" if its name does not tell."""
    parts = words(name)
    if parts[-1:] and parts[-1] in _TICKS and _find(parts[:-1], _NUMBER_NAMES) == "instant":
        return "instant"
    found = _find(parts, _NUMBER_NAMES)
    if found == "bytes" and parts[-1] in _LARGE_UNITS:
        return "megabytes"
    if not found and parts[:1] in (("num",), ("total",), ("n",), ("count",)):
        return "count"
    return found


def _find(parts: tuple[str, ...], names: _Names) -> str:
    if len(parts) > 1 and parts[-1] in _UNITS:
        return _found(parts, names) or _find(parts[:-1], names)
    return _found(parts, names)


def _found(parts: tuple[str, ...], names: _Names) -> str:
    for length in range(min(3, len(parts)), 0, -1):
        tail = parts[-length:]
        found = names.get(tail) or names.get((*tail[:-1], singular(tail[-1])))
        if found:
            return found
    return ""


def is_off(name: str) -> bool:
    """Whether a flag of that name is usually not set."""
    return bool(_FLAGS_OFF & set(words(name)))


@lru_cache(maxsize=1024)
def is_person(name: str) -> bool:
    """Whether an object of that name is a person."""
    parts = words(name)
    return bool(parts) and (parts[-1] in _PEOPLE or singular(parts[-1]) in _PEOPLE)
