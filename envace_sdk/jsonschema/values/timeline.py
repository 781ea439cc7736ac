"""The dates of one thing: made before changed, changed before closed, none after the clock but those to come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import Final

__all__ = ["Timeline", "parse_instant", "render", "stage"]

# The stages of a life, in order, and the words that tell one. What is to come lies after the clock.
_PAST: Final = (
    ("created", "creation", "registered", "joined", "signed", "issued", "hired", "founded", "added", "uploaded",
     "inserted", "first", "since", "recorded", "enrolled", "purchase", "purchased"),
    ("opened", "submitted", "placed", "ordered", "order", "requested", "reported", "received", "posted", "published",
     "booked", "transaction", "posting", "invoice", "authored", "committed", "captured", "detected"),
    ("approved", "accepted", "assigned", "confirmed", "acknowledged", "verified", "triaged", "reviewed"),
    ("started", "start", "starts", "begin", "begins", "began", "from", "activated", "departure", "departed", "checkin",
     "effective", "launched", "open"),
    ("paid", "payment", "processed", "charged", "processing"),
    ("shipped", "sent", "dispatched", "released", "deployed", "executed", "run", "triggered"),
    ("updated", "modified", "changed", "edited", "update", "modification", "revised", "refreshed", "mtime"),
    ("delivered", "delivery", "arrival", "arrived", "returned", "refunded", "merged"),
    ("resolved", "completed", "finished", "fulfilled", "end", "ended", "ends", "to", "until", "checkout", "stop",
     "stopped", "completion"),
    ("closed", "cancelled", "canceled", "archived", "deleted", "removed", "disabled", "revoked", "terminated"),
    ("accessed", "seen", "login", "active", "activity", "synced", "checked", "last", "latest", "viewed", "visited"),
)  # fmt: skip
_COMING: Final = frozenset(
    {"due", "expires", "expiry", "expiration", "expire", "deadline", "eta", "estimated", "scheduled", "next", "renewal",
     "renews", "upcoming", "planned", "target", "appointment", "maturity", "expected", "promised"}
)  # fmt: skip
_BIRTH: Final = frozenset({"birth", "born", "birthday", "birthdate", "dob"})
_STAGES: Final = len(_PAST)
_BY_WORD: Final = {word: index for index, group in enumerate(_PAST) for word in group}
_UNSAID: Final = 1


@lru_cache(maxsize=2048)
def stage(words: tuple[str, ...]) -> int:
    """Where in a life the words place a date: `_STAGES` is to come, -1 a birth."""
    if _BIRTH & set(words):
        return -1
    if _COMING & set(words):
        return _STAGES
    pairs = ("".join(pair) for pair in pairwise(words))
    found = [_BY_WORD[word] for word in (*pairs, *words) if word in _BY_WORD]
    return max(found) if found else _UNSAID


class Timeline:
    """Instants for the stages of one life. Those already known stay where they are, the others fit in between."""

    def __init__(self, random: Random, clock: datetime, known: Sequence[tuple[int, datetime]] = ()) -> None:
        self._clock = clock.replace(microsecond=0)
        self._shares = [(index + random.random()) / _STAGES for index in range(_STAGES)]
        self._ahead = timedelta(minutes=random.randint(24 * 60, 60 * 24 * 60))
        self._birth = timedelta(days=random.randint(19 * 365, 65 * 365))
        begin = self._clock - timedelta(minutes=random.randint(2 * 24 * 60, 400 * 24 * 60))
        self._pins = self._pinned(begin, known)

    def _pinned(self, begin: datetime, known: Sequence[tuple[int, datetime]]) -> list[tuple[float, datetime]]:
        past = sorted((place, instant) for place, instant in known if 0 <= place < _STAGES)
        pins: list[tuple[float, datetime]] = []
        for place, instant in past:
            if not pins or instant >= pins[-1][1]:
                pins.append((self._shares[place], instant))
        if not pins or pins[0][1] > begin:
            pins.insert(0, (0.0, begin))
        else:
            pins.insert(0, (0.0, pins[0][1] - timedelta(days=1)))
        pins.append((1.0, max(self._clock, pins[-1][1] + timedelta(hours=1))))
        return pins

    def instant(self, place: int) -> datetime:
        """When a stage was, or will be."""
        if place < 0:
            return (self._clock - self._birth).replace(hour=0, minute=0, second=0)
        if place >= _STAGES:
            return self._pins[-1][1] + self._ahead
        share = self._shares[place]
        for (left, before), (right, after) in pairwise(self._pins):
            if share <= right:
                part = (share - left) / (right - left) if right > left else 0.0
                return (before + (after - before) * part).replace(microsecond=0)
        return self._pins[-1][1]


def parse_instant(value: object) -> datetime | None:
    """The instant a value stands for, if it is a date, a date and time, or seconds or milliseconds since 1970."""
    try:
        if isinstance(value, str) and 10 <= len(value) <= 40 and value[4] == "-":
            found = datetime.fromisoformat(value)
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        if isinstance(value, int | float) and not isinstance(value, bool) and 1e8 < value < 4e12:
            return datetime.fromtimestamp(value / (1000 if value > 1e11 else 1), UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return None


def render(instant: datetime, form: str) -> str:
    """An instant as `date-time`, `date` or `time` (RFC 3339)."""
    utc = instant.astimezone(UTC)
    if form == "date":
        return f"{utc.year:04}-{utc.month:02}-{utc.day:02}"
    clock = f"{utc.hour:02}:{utc.minute:02}:{utc.second:02}Z"
    return clock if form == "time" else f"{utc.year:04}-{utc.month:02}-{utc.day:02}T{clock}"
