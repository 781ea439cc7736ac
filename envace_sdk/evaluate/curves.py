"""Curves laid out for inline SVG, and the running means that smooth them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from .ticks import ticks

__all__ = ["HEIGHT", "WIDTH", "Curve", "Figure", "Points", "figure", "means"]

Points = Sequence[tuple[float, float]]

WIDTH: Final = 540
HEIGHT: Final = 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 10, 26


@dataclass(frozen=True, slots=True)
class Curve:
    """One line: the run gives its colour, the series its strokes."""

    run: int
    series: int
    label: str
    path: str
    """For `polyline`."""
    last: float
    dot: tuple[str, str]
    """Where the line ends."""
    points: list[tuple[str, str]]
    """What the line is a running mean of; none where it is not smoothed."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot: the lines of its grid with their labels, and its curves."""

    title: str
    across: list[tuple[str, str]]
    up: list[tuple[str, str]]
    curves: list[Curve]


def figure(title: str, found: Mapping[tuple[int, int, str], Points], *, smooth: int = 1) -> Figure | None:
    """A figure; None where no curve has a point.

    Args:
        title: what is shown.
        found: points of finite numbers in the order of x, by number of the run, number of the series, and label.
        smooth: the points that a line takes the mean of.
    """
    drawn = {key: points for key, points in found.items() if points}
    if not drawn:
        return None
    xs = [x for points in drawn.values() for x, _ in points]
    ys = [y for points in drawn.values() for _, y in points]
    are_steps = all(x == math.floor(x) for x in xs)
    across, up = ticks(min(xs), max(xs), whole=are_steps), ticks(min(ys), max(ys))

    def at_x(x: float) -> str:
        return f"{_LEFT + (x - across[0]) / (across[-1] - across[0]) * (WIDTH - _LEFT - _RIGHT):.1f}"

    def at_y(y: float) -> str:
        return f"{HEIGHT - _BOTTOM - (y - up[0]) / (up[-1] - up[0]) * (HEIGHT - _TOP - _BOTTOM):.1f}"

    curves = []
    for (run, series, label), points in drawn.items():
        line = means(points, smooth)
        x, y = line[-1]
        path = " ".join(f"{at_x(x)},{at_y(y)}" for x, y in line)
        raw = [(at_x(x), at_y(y)) for x, y in points] if smooth > 1 else []
        curves.append(Curve(run, series, label, path, y, (at_x(x), at_y(y)), raw))
    return Figure(title, [(at_x(x), f"{x:g}") for x in across], [(at_y(y), f"{y:g}") for y in up], curves)


def means(points: Points, window: int) -> list[tuple[float, float]]:
    """Each point with the mean of it and those before it, `window` at most."""
    found = []
    for place, (x, y) in enumerate(points):
        near = [value for _, value in points[max(0, place - window + 1) : place + 1]]
        # The mean of a number and itself is that number, without rounding.
        found.append((x, y if len(near) == 1 else math.fsum(value / len(near) for value in near)))
    return found
