"""Erasing payloads: which, and the entry that says so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, select

from envace_sdk.store.schema import ledger_entries, ledger_payloads, ledger_runs
from envace_sdk.store.types import json_text, lookup

from . import payloads
from .log import Log

__all__ = ["Erasure", "erase"]

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was erased."""

    entries: Mapping[str, tuple[int, ...]]
    """By run, whose payloads are gone."""

    @property
    def count(self) -> int:
        """How many payloads."""
        return sum(map(len, self.entries.values()))


def erase(
    log: Log,
    connection: Connection,
    *,
    run: str | None,
    action: str | None,
    before: datetime | None,
    containing: str | None,
    by: str,
    reason: str,
) -> Erasure:
    """Erase what `Ledger.erase` says, within a transaction."""
    entry, payload = ledger_entries.c, ledger_payloads.c
    query = (
        select(ledger_runs.c.name, entry.seq, payload.digest, *([] if containing is None else [payload.text]))
        .select_from(ledger_entries)
        .join(ledger_runs, ledger_runs.c.id == entry.run_id)
        .join(ledger_payloads, payload.digest == entry.payload)
        .order_by(entry.run_id, entry.seq)
    )
    if run is not None:
        query = query.where(ledger_runs.c.lookup == lookup(run))
    if action is not None:
        query = query.where(entry.action == action)
    if before is not None:
        query = query.where(entry.at < before)
    forms = () if containing is None else _forms(containing)
    found: dict[str, list[int]] = defaultdict(list)
    digests: list[str] = []
    rows = connection.execute(query.execution_options(yield_per=_AT_ONCE))
    for row in rows:
        if containing is None or any(form in row.text.casefold() for form in forms):
            found[row.name].append(row.seq)
            digests.append(row.digest)
    payloads.erase(connection, digests)
    for name in sorted(found, key=lookup):
        body = {"entries": found[name], "by": by, "reason": reason}
        log.write(connection, name, "erased", body)
    return Erasure({name: tuple(seqs) for name, seqs in found.items()})


def _forms(text: str) -> tuple[str, ...]:
    """How a text stands in JSON, on its own and within JSON in a text."""
    once = json_text(text)[1:-1]
    return once.casefold(), json_text(once)[1:-1].casefold(), text.casefold()
