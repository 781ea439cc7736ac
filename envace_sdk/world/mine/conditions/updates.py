"""How a call may change what the session holds: the forms of new values, as CEL."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from envace_sdk.json import UNSET, Json

from ...expressions.paths import dir_name, join_path
from ...expressions.values import clean, equal, is_number
from ...index import value_key
from ...infer.cel import literal, member, text
from .readings import leaves
from .session import Event

__all__ = ["Form", "alike", "constant_form", "copies", "derivations"]

MAX_TEXT = 10_000
_SEPARATORS = ("", "/", ".", " ", ", ", ",")
_OLD = "OLD"
"""Stands for the register in a form, until the register has a name."""


@dataclass(frozen=True, slots=True)
class Form:
    """A way to make a new value from the old one and a call."""

    source: str
    cost: int
    needs_old: bool

    def named(self, name: str) -> str:
        """The source for a register of that name."""
        return self.source.replace(_OLD, member("session", [name]))


@lru_cache(maxsize=4096)
def _form(source: str, cost: int, needs_old: bool = False) -> Form:
    return Form(source, cost, needs_old)


def constant_form(value: Json) -> Form:
    """A fixed new value."""
    return _form(text(value) if isinstance(value, str) else literal(value), 2)


def _argument(path: str) -> str:
    return member("args", path.split("."))


def copies(event: Event) -> Mapping[Hashable, list[Form]]:
    """The values that a call carries, each with the forms that copy it: arguments and parts of its answer."""
    found: dict[Hashable, list[Form]] = {None: [_form("null", 1)]}
    for path, value in leaves(dict(event.arguments)):
        if path and value is not None:
            found.setdefault(value_key(value), []).append(_form(_argument(path), 1))
    for path, value in leaves(event.answer):
        if not isinstance(value, bool) and value is not None:
            source = member("answer", path.split(".")) if path else "answer"
            found.setdefault(value_key(value), []).append(_form(source, 2))
    return found


Arguments: TypeAlias = Sequence[tuple[str, Json]]
"""The scalars in a call's arguments, with their paths."""


def derivations(arguments: Arguments, old: Json, new: Json) -> Iterator[Form]:
    """The forms that make the new value from the old one and the arguments of a call."""
    if isinstance(old, str) and isinstance(new, str):
        yield from _texts(arguments, old, new)
    elif is_number(old) and is_number(new):
        yield from _numbers(arguments, old, new)


def _texts(arguments: Arguments, old: str, new: str) -> Iterator[Form]:
    if len(old) + len(new) > MAX_TEXT:
        return
    if dir_name(old) == new:
        yield _form(f"dirname({_OLD})", 2, True)
    for path, value in arguments:
        if not isinstance(value, str) or len(value) > MAX_TEXT:
            continue
        if value.strip("/") not in new and "." not in value:
            continue
        source = _argument(path)
        if join_path(old, value) == new:
            yield _form(f"joinpath({_OLD}, {source})", 2, True)
        if new.startswith(old) and new.endswith(value):
            separator = new[len(old) : len(new) - len(value)]
            if separator in _SEPARATORS and f"{old}{separator}{value}" == new:
                between = f" + {text(separator)}" if separator else ""
                yield _form(f"{_OLD}{between} + {source}", 3, True)


def _numbers(arguments: Arguments, old: float, new: float) -> Iterator[Form]:
    if new == old + 1:
        yield _form(f"{_OLD} + 1", 2, True)
    elif new == old - 1:
        yield _form(f"{_OLD} - 1", 2, True)
    for path, value in arguments:
        if is_number(value) and value:
            if alike(_cleaned(old + value), new):
                yield _form(f"{_OLD} + {_argument(path)}", 2, True)
            elif alike(_cleaned(old - value), new):
                yield _form(f"{_OLD} - {_argument(path)}", 2, True)


def _cleaned(value: float) -> float:
    return clean(value) if isinstance(value, float) else value


def alike(left: Json, right: Json) -> bool:
    """JSON equality; what is not known equals nothing."""
    return left is not UNSET and right is not UNSET and equal(left, right)
