"""Waiting for people by pausing the task of a graph."""

from __future__ import annotations

from contextlib import AbstractContextManager

from envace_sdk.errors import ApprovalRequired, Refused
from envace_sdk.guard import Action
from envace_sdk.ledger import Ledger

from .calls import TaskPass
from .doorbell import Doorbell, can_pause, ring
from .underway import PausedError

__all__ = ["TaskPause"]


class TaskPause:
    """How one call pauses the task it is part of.

    Args:
        ledger: where approvals are decided.
        task: the pass over the task.
        asks: whether people can be asked at all.
    """

    def __init__(self, ledger: Ledger, task: TaskPass, *, asks: bool = True) -> None:
        self._underway = task.underway
        self._bell: Doorbell = task.kept(lambda: Doorbell(ledger, task.calls.thread, task.name))
        self._asks = asks

    def before(self, action: Action) -> None:
        """Raise again what was raised for the action in earlier passes."""
        owed = self._bell.owes(action) if self._asks else []
        if owed:
            try:
                self._bell.again(action)
            except Exception:
                self._underway.stop(owed)  # the graph was not resumed, but only run again
                raise

    def executing(self) -> AbstractContextManager[None]:
        """While the action is judged and executed."""
        return self._underway.executing()

    def wait(self, action: Action, pause: ApprovalRequired) -> None:
        """Interrupt the graph until the approval is settled. Raises: Refused if that cannot be."""
        if not self._asks or not can_pause():
            why = "nobody can be asked here" if not self._asks else "without a checkpointer nobody can be asked"
            raise Refused(f"{pause}; {why}", reasons=(why,)) from pause
        try:
            with self._underway.pausing([pause.payload]):
                self._bell.wait(action, pause.payload)
        except PausedError as paused:
            ring(paused.approvals)

    def join(self, paused: PausedError) -> None:
        """Interrupt the graph for what another call waits for."""
        ring(paused.approvals)
