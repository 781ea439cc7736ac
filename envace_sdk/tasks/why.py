"""Why a condition does not hold: which part of it, and what was there instead."""

from __future__ import annotations

import json
from typing import Any, Final

from envace_sdk.errors import EnvaceError
from envace_sdk.world.expressions.compiler import Compiler
from envace_sdk.world.expressions.nodes import (
    Binary,
    Call,
    Conditional,
    Index,
    ListLiteral,
    Literal,
    Logic,
    MapLiteral,
    Name,
    Node,
    Select,
    Unary,
)
from envace_sdk.world.expressions.scope import Scope
from envace_sdk.world.expressions.values import describe

from .checklist import FUNCTIONS

__all__ = ["why_not"]

_LONGEST: Final = 300


def why_not(node: Node, scope: Scope) -> str:
    """Why the condition is false in the scope, as far as its outer form tells."""
    reason = _because(node, scope)
    return reason if len(reason) <= _LONGEST else reason[: _LONGEST - 1] + "…"


def _because(node: Node, scope: Scope) -> str:
    match node:
        case Logic("&&", items):
            return next((_because(item, scope) for item in items if _value(item, scope) is False), "")
        case Logic(_, items):
            return " and ".join(_because(item, scope) for item in items)
        case Unary("!", operand):
            return f"`{_text(operand)}` is true"
        case Binary(operator, left, right) if operator != "in":
            sides = [_side(side, scope) for side in (left, right)]
            return f"`{_text(node)}` is false: {' and '.join(side for side in sides if side)}".removesuffix(": ")
        case _:
            return f"`{_text(node)}` is false"


def _side(node: Node, scope: Scope) -> str:
    """What a side of a comparison is, unless it is written there."""
    if isinstance(node, Literal):
        return ""
    return f"{_text(node)} is {describe(_value(node, scope))}"


def _value(node: Node, scope: Scope) -> Any:
    try:
        return Compiler(FUNCTIONS).compile(node)(scope)
    except EnvaceError as error:
        return error


def _text(node: Node) -> str:
    """The source of a node, in one style."""
    match node:
        case Literal(value):
            return json.dumps(value, ensure_ascii=False)
        case Name(name):
            return name
        case Select(base, field):
            return f"{_text(base)}.{field}"
        case Index(base, index):
            return f"{_text(base)}[{_text(index)}]"
        case Call(name, target, arguments):
            return f"{'' if target is None else _text(target) + '.'}{name}({', '.join(map(_text, arguments))})"
        case ListLiteral(items):
            return f"[{', '.join(map(_text, items))}]"
        case MapLiteral(pairs):
            return "{" + ", ".join(f"{_text(name)}: {_text(value)}" for name, value in pairs) + "}"
        case Unary(operator, operand):
            return f"{operator}{_inner(operand)}"
        case Binary(operator, left, right):
            return f"{_inner(left)} {operator} {_inner(right)}"
        case Logic(operator, items):
            return f" {operator} ".join(map(_inner, items))
        case Conditional(condition, yes, no):
            return f"{_inner(condition)} ? {_inner(yes)} : {_inner(no)}"


def _inner(node: Node) -> str:
    return f"({_text(node)})" if isinstance(node, Binary | Logic | Conditional) else _text(node)
