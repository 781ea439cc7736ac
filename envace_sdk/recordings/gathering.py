"""Recordings that are added to those that are there already: what is new in them, without what is known."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json

from .format import Exchange, Header, Session
from .migrations import plain_result
from .reader import RecordingFile
from .recording import Recording
from .redact import Redact, SecretRedactor, no_redaction
from .writer import encoded

__all__ = ["Gathered", "gather"]

_CALL: Final = "tools/call"
_CALLS_ONLY: Final = 1
"""The version of the format in which files hold calls only."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """Recordings as one, with what came of the new ones."""

    recording: Recording
    added: int = 0
    """Episodes of the new files that are not in the others."""
    continued: int = 0
    """Of these, those that go on with an episode that was there."""
    known: int = 0
    """Episodes of the new files that were there already."""
    redact: Redact = no_redaction

    def save(self, path: Path) -> None:
        """Write it as one file: as calls, one a line, if none of the files says more, else as a recorder would.

        The same recordings give the same bytes.

        Raises:
            FixtureError: it cannot be written; no half of it is left behind.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.writelines(encoded(self.redact(line)) for line in self._lines())
        except OSError as error:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            raise FixtureError(f"{path}: cannot be written: {error}") from error

    def _lines(self) -> Iterator[dict[str, Json]]:
        files = self.recording.files
        if all(file.header.version == _CALLS_ONLY for file in files):
            yield from (call.to_json() for call in self.recording)
        else:
            yield _header([file.header for file in files], _began(files)).to_json()
            yield from self.recording.lines()


def gather(held: Sequence[RecordingFile], more: Sequence[RecordingFile], *, redacted: bool = True) -> Gathered:
    """Add recordings to others.

    An episode with the same calls and answers as one of an earlier file is that one again. One that goes on from where
    an earlier one of the same name ends, as that of a recorder that was still running, takes its place.

    Args:
        held: what is there.
        more: what is to be added.
        redacted: whether secrets are taken out: what looks like one, and what the files' headers name.
    """
    redact = _redactor([file.header for file in (*held, *more)]) if redacted else no_redaction
    counts = Counter[str]()
    files = list(held)
    for file in more:
        files = _add(files, file, redact, counts)
    kept = [file for file in files if file.exchanges or file.notices or file.sessions]
    return Gathered(Recording.of(kept), counts["added"], counts["continued"], counts["known"], redact)


def _add(files: list[RecordingFile], file: RecordingFile, redact: Redact, counts: Counter[str]) -> list[RecordingFile]:
    """The files with what is new in one more."""
    there = [(n, name, calls) for n, one in enumerate(files) for name, calls in _episodes(one, redact).items()]
    unmatched = Counter(_digest(calls) for _, _, calls in there)
    dropped: dict[int, set[str]] = {}
    fresh: set[str] = set()
    for name, calls in _episodes(file, redact).items():
        digest = _digest(calls)
        if unmatched[digest] > 0:
            unmatched[digest] -= 1
            counts["known"] += 1
            continue
        same = [(n, other, held) for n, other, held in there if _is_name(other, name)]
        if any(held[: len(calls)] == calls for _, _, held in same):
            counts["known"] += 1
            continue
        begun = [(n, other) for n, other, held in same if held and calls[: len(held)] == held]
        for n, other in begun:
            dropped.setdefault(n, set()).add(other)
        counts["added"] += 1
        counts["continued"] += bool(begun)
        fresh.add(name)
    kept = [_without(one, dropped.get(n, set())) for n, one in enumerate(files)]
    return [*kept, _only(file, fresh)]


def _episodes(file: RecordingFile, redact: Redact) -> dict[str, list[str]]:
    """By session, what was asked and answered in it, as texts to compare."""
    episodes: dict[str, list[str]] = {session: [] for session in _sessions(file)}
    for exchange in file.exchanges:
        episodes[exchange.session].append(_text(redact(_bare(exchange))))
    return episodes


def _bare(exchange: Exchange) -> Json:
    """What was asked and answered, in the same words whichever form of file it is from."""
    if exchange.error is not None:
        answer: Json = [str(exchange.error.get("message", "")), True]
    else:
        answer = list(plain_result(exchange.result or {})) if exchange.method == _CALL else exchange.result
    if exchange.method == _CALL:
        return [exchange.params.get("name"), exchange.params.get("arguments") or {}, answer]
    return [exchange.method, dict(exchange.params), answer]


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _digest(calls: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(calls).encode()).hexdigest()


def _is_name(held: str, name: str) -> bool:
    """Whether an episode may be called so because another of its name was there when it was added."""
    return held == name or held.endswith(f"/{name}")


def _without(file: RecordingFile, names: set[str]) -> RecordingFile:
    return _only(file, {session for session in _sessions(file) if session not in names}) if names else file


def _only(file: RecordingFile, names: set[str]) -> RecordingFile:
    places = [n for n, exchange in enumerate(file.exchanges) if exchange.session in names]
    return replace(
        file,
        sessions=tuple(session for session in file.sessions if session.id in names),
        exchanges=tuple(file.exchanges[n] for n in places),
        notices=tuple(notice for notice in file.notices if notice.session in names),
        lines=tuple(file.lines[n] for n in places) if len(file.lines) == len(file.exchanges) else (),
    )


def _sessions(file: RecordingFile) -> Iterator[str]:
    yield from (session.id for session in file.sessions)
    yield from (exchange.session for exchange in file.exchanges)
    yield from (notice.session for notice in file.notices)


def _redactor(headers: Sequence[Header]) -> SecretRedactor:
    keys = dict.fromkeys(key for header in headers for key in header.redact_keys)
    patterns = dict.fromkeys(pattern for header in headers for pattern in header.redact_patterns)
    return SecretRedactor(tuple(keys), tuple(patterns))


def _header(headers: Sequence[Header], began: str) -> Header:
    redactor = _redactor(headers)
    ignore = dict.fromkeys(path for header in headers for path in header.ignore)
    return Header(at=began, ignore=tuple(ignore), redact_keys=redactor.keys, redact_patterns=redactor.patterns)


def _began(files: Sequence[RecordingFile]) -> str:
    sessions: list[Session] = [session for file in files for session in file.sessions if session.at]
    return min((session.at for session in sessions), default="")
