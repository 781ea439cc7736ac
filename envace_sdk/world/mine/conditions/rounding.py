"""Choosing the constant of a threshold: of all that cut in the right place, the one a programmer would write."""

from __future__ import annotations

import math

from ...infer.cel import literal

__all__ = ["number_source", "roundest"]


def number_source(value: float) -> str:
    """A number as CEL."""
    return literal(int(value)) if float(value).is_integer() and abs(value) < 1e15 else literal(value)


def roundest(low: float, high: float, *, above: bool) -> tuple[str, float, int]:
    """The sign and the constant of a test that holds for `high` and all above it, and for nothing up to `low`;
    or, unless `above`, for `low` and all below it and for nothing from `high` on. And how odd the constant is: 0 to 2.

    Both ends can be the constant, as the test may be strict or not. Among equally round ones a strict test is chosen,
    whose constant lies on the far side, as limits are mostly named by the last value that is allowed; but nothing is
    below a limit of zero more often than zero itself.
    """
    limit, penalty = _round_between(low, high, above)
    if above:
        return (">" if limit < high else ">="), limit, penalty
    if limit == 0 and limit < high:
        return "<=", limit, penalty
    return ("<" if limit > low else "<="), limit, penalty


def _round_between(low: float, high: float, above: bool) -> tuple[float, int]:
    """Prefers zero, then few digits; then the far end, from which the test is strict."""
    if low <= 0 <= high:
        return 0, 0
    far = low if above else high
    largest = math.floor(math.log10(max(abs(low), abs(high)))) + 1
    for exponent in range(min(largest, 300), max(largest - 17, -300), -1):
        for factor in (10, 5):
            step = factor * 10.0**exponent if exponent >= 0 else factor / 10.0**-exponent
            first, last = math.ceil(low / step), math.floor(high / step)
            if first <= last:
                value = round((first if above else last) * step, max(0, -exponent))
                if low <= value <= high:
                    return value, _oddness(value)
    return far, 2


def _oddness(value: float) -> int:
    digits = f"{abs(value):.15g}".replace(".", "").strip("0")
    return 1 if len(digits) <= 1 or digits in {"12", "15", "24", "25", "75", "365"} else 2
