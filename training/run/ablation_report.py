"""What an ablation came to: a table for a terminal, JSON, and one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from statistics import fmean
from typing import Any, Final

from envace_sdk.files import write_whole
from envace_sdk.json import Json

from ..metrics import read_metrics
from .ablation import RESULT, Ablation, Way, write_json
from .paired import Paired, paired
from .plots import Points, plot
from .report import document

__all__ = ["comparisons", "table", "write_results"]

_PLOTS: Final = (
    ("Success in training", "success", True),
    ("Success on validation tasks", "eval/success", False),
    ("Fidelity on validation tasks", "eval/fidelity", False),
    ("Reward of acts", "reward/act", True),
    ("Reward of rehearsals", "reward/rehearse", True),
    ("Entropy of acts", "act/entropy", True),
    ("Entropy of rehearsals", "rehearse/entropy", True),
    ("Gradient norm", "grad_norm", True),
)
_LARGE: Final = 1000
"""From here on numbers are shown whole."""
_HEAD: Final = ("score", "difference", "95 % interval", "higher")


def comparisons(ablation: Ablation, seeds: Sequence[int]) -> dict[str, Paired]:
    """By score, both ways on the seeds. Raises: TrainingError where a result cannot be read."""
    first, second = ([ablation.result(way, seed) for seed in seeds] for way in ablation.ways)
    pairs = [(_scores(one), _scores(other)) for one, other in zip(first, second, strict=True)]
    names = [name for name in (pairs[0][0] if pairs else ()) if all(name in one for pair in pairs for one in pair)]
    return {name: paired([one[name] for one, _ in pairs], [other[name] for _, other in pairs]) for name in names}


def table(ablation: Ablation, found: Mapping[str, Paired]) -> list[str]:
    """Lines for people; the first is the head."""
    rows = [_cells(ablation, name, one) for name, one in found.items()]
    head = (_HEAD[0], *(way.name for way in ablation.ways), *_HEAD[1:])
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (head, *rows)
    ]


def write_results(ablation: Ablation, seeds: Sequence[int]) -> dict[str, Json]:
    """Write `result.json` and `report.html` of what has been measured; returns what the former holds."""
    found = comparisons(ablation, seeds)
    one, other = (way.name for way in ablation.ways)
    value: dict[str, Json] = {
        "what": ablation.what,
        "tools": list(ablation.sources),
        "seeds": list(seeds),
        "steps": ablation.config.steps,
        "test": ablation.test.model_dump(mode="json"),
        "runs": [ablation.result(way, seed) for seed in seeds for way in ablation.ways],
        "comparison": {
            name: {
                one: pair.first,
                other: pair.second,
                "difference": pair.difference,
                "interval": None if pair.half is None else [pair.low, pair.high],
            }
            for name, pair in found.items()
        },
    }
    write_json(ablation.directory / RESULT, value)
    write_whole(ablation.directory / "report.html", _page(ablation, seeds, found))
    return value


def _scores(result: Mapping[str, Any] | None) -> dict[str, float]:
    return {} if result is None else result["scores"]


def _cells(ablation: Ablation, name: str, found: Paired) -> tuple[str, ...]:
    one, other = (way.name for way in ablation.ways)
    higher = one if found.low > 0 else other if found.high < 0 else "undecided"
    form = ",.0f" if max(abs(found.first), abs(found.second)) >= _LARGE else ".3f"
    low, high, difference = (format(value, f"+{form}") for value in (found.low, found.high, found.difference))
    interval = "needs more seeds" if found.half is None else f"{low} to {high}"
    return (name, format(found.first, form), format(found.second, form), difference, interval, higher)


def _page(ablation: Ablation, seeds: Sequence[int], found: Mapping[str, Paired]) -> str:
    one, other = (way.name for way in ablation.ways)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _cells(ablation, name, pair))}</tr>"
        for name, pair in found.items()
    )
    head = "".join(f"<th>{escape(cell)}</th>" for cell in (_HEAD[0], one, other, *_HEAD[1:]))
    plots = "".join(
        plot(title, {way.name: _curve(ablation, way, seeds, name) for way in ablation.ways}, smooth=smooth)
        for title, name, smooth in _PLOTS
    )
    test = ablation.test
    said = (
        f"{ablation.config.model} on {', '.join(ablation.sources)}: {ablation.config.steps} steps, seeds "
        f"{', '.join(map(str, seeds)) or 'none yet'}. Each run is measured on {test.tasks} test tasks, {test.samples} "
        f"attempts each at temperature {test.temperature:g}. Differences are paired by seed; their intervals are "
        "Student's. An interval that holds 0 decides nothing."
    )
    return document(
        f"Ablation: {one} or {other}",
        f"<p>{escape(said)}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        f'<h2>Curves, mean over the seeds</h2><div class="plots">{plots}</div>',
    )


def _curve(ablation: Ablation, way: Way, seeds: Sequence[int], name: str) -> Points:
    by_step: dict[float, list[float]] = {}
    for step, value in _points(ablation, way, seeds, name):
        by_step.setdefault(step, []).append(value)
    return [(step, fmean(values)) for step, values in sorted(by_step.items())]


def _points(ablation: Ablation, way: Way, seeds: Sequence[int], name: str) -> Iterator[tuple[float, float]]:
    for seed in seeds:
        for values in read_metrics(ablation.job(way, seed).directory):
            if values.get(name) is not None:
                yield float(values["step"]), float(values[name])
