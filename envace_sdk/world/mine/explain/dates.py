"""Dates and times: shifted by a span, written in some form, or one of their parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from envace_sdk.json import Json

from ...clock import clock_text, parse_time
from .fitting import simplest
from .goal import Goal
from .numbers import numbers
from .solver import Solver
from .table import Table
from .term import Term
from .timing import times

__all__ = ["dates"]

_FORMS = (
    "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S+00:00", "%Y-%m-%dT%H:%M:%S.%fZ", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y",
    "%d.%m.%Y", "%d-%m-%Y", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%Y%m%d", "%Y%m%d%H%M%S", "%Y-%m",
    "%Y-%m-%d %I:%M %p", "%a %b %d %H:%M:%S %Y", "%a, %d %b %Y %H:%M:%S",
)  # fmt: skip
_SPARSE = ("%H:%M:%S", "%H:%M", "%I:%M %p", "%A", "%a", "%B", "%b", "%Y")
"""Forms that do not tell the day: only the base's own time is written so."""
_UNITS = ((86_400, 24, "h"), (3_600, 1, "h"), (60, 1, "m"), (1, 1, "s"))
"""Seconds of a unit, and how CEL writes it."""
_MOST_NUMBERS = 24


def dates(table: Table, goal: Goal, _: Solver) -> Iterator[Term]:
    """A time that is a time of the scopes, or that plus a span, in the form that the targets have."""
    if goal.kind != "text" or not goal.there or not times(table):
        return
    texts = [goal.column[row] for row in goal.there]
    if max(map(len, texts)) > 40:
        return
    for form in _SPARSE:
        for base in times(table) if _time(texts[0], form) is not None else []:
            made = _formatted(table, base, form)
            if goal.met(made):
                yield made
    for form in ("", "date", *_FORMS):
        wanted = _parsed(texts, form)
        if wanted is not None:
            for base in times(table):
                yield from _shifted(table, goal, base, wanted, form)


def _parsed(texts: Sequence[str], form: str) -> list[datetime] | None:
    found = []
    for text in texts:
        time = _time(text, form)
        if time is None:
            return None
        found.append(time)
    return found


def _time(text: str, form: str) -> datetime | None:
    if form in {"", "date"}:
        time = parse_time(text)
        if time is None or (form == "date") is not (len(text) == 10):
            return None
        return time if form == "date" or clock_text(time) == text else None
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC)
    except ValueError:
        return None


def _formatted(table: Table, term: Term, form: str) -> Term:
    if form == "":
        return table.call("timestamp", term) if term.kind == "text" else term
    if form == "date":
        return table.call("date", term)
    pattern = table.constant(form)
    return table.call("formatTime", term, pattern) if pattern is not None else term


def _shifted(table: Table, goal: Goal, base: Term, wanted: Sequence[datetime], form: str) -> Iterator[Term]:
    began = [_instant(base.column[row]) for row in goal.there]
    if None in began:
        return
    # A form without hours shows the day only.
    daily = form == "date" or ("%H" not in form and "%I" not in form and form != "")
    starts = [time for time in began if time is not None]
    shifts = [
        (end - (_midnight(start) if daily else start)).total_seconds()
        for start, end in zip(starts, wanted, strict=True)
    ]
    if not any(shifts) or ("%S" not in form and form not in {"", "date"}):
        plain = _formatted(table, base, form)
        if goal.met(plain):
            yield plain
            return
    for term in _spans(table, goal, base, shifts):
        made = _formatted(table, term, form)
        if goal.met(made):
            yield made


def _instant(value: Json) -> datetime | None:
    return value if isinstance(value, datetime) else parse_time(value) if isinstance(value, str) else None


def _midnight(time: datetime) -> datetime:
    return time.replace(hour=0, minute=0, second=0, microsecond=0)


def _spans(table: Table, goal: Goal, base: Term, shifts: Sequence[float]) -> Iterator[Term]:
    """The base, later or earlier by a fixed span or by as many units as a number says."""
    if len(set(shifts)) == 1 and shifts[0]:
        span = _duration(table, abs(shifts[0]))
        if span is not None:
            yield table.infix("+" if shifts[0] > 0 else "-", base, span)
        return
    for number in numbers(table)[:_MOST_NUMBERS]:
        values = [number.column[row] for row in goal.there]
        if not all(isinstance(value, int | float) for value in values) or not all(values):
            continue
        ratios = [shift / value for shift, value in zip(shifts, values, strict=True)]
        unit = simplest([(ratio - 1e-6, ratio + 1e-6) for ratio in ratios])
        span = _duration(table, abs(unit)) if unit else None
        if span is not None:
            yield table.infix("+" if unit > 0 else "-", base, table.infix("*", span, number))


def _duration(table: Table, seconds: float) -> Term | None:
    """`duration('72h')`."""
    for size, count, letter in _UNITS:
        if seconds >= size and seconds % size == 0:
            text = table.constant(f"{int(seconds // size) * count}{letter}", fitted=4)
            return table.call("duration", text) if text is not None else None
    return None
