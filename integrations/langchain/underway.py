"""Calls of one task that run at the same time, where one of them pauses it.

A graph ends a task as soon as one of its calls interrupts it, and the others, cancelled while they run, would be in
doubt. So a pause waits for what is being executed, and nothing more begins while one is about to come.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from envace_sdk.errors import NotExecutedError
from envace_sdk.json import Json

__all__ = ["PausedError", "Underway"]

_PATIENCE: Final = 300.0
"""Seconds for which a pause waits."""

_around: ContextVar[tuple[Underway, ...]] = ContextVar("envace_executing", default=())
"""What is being executed around the code that asks, which no pause inside it can wait for."""


class PausedError(NotExecutedError):
    """The task is about to pause: nothing more is executed in this pass."""

    def __init__(self, approvals: Sequence[Mapping[str, Json]]) -> None:
        super().__init__("another call of the task waits for an approval")
        self.approvals = approvals


class Underway:
    """The calls of one pass over a task; may be used from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._executing = 0
        self._pauses: list[Sequence[Mapping[str, Json]]] = []

    @contextmanager
    def executing(self) -> Iterator[None]:
        """While an action is judged and executed. Raises: PausedError if the task is about to pause."""
        with self._changed:
            if self._pauses:
                raise PausedError(self._pauses[-1])
            self._executing += 1
        token = _around.set((*_around.get(), self))
        try:
            yield
        finally:
            _around.reset(token)
            with self._changed:
                self._executing -= 1
                self._changed.notify_all()

    @contextmanager
    def pausing(self, approvals: Sequence[Mapping[str, Json]]) -> Iterator[None]:
        """While the task may be paused for approvals; it stays so where that is left by an exception.

        Raises:
            PausedError: it is being paused already; it names these approvals, too.
        """
        with self._changed:
            waited_for = [each for one in self._pauses for each in one]
            if waited_for:
                raise PausedError([*waited_for, *approvals])
            self.stop(approvals)
        yield
        with self._changed:
            self._pauses.remove(approvals)

    def stop(self, approvals: Sequence[Mapping[str, Json]]) -> None:
        """Let nothing more begin, and return once nothing is being executed."""
        with self._changed:
            self._pauses.append(approvals)
            around = _around.get().count(self)
            self._changed.wait_for(lambda: self._executing <= around, _PATIENCE)
