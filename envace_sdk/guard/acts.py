"""The actions of a run, as its ledger tells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from envace_sdk.ledger import Entry, Ledger
from envace_sdk.rehearse import Environment

from .claims import Act, Standing
from .results import restored
from .undo import writes_of

__all__ = ["acts_of"]

_TELLING: Final = frozenset({"rehearsed", "decision", "commit", "observed"})


def acts_of(ledger: Ledger, run: str, environment: Environment) -> list[Act]:
    """Every action of a run with how far it came, in the order in which they were begun.

    Raises:
        TamperedError: an entry is not as it was written.
        StoreError: the ledger cannot be read.
    """
    by_action: dict[str, list[Entry]] = {}
    for entry in ledger.entries(run):
        if entry.action is not None and entry.kind in _TELLING and entry.body.get("tool"):
            by_action.setdefault(entry.action, []).append(entry)
    return [_act(ledger, entries, environment) for entries in by_action.values()]


def _act(ledger: Ledger, entries: list[Entry], environment: Environment) -> Act:
    last = entries[-1]
    tool = str(last.body.get("tool", ""))
    rule = environment.dynamics.tools.get(tool)
    writes = rule is None or rule.effect == "opaque" or bool(writes_of(rule))
    payload = ledger.payload(last)
    shown = payload if isinstance(payload, Mapping) else {}
    arguments = shown.get("arguments")
    answer = restored(shown["result"]).first_text if "result" in shown else ""
    return Act(tool, arguments if isinstance(arguments, Mapping) else {}, _standing(last), answer, writes)


def _standing(last: Entry) -> Standing:
    if last.kind == "observed":
        if last.body.get("claimed_by"):
            return "in_doubt"
        return "observed" if last.body.get("status") == "success" else "failed"
    if last.kind == "commit":
        return "in_doubt"
    if last.kind == "decision" and last.body.get("verdict") == "ask":
        return "asked"
    if last.kind == "decision" and last.body.get("verdict") != "commit":
        return "blocked"
    return "rehearsed"
