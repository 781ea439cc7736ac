"""Expressions on scopes of plain JSON, as the miner tries them out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from envace_sdk.errors import ExpressionError
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.expressions import Scope, compile_expression
from envace_sdk.world.state import State

__all__ = ["evaluate", "holds"]

_NOWHERE: Final = State.start(dynamics=Dynamics())


def evaluate(source: str, scope: Mapping[str, Json]) -> Json | Unset:
    """What an expression gives; UNSET where it fails, such as on an absent field."""
    try:
        value: Json | Unset = compile_expression(source).optional(Scope(dict(scope), _NOWHERE))
    except ExpressionError:
        return UNSET
    return value


def holds(source: str, scope: Mapping[str, Json]) -> bool:
    """Whether a condition is true; false where it fails."""
    return evaluate(source, scope) is True
