"""Saying what came of an action that is in doubt, by its id alone: for people at a terminal, who have no guard."""

from __future__ import annotations

from collections.abc import Mapping

from envace_sdk.errors import GuardError
from envace_sdk.ledger import Entry, Ledger
from envace_sdk.tools.model import ToolResult

from .action import Action
from .journal import Journal
from .results import as_result
from .scoring import observed_status

__all__ = ["settle"]


def settle(ledger: Ledger, action: str, *, by: str, happened: bool, result: ToolResult | None = None) -> str:
    """As `Guard.settle`, for an action that is known by its id; gives the name of its tool.

    Guards that are running do not follow it in their known world; `Guard.catch_up` does later.

    Args:
        ledger: where it is in doubt.
        action: its id, with or without the number of the attempt.
        by: who has looked at the real system.
        happened: whether it was carried out there.
        result: what it answered, where that is known.

    Raises:
        GuardError: it is unknown or not in doubt, or nobody says so.
        StoreError: the ledger cannot be written.
    """
    if not by:
        raise GuardError(f"the action {action} cannot be settled: nobody is named who says so")
    commit = _doubtful(ledger, action)
    payload = ledger.payload(commit)
    arguments = payload.get("arguments") if isinstance(payload, Mapping) else None
    known = arguments if isinstance(arguments, Mapping) else {}
    said = Action(str(commit.body["tool"]), known, str(commit.body["server"]), thread=commit.run)
    name, journal = str(commit.action), Journal(ledger)
    if happened:
        told = as_result(result or ToolResult.text(f"{by} says that it happened"))
        journal.observed(said, name, told, status=observed_status(told), claimed_by=by)
    else:
        journal.released(said, name, f"{by} says that it did not happen")
    return said.name


def _doubtful(ledger: Ledger, action: str) -> Entry:
    """The commit of the attempt that is in doubt."""
    base = name = action.partition("#")[0]
    attempt = 0
    while True:
        commit, status = ledger.find(None, name, "commit"), ledger.status(name)
        if commit is None or status != "in_doubt":
            what = "unknown to the ledger" if attempt == 0 and commit is None else f"not in doubt, but {status}"
            raise GuardError(f"the action {action} cannot be settled: it is {what}")
        released = ledger.find(None, name, "note")
        if released is None or not released.body.get("released"):
            return commit
        attempt += 1
        name = f"{base}#{attempt}"
