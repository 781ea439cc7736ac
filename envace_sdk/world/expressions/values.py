"""How JSON values behave in expressions: equality, order, arithmetic, text.

Numbers are JSON numbers: 2 and 2.0 are the same, integers and fractions mix. Whole numbers stay within 64 bits.
What is computed from fractions is freed of binary noise in its last digits, so that 0.1 + 0.2 is 0.3 and a document
shows what a real server would. Division of whole numbers is whole where it comes out even, else a fraction.
Times and durations are values of their own until they enter a document; a text that holds a time may stand for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Any

from envace_sdk.json import Json

from ..clock import clock_text, parse_time
from ..index import value_key
from ..keys import key_text, number_text
from ..shown import shown
from .failure import AbsentError, FailedError

__all__ = [
    "clean",
    "compare",
    "describe",
    "duration_text",
    "equal",
    "hash_key",
    "is_number",
    "name_text",
    "sort_key",
    "to_json_like",
    "to_text",
    "whole",
]

MAX_TEXT = 1_000_000
"""Characters that an expression may put into one text."""
MAX_LIST = 1_000_000
_INT64 = 2**63
_NUMBERS = (int, float)
PLAIN = frozenset({int, float, str})
"""Types whose values Python compares as JSON does, among their own."""
_KINDS: tuple[tuple[Any, str], ...] = ((str, "text"), (_NUMBERS, "number"), (list, "list"), (dict, "object"))


def describe(value: object) -> str:
    """A value in a message: its type, and what it is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return f"the time {clock_text(value)}"
    if isinstance(value, timedelta):
        return f"the duration {duration_text(value)}"
    for kind, name in _KINDS:
        if isinstance(value, kind):
            return f"the {name} {shown(value)}"
    return str(value)


def is_number(value: object) -> bool:
    """Whether it is a JSON number (true and false are none)."""
    return isinstance(value, _NUMBERS) and not isinstance(value, bool)


def whole(value: int) -> int:
    """A whole number within 64 bits, or an error."""
    if -_INT64 <= value < _INT64:
        return value
    raise FailedError("the result does not fit in 64 bits")


def clean(value: float) -> float:
    """A computed fraction without the binary noise in its last digits."""
    if value.is_integer():
        return value
    if not math.isfinite(value):
        raise FailedError("the result is not a finite number")
    rounded = float(f"{value:.15g}")
    return rounded if abs(rounded - value) <= 4 * math.ulp(value) else value


def equal(left: Any, right: Any) -> bool:
    """JSON equality: numbers by value, true is not 1, the order of members does not count."""
    kind = type(left)
    if kind is type(right):
        if kind is list:
            return len(left) == len(right) and all(map(equal, left, right))
        if kind is dict:
            return left.keys() == right.keys() and all(equal(value, right[name]) for name, value in left.items())
        return bool(left == right)
    if is_number(left) and is_number(right):
        return bool(left == right)
    if isinstance(left, datetime) and isinstance(right, str):
        return left == parse_time(right)
    if isinstance(right, datetime) and isinstance(left, str):
        return right == parse_time(left)
    return hasattr(left, "as_json") and hasattr(right, "as_json") and equal(left.as_json(), right.as_json())


def _both_times(left: Any, right: Any) -> tuple[Any, Any]:
    """Where one side is a time and the other a text that holds one, both as times."""
    if isinstance(left, datetime) and isinstance(right, str):
        return left, parse_time(right)
    if isinstance(right, datetime) and isinstance(left, str):
        return parse_time(left), right
    return left, right


def compare(left: Any, right: Any) -> int:
    """Negative, zero or positive; an error for values that have no order."""
    if is_number(left) and is_number(right):
        pass
    elif type(left) is not type(right):
        found = _both_times(left, right)
        if None in found or (found[0] is left and found[1] is right):
            raise _unordered(left, right)
        left, right = found
    elif not isinstance(left, str | bool | datetime | timedelta):
        raise _unordered(left, right)
    return int(left > right) - int(left < right)


def _unordered(left: Any, right: Any) -> FailedError:
    kind = AbsentError if left is None or right is None else FailedError
    return kind(f"cannot compare {describe(left)} with {describe(right)}")


def sort_key(value: Any) -> tuple[int, Any]:
    """A key by which values of any types have an order: by type first. Null is the caller's business."""
    if isinstance(value, str):
        return 4, value
    if isinstance(value, bool):
        return 0, value
    if isinstance(value, _NUMBERS):
        return 1, value
    if isinstance(value, datetime):
        return 2, value
    if isinstance(value, timedelta):
        return 3, value
    return (5 if isinstance(value, list) else 6), to_text(value)


def hash_key(value: Any) -> Hashable:
    """Hashable, and equal for values that `equal` calls equal."""
    if isinstance(value, datetime | timedelta):
        return value
    if isinstance(value, list | dict):
        return value_key(to_json_like(value))
    return value_key(value)


def to_json_like(value: Any) -> Json:
    """Times and durations as the text they have in documents; everything else as it is."""
    if isinstance(value, datetime):
        return clock_text(value)
    if isinstance(value, timedelta):
        return duration_text(value)
    if isinstance(value, list):
        return [to_json_like(item) for item in value]
    if isinstance(value, dict):
        return {name: to_json_like(item) for name, item in value.items()}
    return value.as_json() if hasattr(value, "as_json") else value


def name_text(value: Any) -> str:
    """The name or key that a value stands for."""
    return value if isinstance(value, str) else key_text(to_json_like(value))


def to_text(value: Any) -> str:
    """How a value prints in a text: strings bare, numbers, times and everything else as in JSON."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return describe(value)
    if is_number(value):
        return number_text(value)
    if isinstance(value, datetime | timedelta):
        return str(to_json_like(value))
    return json.dumps(to_json_like(value), ensure_ascii=False)


def duration_text(value: timedelta) -> str:
    """A duration as CEL writes it in JSON: seconds, with "s"."""
    micros = value // timedelta(microseconds=1)
    seconds, rest = divmod(abs(micros), 1_000_000)
    fraction = f".{rest:06}".rstrip("0") if rest else ""
    return f"{'-' if micros < 0 else ''}{seconds}{fraction}s"
