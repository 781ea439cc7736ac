"""The chain of a run, inside a transaction: appending at its head, and reading it back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, RowMapping, bindparam, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from envace_sdk.store.schema import ledger_entries, ledger_runs
from envace_sdk.store.types import lookup

from .entry import GENESIS, Entry, Record, entry_of

__all__ = ["ANY", "PAGE", "Head", "Taken", "append", "entries", "find", "has_seen", "kinds", "lock", "page", "runs"]

_RUNS, _ENTRIES = ledger_runs.c, ledger_entries.c
_HEAD = select(ledger_runs).where(_RUNS.lookup == bindparam("wanted")).with_for_update()
_NEW = {"lookup": bindparam("wanted"), "name": bindparam("run"), "length": 0, "head": GENESIS}
_NEW_RUN: Final[dict[str, Any]] = {
    "sqlite": sqlite.insert(ledger_runs).values(_NEW).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(ledger_runs).values(_NEW).on_conflict_do_nothing(),
}
_INSERT = insert(ledger_entries)
_INSERT_ONCE = (
    postgresql.insert(ledger_entries).on_conflict_do_nothing(index_elements=[_ENTRIES.once]).returning(_ENTRIES.seq)
)
_TAKEN = select(_ENTRIES.seq).where(_ENTRIES.once == bindparam("wanted"))
_ADVANCE = (
    update(ledger_runs)
    .where(_RUNS.id == bindparam("of"))
    .values(length=bindparam("seq"), head=bindparam("digest"))
    .execution_options(synchronize_session=False)
)
_KINDS = select(_ENTRIES.kind).where(_ENTRIES.action == bindparam("wanted")).distinct()
PAGE: Final = 500
ANY: Final = object()


class Taken(Exception):  # noqa: N818  a signal within the package, turned into an error that says what
    """What can happen only once has happened before."""


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a run's chain."""

    id: int
    length: int
    digest: str


def lock(connection: Connection, *runs: str) -> dict[str, Head]:
    """The heads of runs, which nobody else can move until the transaction ends. Runs that are new are made.

    Several are locked in the order of their hashes, so that no two transactions wait for each other.
    """
    return {run: _locked(connection, run) for run in sorted(set(runs), key=lookup)}


def _locked(connection: Connection, run: str) -> Head:
    wanted = {"wanted": lookup(run)}
    row = connection.execute(_HEAD, wanted).one_or_none()
    if row is None:
        connection.execute(_NEW_RUN[connection.dialect.name], {**wanted, "run": run})
        row = connection.execute(_HEAD, wanted).one()
    return Head(row.id, row.length, row.head)


def append(connection: Connection, record: Record) -> Entry:
    """Write a record at the end of its run's chain; its `seq` and `previous` are set here.

    Raises:
        Taken: what its `once` names has happened before.
        EvidenceError: its body is not JSON.
    """
    head = lock(connection, record.run)[record.run]
    record = replace(record, seq=head.length + 1, previous=head.digest)
    text = record.text()
    columns = {"run_id": head.id, **record.columns(text)}
    if record.once is None:
        connection.execute(_INSERT, columns)
    else:
        _insert_once(connection, columns)
    connection.execute(_ADVANCE, {"of": head.id, "seq": record.seq, "digest": columns["digest"]})
    # Read back from the text, so that what is returned now is what will be found later.
    return Record.read(text).entry(text, columns["digest"])


def _insert_once(connection: Connection, columns: dict[str, Any]) -> None:
    if connection.execute(_TAKEN, {"wanted": columns["once"]}).one_or_none() is not None:
        raise Taken
    if connection.dialect.name != "postgresql":
        connection.execute(_INSERT, columns)
    # The transaction of another run may be about to write it: this waits for that one's end.
    elif connection.execute(_INSERT_ONCE, columns).one_or_none() is None:
        raise Taken


def entries(connection: Connection, run: str | None = None, **equal: Any) -> list[Entry]:
    """Entries of a run or of all, whose columns equal the values or are not null (`ANY`). Raises: TamperedError."""
    query = select(ledger_entries, _RUNS.name.label("run")).join(ledger_runs, _RUNS.id == _ENTRIES.run_id)
    if run is not None:
        query = query.where(_RUNS.lookup == lookup(run))
    for column, value in equal.items():
        query = query.where(_ENTRIES[column].is_not(None) if value is ANY else _ENTRIES[column] == value)
    rows = connection.execute(query.order_by(_ENTRIES.run_id, _ENTRIES.seq))
    return [entry_of(row, row.run) for row in rows]


def find(connection: Connection, run: str | None, action: str, kind: str) -> Entry | None:
    """The last entry of a kind about an action; of several runs, in the one that was written to last.

    Within a run the place in the chain tells what came last: a clock may have been set back.

    Raises:
        TamperedError: it is not as it was written.
    """
    query = select(ledger_entries, _RUNS.name.label("run")).join(ledger_runs, _RUNS.id == _ENTRIES.run_id)
    query = query.where(_ENTRIES.action == action, _ENTRIES.kind == kind)
    if run is not None:
        query = query.where(_RUNS.lookup == lookup(run))
    latest = func.max(_ENTRIES.at).over(partition_by=_ENTRIES.run_id)
    query = query.order_by(latest.desc(), _ENTRIES.run_id.desc(), _ENTRIES.seq.desc()).limit(1)
    row = connection.execute(query).one_or_none()
    return None if row is None else entry_of(row, row.run)


def has_seen(connection: Connection, run: str, after: int, at: str) -> bool:
    """Whether an entry of a run, behind a place, was written at that time or later."""
    query = select(_ENTRIES.seq).join(ledger_runs, _RUNS.id == _ENTRIES.run_id)
    query = query.where(_RUNS.lookup == lookup(run), _ENTRIES.seq > after, _ENTRIES.at >= at).limit(1)
    return connection.execute(query).first() is not None


def kinds(connection: Connection, action: str) -> set[str]:
    """The kinds of the entries about an action."""
    return set(connection.execute(_KINDS, {"wanted": action}).scalars())


def page(
    connection: Connection, run_id: int, after: int, *, kind: str | None = None, action: str | None = None
) -> list[Any]:
    """At most `PAGE` rows of a run, from a place on."""
    query = select(ledger_entries).where(_ENTRIES.run_id == run_id, _ENTRIES.seq > after)
    if kind is not None:
        query = query.where(_ENTRIES.kind == kind)
    if action is not None:
        query = query.where(_ENTRIES.action == action)
    return list(connection.execute(query.order_by(_ENTRIES.seq).limit(PAGE)))


def runs(connection: Connection, run: str | None = None) -> Iterator[RowMapping]:
    """The rows of the runs, oldest first."""
    query = select(ledger_runs).order_by(_RUNS.id)
    found = connection.execute(query if run is None else query.where(_RUNS.lookup == lookup(run)))
    yield from found.mappings()
