"""Curves as inline SVG: axes, lines, a legend, nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from envace_sdk.evaluate.ticks import ticks

__all__ = ["Points", "plot"]

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 540, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 14, 30
_COLOURS: Final = ("#2f6fb3", "#c8553d", "#3a8a4d", "#8a5aa8", "#b8860b", "#4a9a9a")
_SMOOTH: Final = 7
"""Points that a smoothed line takes the mean of."""


def plot(title: str, curves: Mapping[str, Points], *, smooth: bool = False) -> str:
    """A figure with a line for each curve; empty where no curve has a point.

    Args:
        title: what is shown.
        curves: by name, points of finite numbers, in the order of x.
        smooth: draw the points faintly, and a running mean over them.
    """
    shown = {name: points for name, points in curves.items() if points}
    if not shown:
        return ""
    xs = [x for points in shown.values() for x, _ in points]
    ys = [y for points in shown.values() for _, y in points]
    across, up = ticks(min(xs), max(xs)), ticks(min(ys), max(ys))

    def place(x: float, y: float) -> str:
        right = _LEFT + (x - across[0]) / (across[-1] - across[0]) * (_WIDTH - _LEFT - _RIGHT)
        down = _HEIGHT - _BOTTOM - (y - up[0]) / (up[-1] - up[0]) * (_HEIGHT - _TOP - _BOTTOM)
        return f"{right:.1f},{down:.1f}"

    parts = []
    for tick in up:
        at = place(across[0], tick).partition(",")[2]
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at}" y2="{at}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at}" dy=".35em" text-anchor="end">{tick:g}</text>')
    for tick in across:
        at = place(tick, up[0]).partition(",")[0]
        parts.append(f'<text x="{at}" y="{_HEIGHT - 10}" text-anchor="middle">{tick:g}</text>')
    legend = []
    for colour, (name, points) in zip(_COLOURS * len(shown), shown.items(), strict=False):
        line = _means(points) if smooth else points
        if smooth:
            dots = "".join(
                f'<circle cx="{x}" cy="{y}" r="1.6"/>' for x, y in (place(*point).split(",") for point in points)
            )
            parts.append(f'<g fill="{colour}" opacity=".35">{dots}</g>')
        path = " ".join(place(*point) for point in line)
        if len(line) == 1:
            x, y = place(*line[0]).split(",")
            parts.append(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>')
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        legend.append(f'<span style="color:{colour}">&#9632;</span> {escape(name)}')
    return (
        f"<figure><figcaption><b>{escape(title)}</b> {' &nbsp; '.join(legend)}</figcaption>"
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg></figure>'
    )


def _means(points: Points) -> list[tuple[float, float]]:
    found = []
    for place, (x, _) in enumerate(points):
        window = [y for _, y in points[max(0, place - _SMOOTH + 1) : place + 1]]
        found.append((x, math.fsum(window) / len(window)))
    return found
