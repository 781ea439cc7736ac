"""The last word on every condition: the evaluator that will use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envace_sdk.errors import ExpressionError
from envace_sdk.json import UNSET, Json

from ...expressions import Scope, compile_expression
from ...state import State

__all__ = ["computed", "holds", "outcomes"]

_NOTHING = State(seed=0)


def holds(source: str, scope: Mapping[str, Json]) -> bool | None:
    """Whether a condition holds in a scope; None where it cannot be computed, or is no condition."""
    try:
        value = compile_expression(source)(Scope(dict(scope), _NOTHING))
    except ExpressionError:
        return None
    return value if isinstance(value, bool) else None


def outcomes(source: str, scopes: Sequence[Mapping[str, Json]]) -> list[bool | None]:
    """`holds` for many scopes."""
    return [holds(source, scope) for scope in scopes]


def computed(source: str, scope: Mapping[str, Json]) -> Json:
    """The value of an expression in a scope; `UNSET` where it cannot be computed."""
    try:
        return compile_expression(source)(Scope(dict(scope), _NOTHING))
    except ExpressionError:
        return UNSET
