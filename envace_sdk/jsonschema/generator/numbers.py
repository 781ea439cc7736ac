"""Numbers: within bounds, on the steps of multipleOf."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from ..equality import same
from ..values.field import Field
from ..values.numbers import flag_for, number_for
from .dead_ends import DeadEndError
from .shape import Shape

if TYPE_CHECKING:
    from .search import Search
    from .spot import Spot

__all__ = ["flags", "make"]

_TRIES: Final = 60
_SCANNED: Final = 2000
_DIGITS: Final = 2


def flags(search: Search, spot: Spot) -> list[bool]:
    """Both booleans, the one that fits the field first."""
    first = search.random.random() < 0.5 if search.varied else flag_for(Field(spot.name, spot.scene))
    return [first, not first]


def make(search: Search, shape: Shape, spot: Spot, *, whole: bool, broken: bool) -> int | float:
    """A number of the shape: `whole` if it must be an integer, `broken` if it must not be one.

    Raises:
        DeadEndError: there is none.
    """
    close: int | float | None = None
    for value in _candidates(search, shape, spot, whole=whole, broken=broken):
        if not _fits(shape, value, whole=whole, broken=broken):
            continue
        if all(_divides_afloat(step, value) for step in shape.multiples):
            return value
        close = value
    if close is not None:
        return close
    raise DeadEndError("no number meets its bounds, multipleOf and exclusions together", spot.pointer)


def _candidates(search: Search, shape: Shape, spot: Spot, *, whole: bool, broken: bool) -> Iterator[int | float]:
    for example in shape.examples:
        if isinstance(example, int | float) and not isinstance(example, bool) and search.random.random() < 0.3:
            yield example
    for _ in range(3):
        natural = number_for(Field(spot.name, spot.scene), whole=whole)
        if natural is None:
            break
        yield natural
        if shape.multiples:
            yield from _near(shape, natural)
    step = _step(shape, whole=whole)
    if step is not None:
        yield from _stepped(search, shape, step)
    else:
        yield from _between(search, shape, broken=broken)


def _fits(shape: Shape, value: float, *, whole: bool, broken: bool) -> bool:
    if (
        not shape.low <= value <= shape.high
        or (shape.above and value == shape.low)
        or (shape.below and value == shape.high)
    ):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    is_whole = isinstance(value, int) or value.is_integer()
    if (whole and not is_whole) or (broken and is_whole):
        return False
    if not all(_divides(step, value) for step in shape.multiples):
        return False
    if any(_divides(step, value) for step in shape.not_multiples):
        return False
    return not any(same(value, other) for other in shape.excluded)


def _divides(step: float, value: float) -> bool:
    """Whether a value is a multiple, by its decimal digits."""
    if isinstance(step, int) and isinstance(value, int):
        return value % step == 0
    return _exact(value) % _exact(step) == 0


def _divides_afloat(step: float, value: float) -> bool:
    """Whether validators that reckon in floating point agree: 19.99 / 0.01 is no whole number there."""
    try:
        return isinstance(step, int) or (value / step).is_integer()
    except OverflowError:
        return True


def _exact(value: float) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(Decimal(repr(value)))


def _near(shape: Shape, value: float) -> Iterator[int | float]:
    for step in shape.multiples:
        count = round(_exact(value) / _exact(step))
        yield _product(count, _exact(step))


def _product(count: int, step: Fraction) -> int | float:
    value = count * step
    if value.denominator == 1:
        return value.numerator
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # no JSON number, and so no candidate that fits


def _step(shape: Shape, *, whole: bool) -> Fraction | None:
    """The smallest step that all multiples are on."""
    steps = [_exact(step) for step in shape.multiples] + ([Fraction(1)] if whole else [])
    if not steps:
        return None
    common = steps[0]
    for step in steps[1:]:
        common = Fraction(
            math.lcm(common.numerator * step.denominator, step.numerator * common.denominator),
            common.denominator * step.denominator,
        )
    return common


def _stepped(search: Search, shape: Shape, step: Fraction) -> Iterator[int | float]:
    first, last = _counts(shape, step)
    if first > last:
        return
    for _ in range(_TRIES if last > first else 0):
        yield _product(search.random.randint(first, last), step)
    start = search.random.randint(first, last) if last - first > _SCANNED else first
    for offset in range(min(last - first, _SCANNED) + 1):
        yield _product(first + (start - first + offset) % (last - first + 1), step)


def _is_open(bound: float) -> bool:
    """Whether a bound is none; an integer may be larger than any float."""
    return isinstance(bound, float) and math.isinf(bound)


def _counts(shape: Shape, step: Fraction) -> tuple[int, int]:
    """The first and the last multiple to consider: those in bounds, near where the bounds leave it open."""
    first = None if _is_open(shape.low) else math.ceil(Fraction(shape.low) / step)
    last = None if _is_open(shape.high) else math.floor(Fraction(shape.high) / step)
    if first is not None and shape.above and first * step == shape.low:
        first += 1
    if last is not None and shape.below and last * step == shape.high:
        last -= 1
    span = max(1, round(100 / step))
    if first is None and last is None:
        return 1, span
    if first is None:
        last = last if last is not None else 0
        return (1 if last >= 1 else last - span), last
    if last is None:
        return first, first + span
    # A wide range is rarely used up: most numbers are small.
    return first, last


def _between(search: Search, shape: Shape, *, broken: bool) -> Iterator[int | float]:
    low, high = _window(shape)
    width = high - low
    for turn in range(_TRIES):
        # Two decimals read well; a narrow window needs more.
        digits = _DIGITS + turn // 3
        value = low + width * search.random.random()
        yield round(value, digits) if digits < 16 else value
    if not broken:
        yield from (bound for bound in (shape.low, shape.high) if not _is_open(bound))
    middle = low + width / 2
    yield middle
    for _ in range(8):
        yield math.nextafter(low, math.inf)
        yield math.nextafter(high, -math.inf)
        middle = (low + middle) / 2
        yield middle


def _window(shape: Shape) -> tuple[float, float]:
    low, high = shape.low, shape.high
    if _is_open(low) and _is_open(high):
        return 1.0, 1000.0
    try:
        if _is_open(low):
            return (0.0 if high > 0 else max(float(high) - 1000.0, -sys.float_info.max)), float(high)
        if _is_open(high):
            return float(low), min(float(low) + max(100.0, abs(float(low))), sys.float_info.max)
        return float(low), float(high)
    except OverflowError:
        return -1.7e308 if low < 0 else 0.0, 1.7e308 if high > 0 else 0.0
