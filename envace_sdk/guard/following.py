"""Bringing the known world up to what the ledger says was observed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime

from envace_sdk.errors import EnvaceError
from envace_sdk.tools.model import ToolCall

from .journal import Journal
from .known import KnownWorld
from .results import restored

__all__ = ["followed"]

logger = logging.getLogger(__name__)


def followed(journal: Journal, world: KnownWorld, since: datetime | None) -> int:
    """Replay observations on the known world, in the order of time; how many there were.

    Those whose payload was erased cannot be followed, and are passed over.

    Raises:
        TamperedError, StoreError: as the ledger does.
    """
    ledger = journal.ledger
    entries = [entry for entry in ledger.entries(kind="observed") if since is None or entry.at >= since]
    count = 0
    for entry in sorted(entries, key=lambda entry: entry.at):
        if entry.action is None or not world.is_new(entry.action):
            continue
        payload = ledger.payload(entry)
        if not isinstance(payload, Mapping) or "result" not in payload:
            continue
        try:
            call = ToolCall(str(entry.body["tool"]), dict(payload["arguments"]))
            result = restored(payload["result"])
            world.observe(call, result, name=entry.action)
            if result.is_error:
                world.note_missing(journal.prediction(entry.action), result)
        except EnvaceError as error:
            logger.warning("entry %d of run %s cannot be followed: %s", entry.seq, entry.run, error)
            continue
        count += 1
    return count
