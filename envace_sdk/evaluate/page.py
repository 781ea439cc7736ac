"""The report as one HTML page that needs nothing else: tables, and the worst answers beside the recorded ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from envace_sdk.json import Json

from .report import AXES, FidelityReport, Scores
from .result import Worst
from .sides import Line, side_by_side

__all__ = ["page"]

_LONGEST: Final = 6_000
_MOST_LINES: Final = 200
_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --bad: #d2322d33; --good: #2a8a3a33; --dim: #8889; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 1200px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; }
thead th { vertical-align: bottom; } .first { font-weight: 600; } .below { background: var(--bad); }
.wide { overflow-x: auto; } .dim { color: var(--dim); }
details { border: 1px solid var(--line); border-radius: 6px; margin: .6rem 0; padding: .5rem .8rem; }
summary { cursor: pointer; } pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12.5px; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; margin-top: .6rem; }
.pair > div { min-width: 0; } del, ins { text-decoration: none; display: block; }
del { background: var(--bad); } ins { background: var(--good); }
"""


def page(title: str, loops: Sequence[Sequence[FidelityReport]], *, worst: int = 30) -> str:
    """The page: for each loop the reports on all players, the first being the one that is examined.

    Args:
        title: what was examined.
        loops: reports, by loop.
        worst: how many of the worst answers to show.
    """
    body = "".join(_loop(reports, worst) for reports in loops)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )


def _loop(reports: Sequence[FidelityReport], worst: int) -> str:
    first = reports[0]
    cases = [Worst.of(case) for case in first.worst(worst)]
    return (
        f"<h2>{escape(first.loop.capitalize())} loop: {first.overall.calls} calls</h2>{_players(reports)}"
        f"<h2>By tool</h2>{_tools(first)}<h2>By layer</h2>{_layers(first)}<h2>Confidence</h2>{_calibration(first)}"
        f"<h2>The {len(cases)} worst answers</h2>{''.join(map(_case, cases))}"
    )


def _players(reports: Sequence[FidelityReport]) -> str:
    first, *others = reports
    rows = []
    for axis in AXES:
        own = getattr(first.overall, axis)
        rest = [getattr(report.overall, axis) for report in others]
        is_below = own is not None and any(value is not None and value > own + 1e-9 for value in rest)
        cells = [_cell(own, "first below" if is_below else "first"), *map(_cell, rest)]
        cells += [_cell(getattr(first.ceiling, axis, None), "dim"), f"<td>{first.overall.asked.get(axis, '')}</td>"]
        rows.append(f"<tr><td>{_words(axis)}</td>{''.join(cells)}</tr>")
    heads = ["", *(report.player for report in reports), "ceiling (estimate)", "asked"]
    return _table(heads, rows)


def _tools(report: FidelityReport) -> str:
    rows = [f"<tr><td>{escape(name)}</td>{_scores(scores)}</tr>" for name, scores in report.tools.items()]
    return _table(["tool", "calls", *map(_words, AXES)], rows)


def _scores(scores: Scores) -> str:
    return f"<td>{scores.calls}</td>" + "".join(_cell(getattr(scores, axis)) for axis in AXES)


def _layers(report: FidelityReport) -> str:
    rows = [
        f"<tr><td>{escape(layer.name)}</td><td>{layer.calls}</td>{_cell(layer.status)}{_cell(layer.right)}"
        f"{_cell(layer.confidence)}</tr>"
        for layer in report.layers
    ]
    return _table(["layer", "calls", "status", "right", "mean confidence"], rows)


def _calibration(report: FidelityReport) -> str:
    rows = [
        f"<tr><td>{one.least:.1f} and more</td><td>{one.calls}</td>{_cell(one.confidence)}{_cell(one.right)}</tr>"
        for one in report.calibration
        if one.calls
    ]
    return _table(["confidence", "calls", "mean confidence", "right"], rows)


def _case(case: Worst) -> str:
    said = "an error" if case.failed else "a success"
    answered = "an error" if case.answered_error else "a success"
    wrong = ", ".join(case.wrong) or "nothing that could be known"
    recorded, played = _side_by_side(case.recorded, case.answered)
    confidence = "" if case.confidence is None else f", confidence {case.confidence:.2f}"
    return (
        f"<details><summary><b>{escape(case.tool)}</b> {escape(_short(case.arguments))} "
        f'<span class="dim">{escape(case.episode)}, call {case.position + 1}; '
        f"layer {escape(case.layer or '-')}{confidence}</span></summary>"
        f"<p>Recorded {said}, answered {answered}. Wrong: {escape(_cut(wrong, 500))}</p>"
        f"<pre>{escape(_pretty(case.arguments))}</pre>"
        f'<div class="pair"><div><b>recorded</b><pre>{recorded}</pre></div>'
        f"<div><b>answered</b><pre>{played}</pre></div></div></details>"
    )


def _side_by_side(recorded: Json, played: Json) -> tuple[str, str]:
    """Both values, escaped, line by line, with the lines that differ marked."""
    left, right = side_by_side(*(_pretty(value).split("\n")[:_MOST_LINES] for value in (recorded, played)))
    return "".join(_marked(line, "del") for line in left), "".join(_marked(line, "ins") for line in right)


def _marked(line: Line, tag: str) -> str:
    return f"<{tag}>{escape(line.text) or ' '}</{tag}>" if line.differs else escape(line.text) + "\n"


def _table(heads: Iterable[str], rows: Iterable[str]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'


def _cell(value: float | None, kind: str = "") -> str:
    shown = "" if value is None else f"{value:.3f}"
    return f'<td class="{kind}">{shown}</td>' if kind else f"<td>{shown}</td>"


def _words(axis: str) -> str:
    return axis.replace("_", " ")


def _pretty(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return _cut(text, _LONGEST)


def _short(value: Any) -> str:
    return _cut(json.dumps(value, ensure_ascii=False), 120)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
