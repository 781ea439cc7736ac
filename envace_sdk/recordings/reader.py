"""Reading a recording, also one whose writer was killed in the middle of a line."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Final

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json

from .documents import Broken, Document, documents
from .findings import FieldError, Finding, Findings
from .format import FORMAT, Event, Exchange, Header, Notice, Session
from .imports import Foreign, recognised
from .migrations import is_headerless, migrate_call

__all__ = ["PLAIN", "RecordingFile", "is_recording", "read_recording"]

PLAIN: Final = "calls, one a line"

_BEGIN: Final = '{"kind":"header"'
_KINDS: Final = frozenset({"session", "exchange", "notice"})

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordingFile:
    """What one file holds: sessions and, in the order they finished, exchanges."""

    header: Header = field(default_factory=Header)
    sessions: tuple[Session, ...] = ()
    """One for each id, with everything that is said of it."""
    exchanges: tuple[Exchange, ...] = ()
    notices: tuple[Notice, ...] = ()
    torn: str = ""
    """What the end of the file lacks, if its writer did not come to end a line."""
    path: Path | None = None
    form: str = FORMAT
    """What it is: a recording of a recorder, `PLAIN` lines, or what it was imported from."""
    lines: tuple[int, ...] = ()
    """For each exchange the line that tells of it."""
    findings: tuple[Finding, ...] = ()

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


def read_recording(path: Path, *, strict: bool = True) -> RecordingFile:
    """Read a recording of any version, or what `envace_sdk.recordings.imports` knows, by its content.

    An unfinished last line is left out: its writer was killed before what it says was given to the client.

    Args:
        path: the file.
        strict: whether a wrong line raises; otherwise it is left out and in the recording's findings.

    Raises:
        FixtureError: the file cannot be read, or is of a later version; if strict, also: a line is wrong. The message
            names file, line and field.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FixtureError(f"{path}: cannot be read: {error}") from error
    findings = Findings(path, strict=strict)
    parts = documents(data)
    begun: list[Document | Broken] = []
    for part in parts:
        begun.append(part)
        form = recognised(part.value) if isinstance(part, Document) else None
        if form is not None:
            return _imported(form, chain(begun, parts), path, findings)
        if isinstance(part, Document) and _is_own(part.value):
            break
    return _own(chain(begun, parts), path, findings)


def _own(parts: Iterable[Document | Broken], path: Path, findings: Findings) -> RecordingFile:
    """A recording in a format of this SDK."""
    reading = _Reading(findings)
    torn = ""
    for part in parts:
        if isinstance(part, Broken):
            if part.is_torn and reading.may_end_with(part.begin):
                torn = f"line {part.line} is unfinished and left out"
                findings.warning(part.line, "", "the line is unfinished and left out")
                logger.warning("%s: %s", path, torn)
            else:
                findings.error(part.line, part.field, part.message)
            continue
        _take(part, reading, findings)
    return replace(reading.recording(torn), path=path, findings=findings.listed())


def _imported(form: Foreign, parts: Iterable[Document | Broken], path: Path, findings: Findings) -> RecordingFile:
    """What a form of others tells of, and calls, one a line, that somebody put into the same file."""
    theirs: list[Document] = []
    own = _Reading(findings)
    for part in parts:
        if isinstance(part, Document) and not form.recognises(part.value) and _is_own(part.value):
            _take(part, own, findings)
        elif isinstance(part, Document):
            theirs.append(part)
        else:
            findings.error(part.line, part.field, part.message)
    found = form.read(theirs, findings)
    plain = own.recording("")
    return RecordingFile(
        Header(version=1),
        exchanges=(*plain.exchanges, *(exchange for exchange, _ in found)),
        path=path,
        form=form.name,
        lines=(*plain.lines, *(line for _, line in found)),
        findings=findings.listed(),
    )


def _take(part: Document, reading: _Reading, findings: Findings) -> None:
    for value, prefix in _values(part.value):
        try:
            reading.take(value, part.line)
        except FieldError as error:
            findings.error(part.line, ".".join(filter(None, (prefix, error.field))), error.message)


def _is_own(value: Json) -> bool:
    """Whether no other form is to be looked for in the lines after it."""
    return isinstance(value, dict) and ("kind" in value or "tool" in value)


def _values(value: Json) -> list[tuple[Json, str]]:
    """The lines in a document: usually it is one; somebody may have put them into a list."""
    if isinstance(value, list) and any(map(_is_own, value)):
        return [(item, f"[{n}]") for n, item in enumerate(value)]
    return [(value, "")]


class _Reading:
    """What the lines so far have said."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._header: Header | None = None
        self._sessions: dict[str, Session] = {}
        self._exchanges: list[Exchange] = []
        self._lines: list[int] = []
        self._notices: list[Notice] = []
        self._positions: Counter[str] = Counter()

    def may_end_with(self, begin: str) -> bool:
        """Whether a recorder that was killed may have left an unfinished line that begins so; others' are mistakes."""
        if self._header is not None:
            return self._header.version > 1
        return _BEGIN.startswith(begin) or begin.startswith(_BEGIN)

    def take(self, record: Json, line: int) -> None:
        """Take up one line.

        Raises:
            FieldError: the line is wrong.
            FixtureError: the file is of a later version.
        """
        if not isinstance(record, dict):
            raise FieldError("", "expected an object")
        header = self._header or self._begin(record, line)
        if header.version == 1:
            self._header = header
            record = migrate_call(record)
        self._take(record, line)
        self._header = header  # only now: of a file whose header is lost, the first sound line shows what it is

    def _take(self, record: Mapping[str, Json], line: int) -> None:
        kind = record.get("kind")
        if kind == "exchange":
            session_id = str(record.get("session"))
            self._exchanges.append(Exchange.from_json(record, self._positions[session_id]))
            self._lines.append(line)
            self._positions[session_id] += 1
        elif kind == "session":
            session = Session.from_json(record)
            self._sessions[session.id] = _merged(self._sessions.get(session.id), session)
        elif kind == "notice":
            notice = Notice.from_json(record)
            if not _joined(notice, self._exchanges):
                self._notices.append(notice)
        elif kind != "header":
            raise FieldError("kind", f"expected header, session, exchange or notice, got {kind!r}")

    def recording(self, torn: str) -> RecordingFile:
        """All of it."""
        header = self._header or Header()
        parts = tuple(self._sessions.values()), tuple(self._exchanges), tuple(self._notices)
        form = PLAIN if header.version == 1 else FORMAT
        return RecordingFile(header, *parts, torn, None, form, tuple(self._lines))

    def _begin(self, record: Mapping[str, Json], line: int) -> Header:
        if is_headerless(record):
            return Header(version=1)
        try:
            return Header.from_json(record)
        except FieldError as error:
            kind = record.get("kind")
            if not isinstance(kind, str) or kind not in _KINDS:
                raise
            self._findings.error(line, error.field, error.message)
            return Header()
        except FixtureError as error:
            raise FixtureError(f"{self._findings.file}:{line}: {error}") from None


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
