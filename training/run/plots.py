"""Curves as inline SVG: axes, lines, a legend, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Final

from envace_sdk.evaluate.curves import HEIGHT, WIDTH, Points, figure

__all__ = ["Points", "plot"]

_COLOURS: Final = ("#2f6fb3", "#c8553d", "#3a8a4d", "#8a5aa8", "#b8860b", "#4a9a9a")
_SMOOTH: Final = 7
"""Points that a smoothed line takes the mean of."""


def plot(title: str, curves: Mapping[str, Points], *, smooth: bool = False) -> str:
    """A figure with a line for each curve; empty where no curve has a point.

    Args:
        title: what is shown.
        curves: by name, points of finite numbers, in the order of x.
        smooth: draw the points as dots and a running mean over them, and say so.
    """
    named = {(0, place, name): points for place, (name, points) in enumerate(curves.items())}
    drawn = figure(title, named, smooth=_SMOOTH if smooth else 1)
    if drawn is None:
        return ""
    left, right = drawn.across[0][0], drawn.across[-1][0]
    parts = [
        f'<line class="grid" x1="{left}" x2="{right}" y1="{y}" y2="{y}"/>'
        f'<text x="{float(left) - 6}" y="{y}" dy=".35em" text-anchor="end">{words}</text>'
        for y, words in drawn.up
    ]
    parts += [f'<text x="{x}" y="{HEIGHT - 8}" text-anchor="middle">{words}</text>' for x, words in drawn.across]
    legend = []
    for place, curve in enumerate(drawn.curves):
        colour = _COLOURS[place % len(_COLOURS)]
        if curve.points:
            dots = "".join(f'<circle cx="{x}" cy="{y}" r="2.2"/>' for x, y in curve.points)
            parts.append(f'<g fill="{colour}" opacity=".55">{dots}</g>')
        if " " not in curve.path:
            parts.append(f'<circle cx="{curve.dot[0]}" cy="{curve.dot[1]}" r="3" fill="{colour}"/>')
        parts.append(f'<polyline points="{curve.path}" fill="none" stroke="{colour}" stroke-width="1.8"/>')
        legend.append(f'<span style="color:{colour}">&#9632;</span> {escape(curve.label)}')
    # A mean shows less than happened, so it must not pass for what was measured.
    told = f' <span class="dim">smoothed: mean over up to {_SMOOTH} points; dots: as measured</span>' if smooth else ""
    return (
        f"<figure><figcaption><b>{escape(title)}</b> {' &nbsp; '.join(legend)}{told}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg></figure>'
    )
