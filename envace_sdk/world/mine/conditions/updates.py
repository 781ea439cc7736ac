"""How a call may change what the session holds: the forms of new values, as CEL and as functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from envace_sdk.json import UNSET, Json

from ...expressions.paths import dir_name, join_path
from ...expressions.values import clean, equal, is_number
from ...infer.cel import literal, member, text
from .readings import leaves
from .session import Event

__all__ = ["Form", "forms"]

MAX_FORMS = 60
_SEPARATORS = ("", "/", ".", " ", ", ", ",")
OLD = "OLD"
"""Stands for the register in a form, until the register has a name."""


@dataclass(frozen=True, slots=True)
class Form:
    """A way to make a new value from the old one and a call."""

    source: str
    cost: int
    needs_old: bool

    def named(self, name: str) -> str:
        """The source for a register of that name."""
        return self.source.replace(OLD, member("session", [name]))


def forms(event: Event, old: Json) -> Iterator[tuple[Form, Json]]:
    """The forms that fit a call, with what each gives; those that need the old value only where it is known."""
    arguments = [(member("args", path.split(".")), value) for path, value in leaves(dict(event.arguments)) if path]
    for source, value in arguments:
        yield _form(source, 1, False), value
    for path, value in leaves(event.answer):
        if not isinstance(value, bool):
            yield _form(member("answer", path.split(".")) if path else "answer", 2, False), value
    yield _form("null", 1, False), None
    if isinstance(old, str):
        yield from _texts(old, arguments)
    elif is_number(old):
        yield from _numbers(old, arguments)


def constant_form(value: Json) -> Form:
    """A fixed new value."""
    return _form(text(value) if isinstance(value, str) else literal(value), 2, False)


def _texts(old: str, arguments: list[tuple[str, Json]]) -> Iterator[tuple[Form, Json]]:
    yield _form(f"dirname({OLD})", 2, True), dir_name(old)
    for source, value in arguments:
        if isinstance(value, str) and len(value) + len(old) < 10_000:
            yield _form(f"joinpath({OLD}, {source})", 2, True), join_path(old, value)
            for separator in _SEPARATORS:
                between = f" + {text(separator)}" if separator else ""
                yield _form(f"{OLD}{between} + {source}", 3, True), f"{old}{separator}{value}"


def _numbers(old: float, arguments: list[tuple[str, Json]]) -> Iterator[tuple[Form, Json]]:
    yield _form(f"{OLD} + 1", 2, True), old + 1
    yield _form(f"{OLD} - 1", 2, True), old - 1
    for source, value in arguments:
        if is_number(value):
            for sign, apply in _ARITHMETIC:
                yield _form(f"{OLD} {sign} {source}", 2, True), _cleaned(apply(old, value))


_ARITHMETIC: tuple[tuple[str, Callable[[float, float], float]], ...] = (
    ("+", lambda a, b: a + b),
    ("-", lambda a, b: a - b),
)


def _cleaned(value: float) -> float:
    return clean(value) if isinstance(value, float) else value


@lru_cache(maxsize=4096)
def _form(source: str, cost: int, needs_old: bool) -> Form:
    return Form(source, cost, needs_old)


def alike(left: Json, right: Json) -> bool:
    """JSON equality; what is not known equals nothing."""
    return left is not UNSET and right is not UNSET and equal(left, right)
