"""Values that are almost right, made right: the closest that a shape allows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from envace_sdk.json import Json

from ..equality import same
from ..values.names import normalised
from ..values.timeline import parse_instant, render
from .keywords import ARRAY, BOOLEAN, INTEGER, NUMBER, STRING, kind_of
from .shape import Shape

__all__ = ["closest", "mended"]


def closest(options: Sequence[Json], wanted: Json) -> int | None:
    """The option that means the same: equal, or written otherwise."""
    for index, option in enumerate(options):
        if same(option, wanted):
            return index
    if isinstance(wanted, dict | list):
        return None
    text = normalised(_text(wanted))
    for index, option in enumerate(options):
        if not isinstance(option, dict | list) and option is not None and normalised(_text(option)) == text:
            return index
    return None


def mended(shape: Shape, value: Json) -> Iterator[Json]:
    """Other forms of a scalar, closest first; the judge decides whether one will do."""
    if isinstance(value, list):
        if len(value) == 1 and not shape.types & ARRAY:
            yield value[0]
        return
    if isinstance(value, dict):
        return
    kind = kind_of(value)
    if shape.types & STRING:
        yield from _strings(shape, value)
    if shape.types & NUMBER:
        yield from _numbers(shape, value)
    if (
        shape.types & BOOLEAN
        and not kind & BOOLEAN
        and _text(value).lower() in {"true", "false", "1", "0", "yes", "no"}
    ):
        yield _text(value).lower() in {"true", "1", "yes"}
    if shape.types & ARRAY and value is not None:
        yield [value]


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "" if value is None else str(value)


def _strings(shape: Shape, value: Json) -> Iterator[Json]:
    text = _text(value)
    if not text:
        return
    instant = parse_instant(value)
    if instant is not None:
        yield from (render(instant, form) for form in shape.formats if form in {"date", "date-time", "time"})
    if not isinstance(value, str):
        yield text
    if instant is not None:
        yield from (render(instant, form) for form in ("date", "date-time") if shape.patterns)
    yield from (changed for changed in (text.lower(), text.upper(), text.strip()) if changed != text)
    if len(text) > shape.max_length > 0:
        yield text[: int(shape.max_length)].rstrip() or text[: int(shape.max_length)]


def _numbers(shape: Shape, value: Json) -> Iterator[Json]:
    number = _number(value)
    if number is None:
        instant = parse_instant(value)
        if instant is not None:
            yield int(instant.timestamp())
        return
    if not isinstance(value, int | float) or isinstance(value, bool):
        yield number
    if isinstance(number, float) and number.is_integer():
        yield int(number)
    bounded = min(max(number, shape.low), shape.high)
    yield bounded
    whole = not shape.types & ~INTEGER & NUMBER
    for step in shape.multiples or ([1] if whole else []):
        for count in (round(bounded / step), math.floor(bounded / step), math.ceil(bounded / step)):
            product = round(count * step, 12)
            yield int(product) if float(product).is_integer() else product


def _number(value: Json) -> int | float | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value if math.isfinite(value) else None
    if not isinstance(value, str) or len(value) > 40:
        return None
    text = value.strip().lstrip("$€£").rstrip("%").replace(",", "") if value.strip() else ""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
