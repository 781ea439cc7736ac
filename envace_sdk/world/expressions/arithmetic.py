"""The operators `+ - * / %` and `< <= > >=` on JSON values, times and durations."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from ..clock import parse_time
from .failure import AbsentError, FailedError
from .values import MAX_LIST, MAX_TEXT, PLAIN, clean, compare, describe, is_number, whole

__all__ = ["ARITHMETIC", "COMPARISONS", "add", "multiply"]


def add(left: Any, right: Any) -> Any:
    """Numbers, texts, lists; times and durations."""
    kinds = (type(left), type(right))
    if kinds == (str, str):
        if len(left) + len(right) > MAX_TEXT:
            raise FailedError(f"the text would be longer than {MAX_TEXT} characters")
        return left + right
    if kinds == (list, list):
        if len(left) + len(right) > MAX_LIST:
            raise FailedError(f"the list would be longer than {MAX_LIST}")
        return left + right
    if isinstance(right, timedelta) and isinstance(left, str):
        left = parse_time(left) or left
    if isinstance(left, timedelta) and isinstance(right, str):
        right = parse_time(right) or right
    return _arithmetic("add", "to", left, right, lambda a, b: a + b, _is_time_sum)


def _is_time_sum(left: Any, right: Any) -> bool:
    if isinstance(left, timedelta):
        return isinstance(right, datetime | timedelta)
    return isinstance(left, datetime) and isinstance(right, timedelta)


def subtract(left: Any, right: Any) -> Any:
    """Numbers; a duration or a time from a time."""
    if isinstance(left, str) and isinstance(right, datetime | timedelta):
        left = parse_time(left) or left
    if isinstance(left, datetime) and isinstance(right, str):
        right = parse_time(right) or right
    return _arithmetic("subtract", "from", left, right, lambda a, b: a - b, _is_time_difference)


def _is_time_difference(left: Any, right: Any) -> bool:
    if isinstance(left, datetime):
        return isinstance(right, datetime | timedelta)
    return isinstance(left, timedelta) and isinstance(right, timedelta)


def _never(_left: Any, _right: Any) -> bool:
    return False


def _arithmetic(
    verb: str,
    preposition: str,
    left: Any,
    right: Any,
    apply: Callable[[Any, Any], Any],
    timely: Callable[[Any, Any], bool] = _never,
) -> Any:
    try:
        if type(left) is int and type(right) is int:
            result = apply(left, right)
            return whole(result) if type(result) is int else result
        if is_number(left) and is_number(right):
            return clean(apply(left, right))
        if timely(left, right):
            return apply(left, right)
    except OverflowError:
        raise FailedError("the result is out of range") from None
    first, second = (right, left) if preposition == "from" else (left, right)
    kind = AbsentError if left is None or right is None else FailedError
    raise kind(f"cannot {verb} {describe(first)} {preposition} {describe(second)}")


def multiply(left: Any, right: Any) -> Any:
    """Numbers; a duration by a number."""
    return _arithmetic("multiply", "by", left, right, lambda a, b: a * b, _is_time_product)


def _is_time_product(left: Any, right: Any) -> bool:
    return (isinstance(left, timedelta) and is_number(right)) or (is_number(left) and isinstance(right, timedelta))


def divide(left: Any, right: Any) -> Any:
    """Numbers; whole numbers give a whole number where the division comes out even. A duration by a number."""
    if is_number(right) and right == 0:
        raise FailedError("division by zero")
    return _arithmetic("divide", "by", left, right, _quotient, lambda a, b: isinstance(a, timedelta) and is_number(b))


def _quotient(left: Any, right: Any) -> Any:
    if type(left) is int and type(right) is int:
        return left // right if left % right == 0 else clean(left / right)
    return left / right


def modulo(left: Any, right: Any) -> Any:
    """The rest of a division, with the sign of what is divided, as CEL has it."""
    if is_number(right) and right == 0 and is_number(left):
        raise FailedError("division by zero")
    return _arithmetic("divide", "by", left, right, _rest)


def _rest(left: Any, right: Any) -> Any:
    if type(left) is int and type(right) is int:
        rest = abs(left) % abs(right)
        return -rest if left < 0 else rest
    return math.fmod(left, right)


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "%": modulo,
}


def _comparison(directly: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def run(left: Any, right: Any) -> bool:
        kind = type(left)
        if kind is type(right) and kind in PLAIN:
            return directly(left, right)
        return directly(compare(left, right), 0)

    return run


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": _comparison(operator.lt),
    "<=": _comparison(operator.le),
    ">": _comparison(operator.gt),
    ">=": _comparison(operator.ge),
}
