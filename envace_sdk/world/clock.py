"""Times as RFC 3339 text."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from envace_sdk.errors import WorldError
from envace_sdk.json import Json

__all__ = ["LATEST", "clock_text", "parse_clock", "parse_time"]

LATEST = datetime(9999, 1, 1, tzinfo=UTC)
"""The latest time at which a world may begin: every write takes a second, and there are none after this year."""

_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?([Zz]|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)


def parse_time(text: str) -> datetime | None:
    """The instant that a date or an RFC 3339 time means, in UTC (which is taken when no zone is given), or None."""
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    micros = int(fraction.ljust(6, "0")[:6]) if fraction else 0
    try:
        time = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micros, tzinfo=UTC
        )
        if zone and zone not in "Zz":
            offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
            time = time - offset if zone[0] == "+" else time + offset
    except (ValueError, OverflowError):
        return None
    return time


@lru_cache(maxsize=1024)
def clock_text(time: datetime) -> str:
    """RFC 3339 in UTC, with "Z", and with a fraction only where there is one."""
    utc = time.astimezone(UTC)
    text = f"{utc.year:04}-{utc.month:02}-{utc.day:02}T{utc.hour:02}:{utc.minute:02}:{utc.second:02}"
    if utc.microsecond:
        text += f".{utc.microsecond:06}".rstrip("0")
    return text + "Z"


def parse_clock(value: Json, where: str) -> datetime:
    """A clock given as text.

    Raises:
        WorldError: it is not an RFC 3339 time, or so late that time would end before the world does.
    """
    time = parse_time(value) if isinstance(value, str) else None
    if time is None:
        raise WorldError(f"{where}: expected a time like 2026-01-01T09:00:00Z, got {value!r}")
    if time > LATEST:
        raise WorldError(f"{where}: expected a time not after {clock_text(LATEST)}, got {value!r}")
    return time
