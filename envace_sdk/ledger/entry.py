"""One entry of the ledger: what is hashed, and how it is read back."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, get_args

from envace_sdk.errors import EvidenceError, TamperedError
from envace_sdk.evidence import canonical
from envace_sdk.evidence.canonical import read_canonical
from envace_sdk.json import Json
from envace_sdk.store.types import lookup

__all__ = ["FORMAT", "GENESIS", "KINDS", "Entry", "Kind", "Record", "entry_of", "parse_time", "time_text"]

FORMAT: Final = "envace.ledger/1"
"""Version of the form of the hashed text. A verifier that does not know one says so, rather than cry wolf."""

GENESIS: Final = "0" * 64
"""What stands as the digest before the first entry."""

Kind = Literal[
    "rehearsed",
    "decision",
    "approval_requested",
    "approval_decided",
    "approval_used",
    "approval_stale",
    "commit",
    "observed",
    "claimed",
    "scored",
    "note",
    "erased",
]
KINDS: Final = frozenset(get_args(Kind))


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a run's chain."""

    run: str
    seq: int
    """From 1, without gaps."""
    at: datetime
    kind: str
    body: Mapping[str, Json]
    digest: str
    """SHA-256 of the canonical text, as 64 hexadecimal digits."""
    previous: str
    """The digest of the entry before."""
    payload_digest: str | None = None
    """Keyed digest of the payload, which is kept apart and can be erased."""
    action: str | None = None
    """Id of the action it is about."""
    approval: str | None = None
    """Id of the approval it is about."""
    text: str = ""
    """What was hashed."""


@dataclass(frozen=True, slots=True)
class Record:
    """The members of the hashed text."""

    run: str
    seq: int
    at: datetime
    kind: str
    body: Mapping[str, Json]
    previous: str
    payload: str | None = None
    action: str | None = None
    approval: str | None = None
    once: tuple[str, ...] | None = None
    """Names what can happen only once, in the whole database."""

    def text(self) -> str:
        """The canonical text. Raises: EvidenceError when the body is not JSON."""
        members = {
            "format": FORMAT,
            "run": self.run,
            "seq": self.seq,
            "at": time_text(self.at),
            "kind": self.kind,
            "body": dict(self.body),
            "previous": self.previous,
            "payload": self.payload,
            "action": self.action,
            "approval": self.approval,
            "once": None if self.once is None else list(self.once),
        }
        return canonical(members).decode()

    @classmethod
    def read(cls, text: str) -> Record:
        """The members of a text. Raises: EvidenceError when it is not one of this version."""
        try:
            found = read_canonical(text)
            if found["format"] != FORMAT:
                raise EvidenceError(f"it is of the form {found['format']!r}, not {FORMAT!r}")
            once = found["once"]
            return cls(
                run=found["run"],
                seq=found["seq"],
                at=parse_time(found["at"]),
                kind=found["kind"],
                body=found["body"],
                previous=found["previous"],
                payload=found["payload"],
                action=found["action"],
                approval=found["approval"],
                once=None if once is None else tuple(map(str, once)),
            )
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise EvidenceError(f"it is no text of the form {FORMAT!r}: {error}") from None

    def columns(self, text: str) -> dict[str, Any]:
        """What stands beside the text in the database."""
        return {
            "seq": self.seq,
            "format": FORMAT,
            "text": text,
            "digest": hashlib.sha256(text.encode()).hexdigest(),
            "previous": self.previous,
            "at": time_text(self.at),
            "kind": self.kind,
            "action": self.action,
            "approval": self.approval,
            "payload": self.payload,
            "once": None if self.once is None else lookup(*self.once),
        }

    def entry(self, text: str, digest: str) -> Entry:
        """As it is shown."""
        return Entry(
            run=self.run,
            seq=self.seq,
            at=self.at,
            kind=self.kind,
            body=self.body,
            digest=digest,
            previous=self.previous,
            payload_digest=self.payload,
            action=self.action,
            approval=self.approval,
            text=text,
        )


def entry_of(row: Any, run: str) -> Entry:
    """The entry in a row of the database. Raises: TamperedError when the row is not as it was written."""
    where = f"entry {row.seq} of run {run!r}"
    try:
        record = Record.read(row.text)
    except EvidenceError as error:
        raise TamperedError(f"{where} cannot be read: {error}") from None
    differing = [name for name, value in record.columns(row.text).items() if getattr(row, name) != value]
    if differing or record.run != run:
        raise TamperedError(f"{where} is not as it was written: {', '.join(differing) or 'its run'} differs")
    return record.entry(row.text, row.digest)


def time_text(at: datetime) -> str:
    """RFC 3339 in UTC, to the microsecond."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """What `time_text` wrote. Raises: ValueError."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
