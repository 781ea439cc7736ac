"""Which action a call is: MCP has no word for "the same call again", so the ledger says what is still open."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, TypeVar

from envace_sdk.guard import Action
from envace_sdk.guard.journal import Journal

__all__ = ["Numbering"]

_KEPT: Final = 10_000
_AHEAD: Final = 20
"""Equal calls that may wait for a person at the same time."""
_K = TypeVar("_K")
_V = TypeVar("_V")


class Numbering:
    """Gives each call the identity of the earliest equal action of its thread that is still open.

    One that a person has approved comes first. A call that waits for an approval, and comes again once it is there, is
    thus the same action; one whose equal was executed is a new one; and one whose equal is in doubt stays in doubt,
    also after a restart. When a person has said what came of it, the next equal call is told so. Two exceptions: of an
    action in doubt that by its rule changes nothing, an equal one may be made anew; and what a person rejected or
    edited stays so for as long as this process runs, not for good. Every method may be called from any thread.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        self._firsts: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._asked: OrderedDict[str, None] = OrderedDict()

    @contextmanager
    def held(self, action: Action) -> Iterator[None]:
        """While an action that was taken is at work."""
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard(action.identity)

    def take(self, made: Action) -> Action:
        """The action that a call is; it must be `held`, and is nobody else's until it is let go.

        Raises:
            EvidenceError: the arguments are not JSON.
            StoreError: the ledger cannot be read.
        """
        key = (made.thread, made.digest)
        with self._lock:
            first = nth = self._firsts.get(key, 0)
            while True:
                action = replace(made, nth=nth)
                if action.identity not in self._busy:
                    if not self._is_past(action):
                        break
                    first = nth + 1 if first == nth else first
                nth += 1
            _remember(self._firsts, key, first)
            action = self._approved(made, nth) or action
            self._busy.add(action.identity)
            return action

    def _approved(self, made: Action, first: int) -> Action | None:
        """Of equal actions that are open, the first that a person has approved: it is the one to be done."""
        for nth in range(first, first + _AHEAD):
            action = replace(made, nth=nth)
            if action.identity in self._busy:
                continue
            progress = self._journal.progress(action)
            if progress.status == "not_started":
                return None
            if progress.status == "decided":
                approval = self._journal.approval(action, progress.id)
                if approval is not None and approval.state == "approved":
                    return action
        return None

    def retake(self, action: Action) -> bool:
        """Take an action that was asked about before, by its full identity; False where it is at work right now."""
        with self._lock:
            if action.identity in self._busy:
                return False
            self._busy.add(action.identity)
            return True

    def asked(self, action: Action) -> None:
        """Note that a person was asked about an action while this process ran."""
        with self._lock:
            _remember(self._asked, action.identity, None)

    def told(self, action: Action) -> None:
        """Note that the recorded outcome of an action was given to who asked. Raises: StoreError."""
        name = self._journal.progress(action).id
        if not self._is_told(name):
            self._journal.ledger.append(action.run, "note", {"told": True}, action=name)

    def _is_told(self, name: str) -> bool:
        """Whether who asked knows what came of it; what a person says of one in doubt is to be told first."""
        outcome = self._journal.ledger.find(None, name, "observed")
        if outcome is None or not outcome.body.get("claimed_by"):
            return True
        note = self._journal.ledger.find(None, name, "note")
        return note is not None and bool(note.body.get("told"))

    def _is_past(self, action: Action) -> bool:
        progress = self._journal.progress(action)
        if progress.status == "observed":
            return self._is_told(progress.id)
        if progress.status == "in_doubt":
            decision = self._journal.ledger.find(None, progress.id, "decision")
            return decision is not None and decision.body.get("risk") == "low"
        if progress.status != "decided" or action.identity in self._asked:
            return False
        approval = self._journal.approval(action, progress.id)
        return approval is not None and approval.state in {"rejected", "edited"}


def _remember(kept: OrderedDict[_K, _V], key: _K, value: _V) -> None:
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > _KEPT:
        kept.popitem(last=False)
