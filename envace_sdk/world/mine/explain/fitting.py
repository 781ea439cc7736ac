"""Constants that fit: the simplest number in every one of some ranges, and how results may have been rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from envace_sdk.json import Json

from .table import Table
from .term import Term

__all__ = ["Rounding", "roundest", "roundings", "simplest"]

_MOST_DIGITS = 6
_EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Rounding:
    """How a result became the target: the target is within `low` and `high` of it."""

    name: str
    digits: int
    low: float
    high: float

    @property
    def slack(self) -> float:
        """How far a result may be from its target."""
        return max(-self.low, self.high)

    def of(self, table: Table, term: Term) -> Term:
        """The term, rounded."""
        if not self.name:
            return term
        if self.digits:
            digits = table.constant(self.digits)
            return table.call(self.name, term, digits, cost=1) if digits is not None else term
        return table.call(self.name, term)


def roundings(targets: Iterable[Json]) -> list[Rounding]:
    """Exact first; whole targets may also be cut, and decimals rounded to as many digits as they show."""
    numbers = [value for value in targets if isinstance(value, int | float) and not isinstance(value, bool)]
    found = [Rounding("", 0, -_EXACT, _EXACT)]
    digits = max((_decimals(value) for value in numbers), default=0)
    half = 0.5 * 10.0**-digits
    if digits <= _MOST_DIGITS and not math.isinf(half):
        found.append(Rounding("round", digits, -half - _EXACT, half + _EXACT))
    if digits == 0:
        found.append(Rounding("floor", 0, 0.0, 1 - _EXACT))
        found.append(Rounding("ceil", 0, -1 + _EXACT, 0.0))
    return found


def _decimals(value: float) -> int:
    if float(value).is_integer():
        return 0
    text = repr(value)
    return len(text.partition(".")[2]) if "e" not in text else 99


def simplest(ranges: Iterable[tuple[float, float]]) -> Json:
    """The number with the fewest decimals that lies in all of the ranges, or None."""
    low, high = -math.inf, math.inf
    for lowest, highest in ranges:
        if lowest > low:
            low = lowest
        if highest < high:
            high = highest
        # Ranges that have nothing in common show that soon.
        if not low <= high:
            return None
    if math.isinf(low) or math.isinf(high) or max(abs(low), abs(high)) > 1e15:
        return None
    if low <= 0 <= high:
        return 0
    for digits in range(_MOST_DIGITS + 1):
        scale = 10**digits
        found = math.ceil(low * scale - 1e-12)
        if found <= high * scale:
            return found if digits == 0 else found / scale
    return None


def roundest(low: float, high: float) -> Json:
    """The roundest number from `low` to `high`: zero, else the one with the most zeros at its end."""
    if low <= 0 <= high:
        return 0
    if high < 0:
        return -roundest(-high, -low)
    for exponent in range(12, -7, -1):
        for step in (5, 2, 1):
            unit = step * 10.0**exponent
            count = math.ceil(low / unit * (1 - 1e-12))
            if count * unit <= high * (1 + 1e-12):
                found = Decimal(count * step).scaleb(exponent)
                return int(found) if found == found.to_integral_value() else float(found)
    return high
