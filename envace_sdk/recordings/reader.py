"""Reading a recording, also one whose writer was killed in the middle of a line."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json

from .format import Event, Exchange, Header, Notice, Session
from .migrations import is_headerless, migrate_call

__all__ = ["Recording", "is_recording", "read_recording"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recording:
    """What one file holds: sessions and, in the order they finished, exchanges."""

    header: Header = field(default_factory=Header)
    sessions: tuple[Session, ...] = ()
    """One for each id, with everything that is said of it."""
    exchanges: tuple[Exchange, ...] = ()
    notices: tuple[Notice, ...] = ()
    torn: str = ""
    """What the end of the file lacks, if its writer did not come to end a line."""
    path: Path | None = None

    def listing(self, method: str, member: str) -> tuple[Json, ...] | None:
        """The items of a list, all pages of it, as the latest session that read it to its end saw them.

        None where no list was recorded.
        """
        by_session: dict[str, list[Exchange]] = {}
        for exchange in self.exchanges:
            if exchange.method == method and exchange.result is not None:
                by_session.setdefault(exchange.session, []).append(exchange)
        for pages in reversed(by_session.values()):
            items = _pages(pages, member)
            if items is not None:
                return items
        return None


def is_recording(path: Path) -> bool:
    """Whether a file begins as a recording does, of whatever version with a header."""
    try:
        with path.open("rb") as file:
            first = json.loads(file.readline(1_000_000))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(first, dict) and first.get("kind") == "header" and "format" in first


def read_recording(path: Path) -> Recording:
    """Read a recording of any version.

    An unfinished last line is left out: its writer was killed before what it says was given to the client.

    Raises:
        FixtureError: the file cannot be read, or a line is wrong; the message names file, line and field.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FixtureError(f"{path}: cannot be read: {error}") from error
    reading = _Reading()
    torn = ""
    for number, line, is_last in _lines(data):
        try:
            reading.take(_object(line))
        except _NotJsonError as error:
            if not is_last or data.endswith(b"\n") or reading.is_by_hand:
                raise FixtureError(f"{path}:{number}: {error}") from None
            torn = f"line {number} is unfinished and left out"
            logger.warning("%s: %s", path, torn)
        except FixtureError as error:
            raise FixtureError(f"{path}:{number}: {error}") from None
    return replace(reading.recording(torn), path=path)


class _NotJsonError(FixtureError):
    """Of a line that may only have been cut off."""


class _Reading:
    """What the lines so far have said."""

    def __init__(self) -> None:
        self._header: Header | None = None
        self._sessions: dict[str, Session] = {}
        self._exchanges: list[Exchange] = []
        self._notices: list[Notice] = []
        self._positions: Counter[str] = Counter()

    @property
    def is_by_hand(self) -> bool:
        """Whether no recorder wrote the file: then a broken line is a mistake."""
        return self._header is not None and self._header.version == 1

    def take(self, record: Mapping[str, Json]) -> None:
        """Take up one line. Raises: FixtureError."""
        if self._header is None:
            self._header = Header(version=1) if is_headerless(record) else Header.from_json(record)
        if self._header.version == 1:
            record = migrate_call(record)
        kind = record.get("kind")
        if kind == "exchange":
            exchange = Exchange.from_json(record)
            self._exchanges.append(replace(exchange, position=self._positions[exchange.session]))
            self._positions[exchange.session] += 1
        elif kind == "session":
            session = Session.from_json(record)
            self._sessions[session.id] = _merged(self._sessions.get(session.id), session)
        elif kind == "notice":
            notice = Notice.from_json(record)
            if not _joined(notice, self._exchanges):
                self._notices.append(notice)
        elif kind != "header":
            raise FixtureError(f"kind: expected header, session, exchange or notice, got {kind!r}")

    def recording(self, torn: str) -> Recording:
        """All of it."""
        header = self._header or Header()
        parts = tuple(self._sessions.values()), tuple(self._exchanges), tuple(self._notices)
        return Recording(header, *parts, torn)


def _lines(data: bytes) -> Iterator[tuple[int, bytes, bool]]:
    # Not splitlines(): that also breaks at U+2028 and its like, which JSON strings may hold.
    lines = data.split(b"\n")
    last = max((n for n, line in enumerate(lines) if line.strip()), default=0)
    return ((n + 1, line, n == last) for n, line in enumerate(lines) if line.strip())


def _object(line: bytes) -> Mapping[str, Json]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _NotJsonError(f"not JSON: {error}") from error
    if not isinstance(record, dict):
        raise FixtureError("expected an object")
    return record


def _merged(known: Session | None, more: Session) -> Session:
    if known is None:
        return more
    return Session(
        known.id,
        known.at or more.at,
        more.era or known.era,
        more.transport or known.transport,
        more.server or known.server,
        more.capabilities or known.capabilities,
        more.instructions if more.instructions is not None else known.instructions,
    )


def _joined(notice: Notice, exchanges: list[Exchange]) -> bool:
    """Give a notice to the exchange that finished last in its session: it is what that one brought about."""
    for index in range(len(exchanges) - 1, max(len(exchanges) - 50, -1), -1):
        exchange = exchanges[index]
        if exchange.session == notice.session:
            event = Event("notice", notice.at - exchange.at, notice.method, notice.params, wide=True)
            exchanges[index] = replace(exchange, events=(*exchange.events, event))
            return True
    return False


def _pages(pages: Sequence[Exchange], member: str) -> tuple[Json, ...] | None:
    """The items of the last complete walk through the pages of a list."""
    items: list[Json] = []
    complete: tuple[Json, ...] | None = None
    expected: Json = None
    for page in pages:
        cursor = page.params.get("cursor")
        result = page.result or {}
        found = result.get(member)
        if not isinstance(found, list):
            continue
        if cursor is None:
            items = list(found)
        elif cursor == expected:
            items += found
        else:
            continue
        expected = result.get("nextCursor")
        if expected is None:
            complete = tuple(items)
    return complete
