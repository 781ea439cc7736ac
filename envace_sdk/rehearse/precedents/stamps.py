"""Points in time in texts, and the same point written in another's form."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

__all__ = ["stamped", "stamps", "time_of", "without_stamps"]

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOCK = r"(?P<hour>[0-2]\d):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d)(?P<fraction>\.\d{1,9})?)?"
_ZONE = r"(?P<zone>Z| ?(?:GMT|UTC)?(?:[+-]\d\d:?\d\d)?(?![\d:]))?"
_FORMS: Final = (
    re.compile(rf"(?<![\d-])(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)(?P<between>[T ]){_CLOCK}{_ZONE}"),
    re.compile(
        rf"\b(?P<name>{'|'.join(_DAYS)})(?P<comma>,?) (?P<word>{'|'.join(_MONTHS)}) (?P<day>\d\d) (?P<year>\d{{4}}) "
        rf"{_CLOCK}{_ZONE}"
    ),
    re.compile(
        rf"\b(?P<name>{'|'.join(_DAYS)})(?P<comma>,?) (?P<day>\d\d) (?P<word>{'|'.join(_MONTHS)}) (?P<year>\d{{4}}) "
        rf"{_CLOCK}{_ZONE}"
    ),
)
_LONGEST: Final = 20_000
_MOST: Final = 50
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)$")


def stamps(text: str) -> list[str]:
    """The points in time that a text names: days with an hour."""
    found = []
    for form in _FORMS:
        for match in form.finditer(text[:_LONGEST]):
            found.append(match.group())
            if len(found) >= _MOST:
                break
    return found


def without_stamps(text: str) -> str:
    """A text without them."""
    for form in _FORMS:
        text = form.sub("", text[:_LONGEST])
    return text


def time_of(stamp: str) -> datetime | None:
    """When that is; None for a day that there is not. Without a zone it is taken as UTC."""
    match = _match(stamp)
    if match is None:
        return None
    part = match.groupdict()
    month = int(part["month"]) if part.get("month") else _MONTHS.index(part["word"]) + 1
    fraction = part["fraction"] or ".0"
    try:
        return datetime(
            int(part["year"]),
            month,
            int(part["day"]),
            int(part["hour"]),
            int(part["minute"]),
            int(part["second"] or 0),
            int(fraction[1:7].ljust(6, "0")),
            tzinfo=timezone(_offset(part["zone"] or "")),
        )
    except ValueError:
        return None


def stamped(when: datetime, like: str) -> str:
    """The point in time, in the form and the zone of a stamp."""
    match = _match(like)
    if match is None:
        return like
    part = match.groupdict()
    zone = part["zone"] or ""
    local = when.astimezone(timezone(_offset(zone)))
    seconds = "" if part["second"] is None else f":{local.second:02}"
    if part["fraction"]:
        digits = len(part["fraction"]) - 1
        seconds += f".{local.microsecond:06}".ljust(digits + 1, "0")[: digits + 1]
    clock = f"{local.hour:02}:{local.minute:02}{seconds}{zone}"
    if part.get("month"):
        return f"{local.year:04}-{local.month:02}-{local.day:02}{part['between']}{clock}"
    word, day = _MONTHS[local.month - 1], f"{local.day:02}"
    date = f"{word} {day}" if match.re is _FORMS[1] else f"{day} {word}"
    return f"{_DAYS[local.weekday()]}{part['comma']} {date} {local.year:04} {clock}"


def _match(stamp: str) -> re.Match[str] | None:
    return next((match for form in _FORMS if (match := form.fullmatch(stamp))), None)


def _offset(zone: str) -> timedelta:
    found = _OFFSET.search(zone)
    if found is None:
        return UTC.utcoffset(None)
    minutes = min(int(found[2]) * 60 + int(found[3]), 24 * 60 - 1)
    return timedelta(minutes=-minutes if found[1] == "-" else minutes)
