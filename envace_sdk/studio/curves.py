"""Curves laid out for inline SVG: a template draws them, a style sheet colours them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from envace_sdk.evaluate.ticks import ticks

from .trained import Points

__all__ = ["HEIGHT", "WIDTH", "Curve", "Figure", "figure"]

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


@dataclass(frozen=True, slots=True)
class Figure:
    """A plot: the lines of its grid with their labels, and its curves."""

    title: str
    across: list[tuple[str, str]]
    up: list[tuple[str, str]]
    curves: list[Curve]


def figure(title: str, found: Mapping[tuple[int, int, str], Points]) -> Figure | None:
    """A figure; None where no curve has a point.

    Args:
        title: what is shown.
        found: points in the order of x, by number of the run, number of the series, and label.
    """
    drawn = {key: points for key, points in found.items() if points}
    if not drawn:
        return None
    xs = [x for points in drawn.values() for x, _ in points]
    ys = [y for points in drawn.values() for _, y in points]
    across, up = ticks(min(xs), max(xs)), ticks(min(ys), max(ys))

    def at_x(x: float) -> str:
        return f"{_LEFT + (x - across[0]) / (across[-1] - across[0]) * (WIDTH - _LEFT - _RIGHT):.1f}"

    def at_y(y: float) -> str:
        return f"{HEIGHT - _BOTTOM - (y - up[0]) / (up[-1] - up[0]) * (HEIGHT - _TOP - _BOTTOM):.1f}"

    curves = [
        Curve(
            run,
            series,
            label,
            " ".join(f"{at_x(x)},{at_y(y)}" for x, y in points),
            points[-1][1],
            (at_x(points[-1][0]), at_y(points[-1][1])),
        )
        for (run, series, label), points in drawn.items()
    ]
    return Figure(title, [(at_x(x), f"{x:g}") for x in across], [(at_y(y), f"{y:g}") for y in up], curves)
