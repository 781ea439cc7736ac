"""An append-only log of entries, a hash chain per run: what the ledger is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Final, Self

from sqlalchemy import Connection

from envace_sdk.errors import LedgerError
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.redaction import Redact

from . import chain, payloads
from . import verify as verifying
from .database import Database
from .entry import KINDS, Entry, Kind, Record, entry_of
from .verify import Verification

__all__ = ["Log", "Run"]

_GUARDED: Final = frozenset(
    {"approval_requested", "approval_decided", "approval_used", "approval_stale", "commit", "observed", "erased"}
)
_MOST_BODY: Final = 256 * 1024


@dataclass(frozen=True, slots=True)
class Run:
    """One chain."""

    name: str
    length: int
    head: str
    """Digest of the last entry."""


class Log:
    """Entries and payloads. It knows nothing of what is allowed to follow what; `Ledger` does."""

    def __init__(self, database: Database, *, redact: Redact, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._redact = redact
        self._clock = clock

    def close(self) -> None:
        """Close all connections."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def append(
        self,
        run: str,
        kind: Kind,
        body: Mapping[str, Json],
        *,
        payload: Json | Unset = UNSET,
        action: str | None = None,
        approval: str | None = None,
    ) -> Entry:
        """Write an entry at the end of a run's chain.

        Args:
            run: whose chain; a new one begins with its first entry.
            kind: what it is: part of what is hashed. Commits, observations and approvals have methods of their own.
            body: JSON that stays for good.
            payload: any JSON; kept apart, and can be erased.
            action: id of the action it is about.
            approval: id of the approval it is about.

        Raises:
            LedgerError: the kind is none, or has a method of its own; the body is too large.
            EvidenceError: the body is not JSON.
            StoreError: the payload is not JSON, or the database refuses.
        """
        if kind in _GUARDED or kind not in KINDS:
            raise LedgerError(f"an entry of the kind {kind!r} is not appended by hand")
        with self._database.writing() as connection:
            return self.write(connection, run, kind, body, payload=payload, action=action, approval=approval)

    def write(
        self,
        connection: Connection,
        run: str,
        kind: Kind,
        body: Mapping[str, Json],
        *,
        payload: Json | Unset = UNSET,
        action: str | None = None,
        approval: str | None = None,
        once: tuple[str, ...] | None = None,
    ) -> Entry:
        """Write an entry within a transaction. For the parts of the ledger; others call `append`."""
        cleaned = self._redact(dict(body))
        chain.lock(connection, run)
        record = Record(
            run=run,
            seq=0,
            at=self._clock(),
            kind=kind,
            body=cleaned,
            previous="",
            payload=None if isinstance(payload, Unset) else payloads.keep(connection, self._redact(payload)),
            action=action,
            approval=approval,
            once=once,
        )
        if len(str(cleaned)) > _MOST_BODY:
            raise LedgerError(
                f"the body of an entry of the kind {kind!r} is over {_MOST_BODY} characters: use `payload`"
            )
        return chain.append(connection, record)

    def runs(self) -> list[Run]:
        """All chains, oldest first. Raises: StoreError."""
        with self._database.reading() as connection:
            return [Run(row["name"], row["length"], row["head"]) for row in chain.runs(connection)]

    def entries(
        self, run: str | None = None, *, after: int = 0, kind: Kind | None = None, action: str | None = None
    ) -> Iterator[Entry]:
        """Entries in order, a page at a time; of all runs, one run after the other.

        Args:
            run: only of this one.
            after: only those with a greater `seq`.
            kind: only of this kind.
            action: only those about this action.

        Raises:
            TamperedError: one is not as it was written.
            StoreError: the database refuses.
        """
        with self._database.reading() as connection:
            found = list(chain.runs(connection, run))
        for row in found:
            place = after
            while True:
                with self._database.reading() as connection:
                    rows = chain.page(connection, row["id"], place, kind=kind, action=action)
                for stored in rows:
                    yield entry_of(stored, row["name"])
                if len(rows) < chain.PAGE:
                    break
                place = rows[-1].seq

    def find(self, run: str | None, action: str, kind: Kind) -> Entry | None:
        """The last entry of a kind about an action, of one run or of any. Raises: TamperedError, StoreError."""
        with self._database.reading() as connection:
            return chain.find(connection, run, action, kind)

    def payload(self, entry: Entry) -> Json | Unset:
        """The payload of an entry; UNSET when it has none, or it was erased. Raises: TamperedError, StoreError."""
        if entry.payload_digest is None:
            return UNSET
        with self._database.reading() as connection:
            return payloads.read(connection, entry.payload_digest)

    def verify(self, run: str | None = None, *, anchors: Mapping[str, tuple[int, str]] | None = None) -> Verification:
        """Recompute every digest, of a run or of all; see `Verification`. Raises: StoreError."""
        with self._database.reading() as connection:
            return verifying.verify(connection, run, anchors=anchors)

    # For the parts of the ledger

    @property
    def database(self) -> Database:
        """What it is kept in."""
        return self._database

    def now(self) -> datetime:
        """The time by the ledger's clock."""
        return self._clock()

    def redacted(self, value: Json) -> Json:
        """The value as the ledger would keep it."""
        return self._redact(value)
