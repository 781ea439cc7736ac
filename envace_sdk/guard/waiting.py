"""The requests for approval that a guard has open: when the world moves, people are told that they are stale."""

from __future__ import annotations

import logging
import threading
from typing import Final

from envace_sdk.errors import EnvaceError
from envace_sdk.ledger import Approval, Ledger

from .action import Action
from .known import KnownWorld, basis_now
from .prediction import Prediction

__all__ = ["Waiting"]

logger = logging.getLogger(__name__)

_MOST: Final = 1000
"""Requests that are watched. Of older ones it is found out that they are stale when the agent comes back."""


class Waiting:
    """What people are asked about, with the predictions that they are shown. May be used from any thread."""

    def __init__(self, ledger: Ledger, world: KnownWorld) -> None:
        self._ledger = ledger
        self._world = world
        self._open: dict[str, tuple[Action, Prediction]] = {}
        self._lock = threading.Lock()

    def add(self, approval: str, action: Action, prediction: Prediction) -> None:
        """Watch a request."""
        with self._lock:
            self._open[approval] = (action, prediction)
            while len(self._open) > _MOST:
                del self._open[next(iter(self._open))]

    def review(self) -> None:
        """Mark those that rest on what is no longer so. What cannot be written is logged: `Guard` checks again."""
        state = self._world.state
        with self._lock:
            moved = [
                name
                for name, (action, prediction) in self._open.items()
                if prediction.basis != basis_now(action, prediction, state)
            ]
            for name in moved:
                del self._open[name]
        for name in moved:
            try:
                self._outdate(name)
            except EnvaceError as error:
                logger.warning("the approval %s could not be marked as stale: %s", name, error)

    def _outdate(self, name: str) -> None:
        found: Approval = self._ledger.approvals.get(name)
        while found.replaced_by:  # what it was edited into rests on the same
            found = self._ledger.approvals.get(found.replaced_by)
        self._ledger.approvals.outdate(found.id, "the world has moved since it was asked for")
