"""Operators as code: how the values of their operands become theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from .access import contains, same
from .arithmetic import ARITHMETIC, COMPARISONS, add
from .failure import FailedError
from .scope import Scope
from .values import describe, whole

__all__ = ["Code", "binary", "conditional", "logic", "negation"]

Code: TypeAlias = Callable[[Scope], Any]
"""A compiled expression: the value in a scope; raises `FailedError` or one of its kin."""


def _truth(value: Any, what: str) -> bool:
    if isinstance(value, bool):
        return value
    raise FailedError(f"{what} must be true or false, not {describe(value)}")


def negation(code: Code) -> Code:
    """`!x`."""
    return lambda scope: not _truth(code(scope), "the operand of `!`")


def conditional(condition: Code, yes: Code, no: Code) -> Code:
    """`condition ? yes : no`; only the chosen side is computed."""

    def run(scope: Scope) -> Any:
        return yes(scope) if _truth(condition(scope), "the condition of `?`") else no(scope)

    return run


def logic(operator: str, codes: list[Code]) -> Code:
    """CEL's logic: the result that one operand decides stands, even if an operand before it failed."""
    deciding, neutral = operator == "||", operator == "&&"
    what = f"an operand of `{operator}`"

    def run(scope: Scope) -> Any:
        failure: FailedError | None = None
        for code in codes:
            try:
                value = code(scope)
                if value is deciding:
                    return deciding
                if value is not neutral:
                    _truth(value, what)
            except FailedError as error:
                failure = failure or error
        if failure is not None:
            raise failure
        return neutral

    return run


def binary(operator: str, left: Code, right: Code) -> Code:
    """Comparison, membership and arithmetic."""
    if operator == "==":
        return lambda scope: same(left(scope), right(scope), scope)
    if operator == "!=":
        return lambda scope: not same(left(scope), right(scope), scope)
    if operator == "in":
        return lambda scope: contains(left(scope), right(scope), scope)
    if operator in COMPARISONS:
        return _applied(COMPARISONS[operator], left, right)
    if operator == "+":
        return _sum(left, right)
    return _applied(ARITHMETIC[operator], left, right)


def _applied(apply: Callable[[Any, Any], Any], left: Code, right: Code) -> Code:
    return lambda scope: apply(left(scope), right(scope))


def _sum(left: Code, right: Code) -> Code:
    def run(scope: Scope) -> Any:
        first, second = left(scope), right(scope)
        if type(first) is int and type(second) is int:
            return whole(first + second)
        result = add(first, second)
        if isinstance(result, str):
            scope.spend_text(len(result))
        elif isinstance(result, list):
            scope.spend(len(result))
        return result

    return run
