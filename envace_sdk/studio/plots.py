"""Training curves and fidelity drawn by matplotlib: the same bytes from the same numbers."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from . import shown

__all__ = ["CREATOR", "MOST_LINES", "Line", "Panel", "draw"]

CREATOR: Final = "envace-sdk plot"
"""How the file says by what it was made."""

_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
"""After Okabe and Ito: told apart by people who see no red or no green, too."""

_MARKERS: Final = "os^DvPX*"
_DASHES: Final = ("solid", (0, (5, 2)), (0, (1.2, 1.6)))
MOST_LINES: Final = len(_COLOURS)
"""What can be told apart."""

_COLUMNS: Final = 2
_PANEL: Final = (5.6, 3.3)
"""Inches."""
_LONGEST: Final = 60
_STYLE: Final[dict[Any, Any]] = {
    "svg.hashsalt": CREATOR,
    "svg.fonttype": "path",
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9d9de",
    "grid.linewidth": 0.6,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line: the run gives its colour and marker, the series its strokes."""

    run: int
    series: int
    points: Sequence[tuple[float, float]]
    raw: Sequence[tuple[float, float]] = ()
    """What the line is a running mean of; drawn faintly."""
    sizes: Sequence[int] = ()
    """How many calls each point stands for; none: all points alike."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One plot."""

    title: str
    across: str
    up: str
    """What the axes show, with the unit."""
    lines: Sequence[Line]
    series: Sequence[str] = ()
    """Names of the series."""
    rows: Sequence[str] = field(default=())
    """Names along the vertical axis, from below, where y is the number of one."""
    is_share: bool = False
    """Whether both axes go from 0 to 1 and a line shows where they are equal."""


def draw(panels: Sequence[Panel], runs: Sequence[str], form: str) -> bytes:
    """The panels in one picture, with the names of the runs under it.

    Args:
        panels: at least one.
        runs: names, `MOST_LINES` at most, by the numbers that the lines have.
        form: `svg` or `png`.
    """
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # the user's own settings would make another picture
        mpl.rcParams.update(_STYLE)
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        columns = min(_COLUMNS, len(panels))
        heights = [
            max(_height(panel) for panel in panels[first : first + columns]) for first in range(0, len(panels), columns)
        ]
        size = (_PANEL[0] * columns, sum(heights) + (0.3 if len(runs) > 1 else 0))
        figure = Figure(figsize=size, layout="constrained")
        grid = figure.add_gridspec(len(heights), columns, height_ratios=heights)
        for place, panel in enumerate(panels):
            _panel(figure.add_subplot(grid[place // columns, place % columns]), panel)
        if len(runs) > 1:
            _named(
                runs,
                _COLOURS,
                lambda handles, labels: figure.legend(
                    handles, labels, loc="outside lower left", ncols=min(len(runs), 2 * columns)
                ),
            )
        return _saved(figure, form, ", ".join(panel.title for panel in panels))


def _height(panel: Panel) -> float:
    """Inches."""
    return max(_PANEL[1], 0.9 + 0.2 * len(panel.rows))


def _panel(axes: Axes, panel: Panel) -> None:
    axes.set_title(_text(panel.title))
    axes.set_xlabel(_text(panel.across))
    axes.set_ylabel(_text(panel.up))
    for line in panel.lines:
        _line(axes, line, is_joined=not panel.rows)
    if not panel.rows and not panel.is_share:
        axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))  # there is no half a step
    if panel.rows:
        axes.set_yticks(range(len(panel.rows)), [_text(one) for one in panel.rows])
        axes.set_ylim(-0.6, len(panel.rows) - 0.4)
        axes.set_xlim(-0.02, 1.02)
    if panel.is_share:
        axes.plot([0, 1], [0, 1], color="#8a8a94", linewidth=0.8, linestyle=(0, (2, 2)), zorder=1)
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-0.02, 1.02)
    if panel.series and [*panel.series] != [panel.title]:
        _named(panel.series, ("#33333b",), axes.legend, are_series=True)


def _line(axes: Axes, line: Line, *, is_joined: bool) -> None:
    colour, marker = _COLOURS[line.run % MOST_LINES], _MARKERS[line.run % MOST_LINES]
    if line.raw:
        axes.plot(*_both(line.raw), color=colour, alpha=0.25, linewidth=0.8)
    step = max(1, len(line.points) // 8) if is_joined else 1
    # The markers of runs whose lines lie upon each other stand side by side.
    first = int(line.run * 0.38 * step) % step
    axes.plot(
        *_both(line.points),
        color=colour,
        linestyle=_DASHES[line.series % len(_DASHES)] if is_joined else "none",
        linewidth=1.5,
        marker="" if line.sizes else marker,
        markersize=4.5 if is_joined else 6,
        markevery=(min(first, len(line.points) - 1), step),
    )
    if line.sizes:
        areas = [min(20 + 8 * math.sqrt(calls), 250) for calls in line.sizes]
        axes.scatter(*_both(line.points), s=areas, color=colour, marker=marker, alpha=0.85, linewidths=0, zorder=3)


def _named(
    names: Sequence[str],
    colours: Sequence[str],
    legend: Callable[[list[Line2D], list[str]], Legend],
    *,
    are_series: bool = False,
) -> None:
    """A legend. Its texts are set afterwards: matplotlib leaves out labels that begin with an underscore."""
    handles = [
        Line2D(
            [],
            [],
            color=colours[place % len(colours)],
            linestyle=_DASHES[place % len(_DASHES)] if are_series else "solid",
            marker="" if are_series else _MARKERS[place % MOST_LINES],
            markersize=4.5,
        )
        for place in range(len(names))
    ]
    made = legend(handles, [str(place) for place in range(len(names))])
    for text, name in zip(made.get_texts(), names, strict=True):
        text.set_text(_text(name))


def _saved(figure: Figure, form: str, title: str) -> bytes:
    told = {"Creator": CREATOR, "Title": _text(title), "Date": None} if form == "svg" else {"Software": CREATOR}
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, dpi=150, metadata=told)
    return buffer.getvalue()


def _both(points: Iterable[tuple[float, float]]) -> tuple[list[float], list[float]]:
    found = list(points)
    return [x for x, _ in found], [y for _, y in found]


def _text(name: str) -> str:
    return shown.line(name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…")
