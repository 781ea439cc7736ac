"""What a function of the language is, and how its arguments are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from envace_sdk.errors import ExpressionError

from ..clock import parse_time
from .failure import AbsentError, FailedError
from .scope import CollectionView
from .values import describe, is_number

__all__ = [
    "Function",
    "Library",
    "a_list",
    "a_number",
    "a_text",
    "a_time",
    "a_whole",
    "register",
]


@dataclass(frozen=True, slots=True)
class Function:
    """A function: `f(x, y)` and `x.f(y)` are the same call."""

    name: str
    least: int
    most: int | None
    run: Callable[..., Any]

    def check(self, count: int) -> None:
        """Raises: ExpressionError when it cannot be called with that many arguments."""
        if count < self.least or (self.most is not None and count > self.most):
            wants = str(self.least) if self.most == self.least else f"{self.least} to {self.most or 'any number of'}"
            raise ExpressionError(f"{self.name}() takes {wants} arguments, the first of which may stand before the dot")


Library: TypeAlias = dict[str, Function]
_Run: TypeAlias = Callable[..., Any]


def register(library: Library, name: str, least: int, most: int | None = -1) -> Callable[[_Run], _Run]:
    """Add the decorated function, whose first parameter is the scope; `most` is `least` unless given."""

    def add(run: _Run) -> _Run:
        library[name] = Function(name, least, least if most == -1 else most, run)
        return run

    return add


def _wrong(value: Any, name: str, wants: str) -> FailedError:
    kind = AbsentError if value is None else FailedError
    return kind(f"{name}() needs {wants}, not {describe(value)}")


def a_text(value: Any, name: str) -> str:
    """The value as a text. Raises: FailedError when it is none."""
    if isinstance(value, str):
        return value
    raise _wrong(value, name, "a text")


def a_number(value: Any, name: str) -> Any:
    """The value as a number. Raises: FailedError when it is none."""
    if is_number(value):
        return value
    raise _wrong(value, name, "a number")


def a_whole(value: Any, name: str) -> int:
    """The value as a whole number. Raises: FailedError when it is none."""
    if is_number(value) and value == int(value):
        return int(value)
    raise _wrong(value, name, "a whole number")


def a_list(value: Any, name: str) -> list[Any]:
    """The value as a list; of a collection, its entities. Raises: FailedError when it is neither."""
    if isinstance(value, list):
        return value
    if isinstance(value, CollectionView):
        return [document for _, document in value.items()]
    raise _wrong(value, name, "a list")


def a_time(value: Any, name: str) -> datetime:
    """The value as a time; a text may hold one. Raises: FailedError when it is none."""
    if isinstance(value, datetime):
        return value
    found = parse_time(value) if isinstance(value, str) else None
    if found is None:
        raise _wrong(value, name, "a time like 2026-01-01T09:00:00Z")
    return found


def a_duration(value: Any, name: str) -> timedelta:
    """The value as a duration. Raises: FailedError when it is none."""
    if isinstance(value, timedelta):
        return value
    raise _wrong(value, name, "a duration")
