"""Numbers for a field, by what the field counts or measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from .concepts import is_off, quantity
from .field import Field

__all__ = ["flag_for", "number_for"]


def number_for(field: Field, *, whole: bool) -> int | float | None:
    """A number that fits the name of its field; None if the name says nothing."""
    make = _MAKERS.get(quantity(field.name))
    if make is None:
        return None
    found = make(field)
    return round(found) if whole else found


def flag_for(field: Field) -> bool:
    """A boolean: most flags are set, those that tell of trouble are not."""
    return field.random.random() < (0.1 if is_off(field.name) else 0.8)


def _between(low: int, high: int) -> Callable[[Field], float]:
    return lambda field: field.random.randint(low, high)


def _decimal(low: float, high: float, digits: int) -> Callable[[Field], float]:
    return lambda field: round(field.random.uniform(low, high), digits)


def _instant(field: Field) -> float:
    seconds = int(field.instant.timestamp())
    return seconds * 1000 if {"ms", "millis", "milliseconds"} & set(field.words) else seconds


def _money(field: Field) -> float:
    """Mostly small sums, some large; and prices like to end on 9."""
    cents = int(10 ** field.random.uniform(2.7, 4.7))
    return (cents - cents % 10 + 9) / 100 if field.random.random() < 0.5 else cents / 100


def _age(field: Field) -> float:
    """As old as the date of birth says."""
    return int((field.scene.fakes.clock - field.scene.timeline.instant(-1)).days / 365.25)


_MAKERS: Final[Mapping[str, Callable[[Field], float]]] = {
    "money": _money,
    "large money": lambda field: field.random.randint(240, 1600) * 100,
    "count": _between(1, 40),
    "page": lambda _field: 1,
    "limit": lambda field: field.random.choice((10, 20, 25, 50)),
    "offset": _between(0, 9),
    "percent": _decimal(1, 99, 1),
    "share": _decimal(0.05, 0.99, 2),
    "rate": _decimal(0.01, 0.3, 4),
    "rating": _decimal(3, 5, 1),
    "age": _age,
    "year": lambda field: field.scene.fakes.clock.year - field.random.randint(0, 8),
    "month": _between(1, 12),
    "day": _between(1, 28),
    "weekday": _between(1, 7),
    "hour": _between(8, 18),
    "minutes": _between(5, 120),
    "seconds": _between(30, 3600),
    "milliseconds": _between(12, 900),
    "duration": _between(5, 240),
    "latitude": lambda field: round(field.random.uniform(*field.scene.country.latitudes), 5),
    "longitude": lambda field: round(field.random.uniform(*field.scene.country.longitudes), 5),
    "altitude": _between(5, 1800),
    "port": lambda field: field.random.choice((80, 443, 3000, 5432, 8000, 8080)),
    "weight": _decimal(0.2, 40, 2),
    "size": _decimal(2, 200, 1),
    "temperature": _decimal(-2, 31, 1),
    "bytes": _between(1_024, 8_000_000),
    "megabytes": lambda field: field.random.choice((16, 64, 128, 256, 512, 1024, 2048)),
    "id": _between(1_000, 99_999),
    "http status": lambda _field: 200,
    "version": _between(1, 9),
    "postal code": _between(10_000, 99_999),
    "instant": _instant,
    "priority": _between(1, 5),
    "speed": _decimal(5, 120, 1),
    "bedrooms": _between(1, 4),
}
