"""Functions on times and durations."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..clock import parse_time
from .failure import FailedError
from .registry import Library, a_text, a_time, register
from .scope import Scope
from .values import clean, describe, is_number

__all__ = ["TIMES"]

TIMES: Library = {}

_UNITS = {"d": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1, "µs": 1}
_DURATION = re.compile(r"[+-]?(?:\d{1,18}(?:\.\d{1,18})?(?:ms|us|µs|ns|[dhms]))+", re.ASCII)
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|us|µs|ns|[dhms])", re.ASCII)
_OFFSET = re.compile(r"([+-]?)(\d\d):(\d\d)", re.ASCII)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_DIRECTIVE = re.compile("%(.)", re.DOTALL)
_DIRECTIVES: dict[str, Callable[[datetime], str]] = {
    "%": lambda _: "%",
    "A": lambda time: _DAYS[time.weekday()],
    "B": lambda time: _MONTHS[time.month - 1],
    "H": lambda time: f"{time.hour:02}",
    "I": lambda time: f"{(time.hour - 1) % 12 + 1:02}",
    "M": lambda time: f"{time.minute:02}",
    "S": lambda time: f"{time.second:02}",
    "Y": lambda time: f"{time.year:04}",
    "a": lambda time: _DAYS[time.weekday()][:3],
    "b": lambda time: _MONTHS[time.month - 1][:3],
    "d": lambda time: f"{time.day:02}",
    "e": lambda time: f"{time.day:2}",
    "f": lambda time: f"{time.microsecond:06}",
    "m": lambda time: f"{time.month:02}",
    "p": lambda time: "AM" if time.hour < 12 else "PM",
    "y": lambda time: f"{time.year % 100:02}",
    "z": lambda time: _offset_text(time),
}
"""As `strftime` has them, in English wherever the program runs."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@register(TIMES, "timestamp", 1)
def _timestamp(_: Scope, value: Any) -> datetime:
    """From RFC 3339 text or a date; from seconds since 1970."""
    if is_number(value):
        try:
            return _EPOCH + timedelta(seconds=value)
        except (OverflowError, ValueError):
            raise FailedError(f"{describe(value)} is out of the range of times") from None
    return a_time(value, "timestamp")


@register(TIMES, "duration", 1)
def _duration(_: Scope, value: Any) -> timedelta:
    """From text like "72h", "1h30m", "1.5s", "2d"; from seconds."""
    try:
        if is_number(value):
            return timedelta(seconds=value)
        if isinstance(value, timedelta):
            return value
        text = a_text(value, "duration")
        if _DURATION.fullmatch(text):
            micros = sum(float(size) * _UNITS.get(unit, 0.001) for size, unit in _PART.findall(text))
            return timedelta(microseconds=-micros if text.startswith("-") else micros)
    except (OverflowError, ValueError):
        pass
    raise FailedError(f"{describe(value)} is not a duration like '72h' or '1h30m'")


@register(TIMES, "date", 1)
def _date(_: Scope, value: Any) -> str:
    """The day of a time, as YYYY-MM-DD, in UTC."""
    time = a_time(value, "date")
    return f"{time.year:04}-{time.month:02}-{time.day:02}"


def _offset_text(time: datetime) -> str:
    minutes = (time.utcoffset() or timedelta(0)) // timedelta(minutes=1)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"


@register(TIMES, "formatTime", 2, 3)
def _format_time(scope: Scope, value: Any, form: Any, zone: Any = "UTC") -> str:
    """As `strftime` writes it: formatTime(now, '%d %b %Y') is "01 Jan 2026"."""
    try:
        time = a_time(value, "formatTime").astimezone(_zone(a_text(zone, "formatTime")))
    except OverflowError:
        raise FailedError(f"{describe(value)} is out of the range of times") from None

    def directive(found: re.Match[str]) -> str:
        write = _DIRECTIVES.get(found[1])
        if write is None:
            raise FailedError(f"formatTime() does not know {found[0]} (it knows: %{' %'.join(_DIRECTIVES)})")
        return write(time)

    text = a_text(form, "formatTime")
    scope.spend_text(8 * len(text))
    return _DIRECTIVE.sub(directive, text)


@lru_cache(maxsize=256)
def _zone(name: str) -> tzinfo:
    found = _OFFSET.fullmatch(name)
    try:
        if found is not None:
            offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
            return timezone(-offset if found[1] == "-" else offset)
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise FailedError(f"there is no time zone {name!r}") from None


def _total(duration: timedelta, unit: timedelta) -> Any:
    """How often the unit fits: whole when it comes out even."""
    even, rest = divmod(duration, unit)
    return clean(duration / unit) if rest else even


def _reader(name: str, read: Callable[[datetime], int], unit: timedelta | None = None) -> None:
    """`t.getHours()`, `t.getHours('Europe/Paris')`, and of a duration how many whole hours it has."""

    @register(TIMES, name, 1, 2)
    def run(_: Scope, value: Any, zone: Any = "UTC") -> int:
        if unit is not None and isinstance(value, timedelta):
            return int(value / unit)
        try:
            return read(a_time(value, name).astimezone(_zone(a_text(zone, name))))
        except OverflowError:
            raise FailedError(f"{describe(value)} is out of the range of times") from None


_reader("getFullYear", lambda time: time.year)
_reader("getMonth", lambda time: time.month - 1)
_reader("getDate", lambda time: time.day)
_reader("getDayOfMonth", lambda time: time.day - 1)
_reader("getDayOfWeek", lambda time: time.isoweekday() % 7)
_reader("getDayOfYear", lambda time: time.timetuple().tm_yday - 1)
_reader("getHours", lambda time: time.hour, timedelta(hours=1))
_reader("getMinutes", lambda time: time.minute, timedelta(minutes=1))
_reader("getSeconds", lambda time: time.second, timedelta(seconds=1))


@register(TIMES, "getMilliseconds", 1, 2)
def _milliseconds(_: Scope, value: Any, zone: Any = "UTC") -> int:
    if isinstance(value, timedelta):
        return int(value / timedelta(milliseconds=1))
    _zone(a_text(zone, "getMilliseconds"))
    return a_time(value, "getMilliseconds").microsecond // 1000


def _counter(name: str, unit: timedelta) -> None:
    """`days(d)`: the whole duration in that unit, with a fraction where there is one."""

    @register(TIMES, name, 1)
    def run(_: Scope, value: Any) -> Any:
        if not isinstance(value, timedelta):
            raise FailedError(f"{name}() needs a duration, such as the difference of two times, not {describe(value)}")
        return _total(value, unit)


_counter("days", timedelta(days=1))
_counter("hours", timedelta(hours=1))
_counter("minutes", timedelta(minutes=1))
_counter("seconds", timedelta(seconds=1))


@register(TIMES, "isTimestamp", 1)
def _is_timestamp(_: Scope, value: Any) -> bool:
    """Whether a value is a time, or a text that holds one."""
    return isinstance(value, datetime) or (isinstance(value, str) and parse_time(value) is not None)
