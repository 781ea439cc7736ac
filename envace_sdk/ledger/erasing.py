"""Erasing payloads: which, and the entry that says so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select

from envace_sdk.store.schema import ledger_entries, ledger_payloads, ledger_runs
from envace_sdk.store.types import json_text, lookup

from . import payloads
from .entry import time_text
from .log import Log

__all__ = ["Erasure", "erase"]

_AT_ONCE: Final = 500
_ESCAPED: Final = re.compile(r"\\+u([0-9a-fA-F]{4})")


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
        query = query.where(entry.at < time_text(before))
    wanted = None if containing is None else _plain(json_text(containing)[1:-1])
    found: dict[str, list[int]] = defaultdict(list)
    digests: list[str] = []
    rows = connection.execute(query.execution_options(yield_per=_AT_ONCE))
    for row in rows:
        if wanted is None or wanted in _plain(row.text):
            found[row.name].append(row.seq)
            digests.append(row.digest)
    payloads.erase(connection, digests)
    for name in sorted(found, key=lookup):
        body = {"entries": found[name], "by": by, "reason": reason}
        log.write(connection, name, "erased", body)
    return Erasure({name: tuple(seqs) for name, seqs in found.items()})


def _plain(text: str) -> str:
    """JSON, also JSON within texts of JSON, without its escapes and whatever the case."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text).replace("\\", "").casefold()
