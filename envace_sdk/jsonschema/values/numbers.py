"""Numbers for a field, by what the field counts or measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .concepts import is_off, quantity
from .names import words
from .scene import Scene
from .timeline import stage

__all__ = ["flag_for", "number_for"]


def number_for(scene: Scene, name: str, *, whole: bool) -> int | float | None:
    """A number that fits the name of its field; None if the name says nothing."""
    make = _MAKERS.get(quantity(name))
    if make is None:
        return None
    found = make(scene, name)
    return round(found) if whole else found


def flag_for(scene: Scene, name: str) -> bool:
    """A boolean: most flags are set, those that tell of trouble are not."""
    return (scene.random.random() < 0.8) != is_off(name)


def _between(low: int, high: int) -> Callable[[Scene, str], float]:
    return lambda scene, name: scene.random.randint(low, high)


def _decimal(low: float, high: float, digits: int) -> Callable[[Scene, str], float]:
    return lambda scene, name: round(scene.random.uniform(low, high), digits)


def _instant(scene: Scene, name: str) -> float:
    seconds = int(scene.timeline.instant(stage(words(name))).timestamp())
    return seconds * 1000 if "ms" in words(name) or "millis" in words(name) else seconds


def _money(scene: Scene, name: str) -> float:
    """Mostly small sums, some large: and prices like to end on 9."""
    cents = int(10 ** scene.random.uniform(2.7, 4.7))
    return (cents - cents % 10 + 9) / 100 if scene.random.random() < 0.5 else cents / 100


def _year(scene: Scene, name: str) -> float:
    return scene.fakes.clock.year - scene.random.randint(0, 8)


def _latitude(scene: Scene, name: str) -> float:
    return round(scene.random.uniform(*scene.country.latitudes), 5)


def _longitude(scene: Scene, name: str) -> float:
    return round(scene.random.uniform(*scene.country.longitudes), 5)


_MAKERS: Final[dict[str, Callable[[Scene, str], float]]] = {
    "money": _money,
    "count": _between(1, 40),
    "page": lambda scene, name: 1,
    "limit": lambda scene, name: scene.random.choice((10, 20, 25, 50)),
    "offset": _between(0, 9),
    "percent": _decimal(1, 99, 1),
    "share": _decimal(0.05, 0.99, 2),
    "rate": _decimal(0.01, 0.3, 4),
    "rating": _decimal(3, 5, 1),
    "age": _between(21, 68),
    "year": _year,
    "month": _between(1, 12),
    "day": _between(1, 28),
    "weekday": _between(1, 7),
    "hour": _between(8, 18),
    "minutes": _between(5, 120),
    "seconds": _between(30, 3600),
    "milliseconds": _between(12, 900),
    "duration": _between(5, 240),
    "latitude": _latitude,
    "longitude": _longitude,
    "altitude": _between(5, 1800),
    "port": lambda scene, name: scene.random.choice((80, 443, 3000, 5432, 8000, 8080)),
    "weight": _decimal(0.2, 40, 2),
    "size": _decimal(2, 200, 1),
    "temperature": _decimal(-2, 31, 1),
    "bytes": _between(1_024, 8_000_000),
    "id": _between(1_000, 99_999),
    "http status": lambda scene, name: 200,
    "version": _between(1, 9),
    "postal code": _between(10_000, 99_999),
    "instant": _instant,
    "priority": _between(1, 5),
    "speed": _decimal(5, 120, 1),
    "bedrooms": _between(1, 4),
}
