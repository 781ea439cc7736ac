"""Functions on numbers, and conversions between types."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from .failure import FailedError
from .registry import Library, a_list, a_number, a_whole, register
from .scope import Scope
from .values import clean, compare, describe, is_number, to_text, whole

__all__ = ["NUMBERS"]

NUMBERS: Library = {}


@register(NUMBERS, "int", 1)
def _int(_: Scope, value: Any) -> int:
    """Toward zero; a text that holds a number; a time as seconds since 1970."""
    if isinstance(value, datetime):
        return math.floor(value.timestamp())
    number = value if is_number(value) else _parsed(value, "int")
    return whole(int(number))


@register(NUMBERS, "double", 1)
def _double(_: Scope, value: Any) -> float:
    number = value if is_number(value) else _parsed(value, "double")
    try:
        return float(number)
    except OverflowError:
        raise FailedError("the result is not a finite number") from None


def _parsed(value: Any, name: str) -> Any:
    text = value.strip() if isinstance(value, str) else ""
    if text and len(text) <= 64 and text.isascii() and "_" not in text:
        try:
            return int(text)
        except ValueError:
            pass
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return number
    raise FailedError(f"{name}() cannot read {describe(value)} as a number")


@register(NUMBERS, "bool", 1)
def _bool(_: Scope, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "True", "TRUE", "1", "t"):
        return True
    if value in ("false", "False", "FALSE", "0", "f"):
        return False
    raise FailedError(f"bool() cannot read {describe(value)} as true or false")


@register(NUMBERS, "string", 1)
def _string(scope: Scope, value: Any) -> str:
    text = to_text(value)
    scope.spend_text(len(text) if isinstance(value, str) else 8 * len(text))
    return text


def _given(scope: Scope, values: tuple[Any, ...], name: str) -> list[Any]:
    """`min(a, b)` and `min([a, b])` mean the same."""
    found = a_list(values[0], name) if len(values) == 1 else list(values)
    if not found:
        raise FailedError(f"{name}() of an empty list")
    scope.spend(len(found))
    return found


@register(NUMBERS, "min", 1, None)
def _min(scope: Scope, *values: Any) -> Any:
    least, *rest = _given(scope, values, "min")
    compare(least, least)
    for value in rest:
        if compare(value, least) < 0:
            least = value
    return least


@register(NUMBERS, "max", 1, None)
def _max(scope: Scope, *values: Any) -> Any:
    most, *rest = _given(scope, values, "max")
    compare(most, most)
    for value in rest:
        if compare(value, most) > 0:
            most = value
    return most


@register(NUMBERS, "sum", 1)
def _sum(scope: Scope, values: Any) -> Any:
    numbers = [a_number(value, "sum") for value in a_list(values, "sum")]
    scope.spend(len(numbers))
    if all(isinstance(number, int) for number in numbers):
        return whole(sum(numbers))
    try:
        return clean(math.fsum(numbers))
    except OverflowError:
        raise FailedError("the result is not a finite number") from None


@register(NUMBERS, "abs", 1)
def _abs(_: Scope, value: Any) -> Any:
    number = abs(a_number(value, "abs"))
    return whole(number) if isinstance(number, int) else number


@register(NUMBERS, "round", 1, 2)
def _round(_: Scope, value: Any, digits: Any = 0) -> Any:
    """Half away from zero, by the decimal digits that the number shows: 2.675 becomes 2.68."""
    number, places = a_number(value, "round"), a_whole(digits, "round")
    if not 0 <= places <= 15:
        raise FailedError("round() keeps 0 to 15 digits")
    if isinstance(number, int):
        return number
    if abs(number) >= 1e15:
        return whole(int(number)) if places == 0 else number
    rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    return int(rounded) if places == 0 else float(rounded)


@register(NUMBERS, "fixed", 2)
def _fixed(scope: Scope, value: Any, digits: Any) -> str:
    """As text with that many decimals, rounded as `round` does: fixed(4.5, 2) is "4.50", as prices are written."""
    rounded = _round(scope, value, digits)
    if abs(rounded) >= 1e15:
        raise FailedError("fixed() writes numbers below 1e15")
    return f"{Decimal(repr(rounded)):.{a_whole(digits, 'fixed')}f}"


@register(NUMBERS, "ceil", 1)
def _ceil(_: Scope, value: Any) -> int:
    return whole(math.ceil(a_number(value, "ceil")))


@register(NUMBERS, "floor", 1)
def _floor(_: Scope, value: Any) -> int:
    return whole(math.floor(a_number(value, "floor")))
