"""Fidelity reports as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from envace_sdk.evaluate import FidelityReport

__all__ = ["layer_table", "player_table", "tool_table"]

_TOOL_AXES = (
    "balanced_status",
    "structure",
    "entailed",
    "free",
    "repeated_reads",
    "read_after_write",
    "created",
    "gone",
    "right",
    "fidelity",
)


def player_table(reports: Sequence[FidelityReport]) -> Table:
    """Every axis, the examined player first; red where another one is better."""
    from envace_sdk.evaluate import AXES

    first, *others = reports
    table = Table(title=Text(f"{first.loop} loop"), title_justify="left", pad_edge=False)
    table.add_column("")
    for report in reports:
        table.add_column(Text(report.player), justify="right", max_width=22)
    table.add_column("ceiling (estimate)", justify="right", max_width=10)
    table.add_column("asked", justify="right")
    for axis in AXES:
        own = getattr(first.overall, axis)
        rest = [getattr(report.overall, axis) for report in others]
        best = max((value for value in rest if value is not None), default=None)
        style = "" if own is None or best is None else "red" if own < best - 1e-9 else "green"
        table.add_row(
            axis.replace("_", " "),
            Text(_share(own), style),
            *map(_share, rest),
            _share(getattr(first.ceiling, axis, None)),
            str(first.overall.asked.get(axis, "")),
        )
    return table


def tool_table(report: FidelityReport) -> Table:
    """The examined player, tool by tool."""
    table = Table(pad_edge=False)
    table.add_column("tool")
    for name in ("calls", *(axis.replace("_", " ") for axis in _TOOL_AXES)):
        table.add_column(name, justify="right", max_width=10)
    for name, scores in report.tools.items():
        cells = [_share(getattr(scores, axis)) for axis in _TOOL_AXES]
        table.add_row(Text(name), str(scores.calls), *cells)
    return table


def layer_table(report: FidelityReport) -> Table:
    """The examined player, layer by layer and by its confidence."""
    table = Table("layer, or confidence", pad_edge=False)
    for name in ("calls", "status", "right", "mean confidence"):
        table.add_column(name, justify="right")
    for layer in report.layers:
        table.add_row(
            Text(layer.name or "-"),
            str(layer.calls),
            _share(layer.status),
            _share(layer.right),
            _share(layer.confidence),
        )
    table.add_section()
    for one in report.calibration:
        if one.calls:
            table.add_row(f"at least {one.least:.1f}", str(one.calls), "", _share(one.right), _share(one.confidence))
    return table


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
