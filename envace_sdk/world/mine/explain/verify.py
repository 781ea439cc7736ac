"""The last word: the language's own evaluator on all examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from envace_sdk.errors import EnvaceError
from envace_sdk.json import UNSET, Json

from ...expressions import Scope, compile_expression
from ...state import State
from .column import FAILED, value_key

__all__ = ["Trial", "tried", "values"]


_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Trial:
    """How an expression did."""

    source: str
    missed: tuple[int, ...]
    """The examples whose target it does not give."""


def values(source: str, scopes: Sequence[Mapping[str, Any]]) -> list[Any]:
    """What the expression gives in each scope: JSON, `UNSET` where something is absent, `FAILED` for other errors.

    One that does not compile, because it is too long or nests too deeply, fails everywhere.
    """
    try:
        expression = compile_expression(source)
    except EnvaceError:
        return [FAILED] * len(scopes)
    state = State()
    found: list[Any] = []
    for scope in scopes:
        try:
            found.append(expression.optional(Scope(dict(scope), state)))
        except EnvaceError:
            found.append(FAILED)
    return found


def tried(source: str, scopes: Sequence[Mapping[str, Any]], targets: Sequence[Json], *, most: int) -> Trial:
    """How the expression does; once it has missed more than `most` of the examples, the rest is not looked at."""
    missed: list[int] = []
    for begin in range(0, len(scopes), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        found = zip(values(source, scopes[part]), targets[part], strict=True)
        missed.extend(begin + row for row, (value, target) in enumerate(found) if not _same(value, target))
        if len(missed) > most:
            break
    return Trial(source, tuple(missed))


def _same(value: Any, target: Json) -> bool:
    if value is UNSET or value is FAILED or target is UNSET:
        return value is target
    return value_key(value) == value_key(target)
