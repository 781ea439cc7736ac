"""The guard's report and samples as tables for a terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from envace_sdk.guard.checking import Sample
    from envace_sdk.guard.report import ToolReport

__all__ = ["calibration_table", "report_table", "sample_table"]

_STYLES = {"commit": "green", "ask": "yellow", "revise": "yellow", "block": "red"}
_SHOWN = 60


def report_table(tools: Sequence[ToolReport]) -> Table:
    """A line for each tool; red where the latest predictions are worse than the earlier ones."""
    table = Table(pad_edge=False)
    table.add_column("tool")
    for name in ("calls", "accuracy", "status", "change", "recent", "Brier", "calibration", "verdicts", "in doubt"):
        table.add_column(name, justify="right")
    for tool in tools:
        record = tool.record
        verdicts = ", ".join(f"{count} {kind}" for kind, count in sorted(tool.verdicts.items()))
        figures = [_share(record.accuracy), _share(record.status_accuracy), _share(record.change_accuracy)]
        table.add_row(
            Text(tool.name),
            str(record.calls),
            *figures,
            Text(_share(record.recent_accuracy), style="red" if record.drifting else ""),
            _number(record.brier),
            _number(record.calibration_error),
            verdicts,
            str(tool.in_doubt or ""),
        )
    return table


def calibration_table(tool: ToolReport) -> Table:
    """Confidence beside accuracy, bin by bin, and what was otherwise than predicted."""
    table = Table(title=Text(f"{tool.name}: confidence and what came"), title_justify="left", pad_edge=False)
    for name in ("confidence", "calls", "mean confidence", "accuracy"):
        table.add_column(name, justify="right")
    for place, (calls, right, total) in enumerate(tool.record.bins):
        if calls:
            table.add_row(
                f"{place / 10:.1f} to {(place + 1) / 10:.1f}", str(calls), _share(total / calls), _share(right / calls)
            )
    for text, count in tool.differences.most_common(5):
        table.caption = Text.assemble(table.caption or "", f"{count} x {text}\n")
    return table


def sample_table(samples: Sequence[Sample]) -> Table:
    """A line for each sample action: what is predicted, how risky it is, and what the policy says."""
    table = Table(pad_edge=False)
    for name in ("tool", "arguments", "predicted", "risk", "verdict", "rule", "why"):
        table.add_column(name, overflow="fold")
    for sample in samples:
        arguments = json.dumps(dict(sample.case.action.arguments), ensure_ascii=False, default=str)
        why = "; ".join(sample.decision.reasons)
        table.add_row(
            Text(sample.case.action.tool),
            Text(arguments if len(arguments) <= _SHOWN else f"{arguments[: _SHOWN - 1]}…"),
            sample.case.prediction.status,
            sample.case.risk.level,
            Text(sample.decision.kind, style=_STYLES[sample.decision.kind]),
            Text(sample.decision.rule or "(default)"),
            Text(why if len(why) <= 2 * _SHOWN else f"{why[: 2 * _SHOWN - 1]}…"),
        )
    return table


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
