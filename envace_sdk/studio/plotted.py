"""What `envace-sdk plot` draws: metrics of training runs, or scores of fidelity results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from envace_sdk.errors import EnvaceError, TrainingError
from envace_sdk.evaluate.report import AXES
from envace_sdk.evaluate.result import Told, read_result

from .plots import CREATOR, MOST_LINES, Line, Panel, draw
from .trained import FIGURES, NO_RUN, WARMUP, find_runs, points

__all__ = ["CREATOR", "Fidelity", "Metric", "Training", "read"]

_CALIBRATION: Final = "calibration"
_MOST_TOOLS: Final = 40
_MEASURED: Final = "eval/"
_UNITS: Final = {name: unit for names, unit in FIGURES.values() for name in names}


@dataclass(frozen=True, slots=True)
class Metric:
    """What can be drawn."""

    name: str
    points: int
    least: float
    most: float


class Training:
    """Training runs.

    Args:
        folders: each is a run or holds some.

    Raises:
        TrainingError: there are none, or more than can be told apart.
        StoreError: one cannot be read.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        for folder in folders:
            if not find_runs([folder]):
                raise TrainingError(NO_RUN.format(folder))
        self._steps = {name: run.steps() for name, run in find_runs(folders).items()}
        _check_count(len(self._steps), "runs")

    @property
    def metrics(self) -> list[Metric]:
        """What is there, in the order of the names."""
        names = sorted({name for steps in self._steps.values() for one in steps for name in one} - {"step"})
        return _metrics((name, [points(steps, name) for steps in self._steps.values()]) for name in names)

    def draw(self, names: Sequence[str], form: str, smooth: int) -> bytes:
        """A picture of some metrics; of what the studio shows, where none is named."""
        figures = {name: ((name,), _UNITS.get(name, name)) for name in names} or FIGURES
        panels = [
            panel for title, (there, unit) in figures.items() if (panel := self._panel(title, there, unit, smooth))
        ]
        if not panels:  # a run that measures things of its own
            return self.draw([metric.name for metric in self.metrics], form, smooth)
        return draw(panels, list(self._steps), form)

    def _panel(self, title: str, names: Sequence[str], unit: str, smooth: int) -> Panel | None:
        found = {name: [points(steps, name) for steps in self._steps.values()] for name in names}
        there = [name for name, curves in found.items() if any(curves)]
        lines = []
        for series, name in enumerate(there):
            # What is measured now and then only is measured well enough.
            window = 1 if name.startswith(_MEASURED) else smooth
            for run, (steps, raw) in enumerate(zip(self._steps.values(), found[name], strict=True)):
                if raw:
                    line = points(steps, name, smooth=window)
                    lines.append(Line(run, series, line, raw=raw if window > 1 else ()))
        mean = f", mean over {smooth} points" if any(line.raw for line in lines) else ""
        across = "warm-up step" if all(name.startswith(f"{WARMUP}/") for name in there) else "training step"
        return Panel(title, across, f"{unit}{mean}", lines, there) if lines else None


class Fidelity:
    """Results of `eval fidelity --json`.

    Args:
        files: of the results.

    Raises:
        FixtureError: one cannot be read.
        TrainingError: there are more than can be told apart.
    """

    def __init__(self, files: Sequence[Path]) -> None:
        self._told: dict[str, Told] = {}
        for file in files:
            result = read_result(file)
            loops = {loop: told[0] for loop, told in result.loops.items() if told}
            for loop, told in loops.items():
                name = file.stem if len(files) > 1 else result.toolset
                name = f"{name}, {loop} loop" if len(loops) > 1 else name
                self._told[name if name not in self._told else f"{file}, {loop} loop"] = told
        _check_count(len(self._told), "results")

    @property
    def metrics(self) -> list[Metric]:
        """What is there, in the order of the tables."""
        scores = [(axis, [list(enumerate(self._by_tool(told, axis).values())) for told in self._all]) for axis in AXES]
        bins = [[(one.confidence, one.right) for one in told.calibration.bins if one.calls] for told in self._all]
        return _metrics([*scores, (_CALIBRATION, bins)])

    def draw(self, names: Sequence[str], form: str, smooth: int) -> bytes:  # noqa: ARG002  there is nothing to smooth
        """A picture of some scores by tool; of the fidelity and the calibration, where none is named."""
        there = [metric.name for metric in self.metrics]
        wanted = names or [name for name in ("fidelity", _CALIBRATION) if name in there]
        panels = [self._calibration() if name == _CALIBRATION else self._scores(name) for name in wanted]
        return draw(panels, list(self._told), form)

    @property
    def _all(self) -> list[Told]:
        return list(self._told.values())

    def _scores(self, axis: str) -> Panel:
        by_tool = [self._by_tool(told, axis) for told in self._all]
        # The least on top, below the score of all, where one looks first.
        least: dict[str, float] = {}
        for scores in by_tool:
            for tool, value in scores.items():
                least[tool] = min(value, least.get(tool, value))
        least.pop("", None)
        tools = sorted(least, key=lambda tool: (least[tool], tool))
        shown = [*reversed(tools[:_MOST_TOOLS]), ""]
        rows = [tool or "all tools" for tool in shown]
        lines = [
            Line(run, 0, [(scores[tool], float(row)) for row, tool in enumerate(shown) if tool in scores])
            for run, scores in enumerate(by_tool)
        ]
        more = f", the {_MOST_TOOLS} least of {len(tools)} tools" if len(tools) > _MOST_TOOLS else ""
        words = axis.replace("_", " ")
        return Panel(f"{words.capitalize()} by tool{more}", f"{words}, share from 0 to 1", "tool", lines, rows=rows)

    def _calibration(self) -> Panel:
        lines = []
        for run, told in enumerate(self._all):
            bins = [one for one in told.calibration.bins if one.calls]
            if bins:
                found = [(one.confidence, one.right) for one in bins]
                lines.append(Line(run, 0, found, sizes=[one.calls for one in bins]))
        across, up = "mean confidence of the answers, share", "answers that are right, share"
        return Panel("Confidence, and what was right (larger: more calls)", across, up, lines, is_share=True)

    @staticmethod
    def _by_tool(told: Told, axis: str) -> dict[str, float]:
        """By tool, and over all as ""."""
        every = {"": told.overall, **told.tools}
        return {name: value for name, scores in every.items() if (value := getattr(scores, axis)) is not None}


def read(runs: Sequence[Path]) -> Training | Fidelity:
    """What was named: folders of training runs, or files with fidelity results.

    Raises:
        EnvaceError: one is not there, cannot be read, or they are of two kinds.
    """
    if missing := next((run for run in runs if not run.exists()), None):
        raise EnvaceError(f"{missing}: there is no such folder or file")
    are_folders = {run.is_dir() for run in runs}
    if len(are_folders) > 1:
        raise EnvaceError("folders of training runs and fidelity results are drawn apart: name one kind at a time")
    return Training(runs) if are_folders == {True} else Fidelity(runs)


def _check_count(count: int, what: str) -> None:
    if count > MOST_LINES:
        raise TrainingError(f"{count} {what}: at most {MOST_LINES} can be told apart in one picture; name fewer")


def _metrics(found: Iterable[tuple[str, list[Any]]]) -> list[Metric]:
    made = []
    for name, curves in found:
        values = [y for curve in curves for _, y in curve]
        if values:
            made.append(Metric(name, len(values), min(values), max(values)))
    return made
