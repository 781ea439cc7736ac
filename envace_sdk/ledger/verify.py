"""Whether a ledger is as it was written: what was tampered with, and what cannot be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection, select

from envace_sdk.errors import EvidenceError, StoreError
from envace_sdk.store.schema import ledger_entries, ledger_payloads, ledger_runs
from envace_sdk.store.types import lookup

from . import chain, payloads
from .entry import FORMAT, GENESIS, KINDS, Record

__all__ = ["Finding", "Verification", "verify"]

_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was written, or cannot be told."""

    run: str
    seq: int | None
    """The entry; None: the run as a whole."""
    kind: Literal["tampered", "unverifiable"]
    """Unverifiable: written by a version that this one does not know."""
    what: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What verifying found."""

    runs: int = 0
    entries: int = 0
    erased: int = 0
    """Payloads that were erased, as the chain records."""
    heads: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Length and head of each run: kept elsewhere, they show later that nothing was cut off."""
    findings: tuple[Finding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything could be verified, and is as it was written."""
        return not self.findings

    @property
    def tampered(self) -> bool:
        """Whether anything is known not to be as it was written."""
        return any(finding.kind == "tampered" for finding in self.findings)


@dataclass
class _Run:
    """One run while it is read."""

    id: int
    name: str
    length: int = 0
    head: str = GENESIS
    gone: dict[int, str] = field(default_factory=dict)
    erased: set[int] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)

    def tampered(self, seq: int | None, what: str) -> None:
        self.findings.append(Finding(self.name, seq, "tampered", what))


def verify(
    connection: Connection, run: str | None = None, *, anchors: Mapping[str, tuple[int, str]] | None = None
) -> Verification:
    """Recompute every digest of a run, or of all.

    Args:
        connection: in a transaction that reads.
        run: only this one.
        anchors: lengths and heads from an earlier `Verification`, which must still be there.
    """
    names, entries, erased = 0, 0, 0
    heads: dict[str, tuple[int, str]] = {}
    findings: list[Finding] = []
    unmet = dict(anchors or {}) if run is None else {k: v for k, v in (anchors or {}).items() if k == run}
    try:
        rows = list(chain.runs(connection, run))
    except StoreError as error:
        return Verification(findings=(Finding(run or "", None, "tampered", f"the runs cannot be read: {error}"),))
    for row in rows:
        found = _Run(row["id"], row["name"])
        try:
            _verify_run(connection, row, found, unmet.pop(found.name, None))
        except (
            TypeError,
            ValueError,
            AttributeError,
            StoreError,
        ) as error:  # SQLite keeps values of any type in any column
            found.tampered(None, f"what follows entry {found.length} cannot be read: {error}")
        names += 1
        entries += found.length
        erased += len(found.erased & found.gone.keys())
        heads[found.name] = (found.length, found.head)
        findings += found.findings
    findings += (Finding(name, None, "tampered", "the run is gone") for name in unmet)
    if run is None:
        findings += _strays(connection)
    return Verification(names, entries, erased, heads, tuple(findings))


def _verify_run(connection: Connection, row: Any, run: _Run, anchor: tuple[int, str] | None) -> None:
    if row["lookup"] != lookup(run.name):
        run.tampered(None, "its name is not the one it was made with")
    for stored in _rows(connection, run.id):
        if stored.seq != run.length + 1:
            run.tampered(stored.seq, f"entries {run.length + 1} to {stored.seq - 1} are missing")
        _verify_entry(stored, run)
        run.length, run.head = stored.seq, stored.digest
        if anchor is not None and stored.seq == anchor[0] and stored.digest != anchor[1]:
            run.tampered(stored.seq, "its digest is not the one that was noted")
        _verify_payload(stored, run)
    if (row["length"], row["head"]) != (run.length, run.head):
        run.tampered(
            None,
            f"it says that it has {row['length']} entries and ends in {row['head'][:12]}…, but it has "
            f"{run.length} and ends in {run.head[:12]}…",
        )
    if anchor is not None and run.length < anchor[0]:
        run.tampered(None, f"it had {anchor[0]} entries and has {run.length}")
    for seq in sorted(run.gone.keys() - run.erased):
        run.tampered(seq, "its payload is gone, and no entry says that it was erased")


def _rows(connection: Connection, run_id: int) -> Iterator[Any]:
    column = ledger_entries.c
    after = -(2**63)
    while True:
        query = (
            select(
                ledger_entries,
                ledger_payloads.c.digest.label("kept"),
                ledger_payloads.c.key.label("key"),
                ledger_payloads.c.text.label("payload_text"),
            )
            .outerjoin(ledger_payloads, ledger_payloads.c.digest == column.payload)
            .where(column.run_id == run_id, column.seq > after)
            .order_by(column.seq)
            .limit(_AT_ONCE)
        )
        page = list(connection.execute(query))
        yield from page
        if len(page) < _AT_ONCE:
            return
        after = page[-1].seq


def _verify_entry(row: Any, run: _Run) -> None:
    try:
        record = Record.read(row.text)
    except EvidenceError as error:
        if row.format != FORMAT:
            what = f"its form is {row.format!r}, which this version does not know: upgrade envace-sdk"
            run.findings.append(Finding(run.name, row.seq, "unverifiable", what))
        else:
            run.tampered(row.seq, str(error))
        return
    for column, value in record.columns(row.text).items():
        if getattr(row, column) != value:
            run.tampered(row.seq, f"its {column} is not what was written")
    if record.text() != row.text:
        run.tampered(row.seq, "its text is not canonical")
    if record.run != run.name:
        run.tampered(row.seq, f"it belongs to the run {record.run!r}")
    if record.previous != run.head:
        run.tampered(row.seq, "it does not follow the entry before")
    if record.kind not in KINDS:
        run.tampered(row.seq, f"there is no kind {record.kind!r}")
    if record.kind == "erased":
        run.erased.update(seq for seq in record.body.get("entries", ()) if isinstance(seq, int))


def _verify_payload(row: Any, run: _Run) -> None:
    if row.payload is None:
        return
    if row.kept is None:
        run.gone[row.seq] = row.payload
    elif not payloads.is_text(row.key, row.payload_text, row.kept):
        run.tampered(row.seq, "its payload is not what was written")


def _strays(connection: Connection) -> Iterator[Finding]:
    """Entries of no run, and payloads that no entry is about."""
    orphans = (
        select(ledger_entries.c.seq, ledger_entries.c.text)
        .outerjoin(ledger_runs, ledger_runs.c.id == ledger_entries.c.run_id)
        .where(ledger_runs.c.id.is_(None))
        .limit(_AT_ONCE)
    )
    for row in connection.execute(orphans):
        yield Finding(_run_of(row.text), row.seq, "tampered", "it is an entry of a run that is not there")
    query = (
        select(ledger_payloads.c.digest)
        .outerjoin(ledger_entries, ledger_entries.c.payload == ledger_payloads.c.digest)
        .where(ledger_entries.c.seq.is_(None))
        .limit(_AT_ONCE)
    )
    for digest in connection.execute(query).scalars():
        yield Finding("", None, "tampered", f"no entry is about the payload {digest[:12]}…")


def _run_of(text: Any) -> str:
    """The run that an entry says it belongs to, if it says so."""
    try:
        return Record.read(text).run
    except EvidenceError:
        return ""
