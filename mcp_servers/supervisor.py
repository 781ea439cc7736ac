"""Several processes that do the same work, started anew when they die."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn

from envace_sdk.errors import EnvaceError

__all__ = ["Supervisor"]

logger = logging.getLogger(__name__)

_QUICK: Final = 5.0
"""Seconds of life below which a death counts as quick."""
_GIVEN_UP_AFTER: Final = 5
"""Quick deaths in a row, for each worker, after which there is no point in going on."""
_LONGEST_PAUSE: Final = 5.0
_MARGIN: Final = 2.0
"""Seconds that a worker is given beyond its grace period before it is killed."""
_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class _Worker:
    pid: int = 0
    """0 while it waits to be started."""
    began: float = 0.0
    due: float = 0.0


@dataclass(slots=True)
class Supervisor:
    """Forks workers and keeps as many running.

    A worker ends by itself when told to by SIGTERM, and when the supervisor is gone.

    Args:
        work: what a worker does; gets its number, and the file descriptor that comes to its end with the supervisor.
        count: how many workers.
        grace: seconds that a worker may take to end.
        stopping: called once in the supervisor before the workers are told to end.
        died: hears of the process id of a worker that is gone.
        restarted: hears that one was started in its place.
    """

    work: Callable[[int, int], None]
    count: int
    grace: float
    stopping: Callable[[], None] = lambda: None
    died: Callable[[int], None] = lambda _: None
    restarted: Callable[[], None] = lambda: None
    _workers: dict[int, _Worker] = field(default_factory=dict)
    _stopped: bool = False
    _quick_deaths: int = 0

    def run(self) -> None:
        """Keep the workers running until SIGINT or SIGTERM. Raises: OSError; EnvaceError when they keep dying."""
        lifeline, held = os.pipe()
        with self._signals() as woken:
            try:
                self._workers = {number: _Worker() for number in range(self.count)}
                while not self._stopped:
                    for number, worker in self._workers.items():
                        if not worker.pid and worker.due <= time.monotonic():
                            self._start(number, worker, lifeline, held)
                    self._wait(woken)
                    self._reap()
                self.stopping()
            finally:
                self._end(woken)
                os.close(held)
                os.close(lifeline)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[int]:
        """A file descriptor that becomes readable with each signal."""
        woken, waking = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(waking, False)
        before = {number: signal.signal(number, self._stop) for number in _STOPPING}
        before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        previous = signal.set_wakeup_fd(waking)
        try:
            yield woken
        finally:
            signal.set_wakeup_fd(previous)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(woken)
            os.close(waking)

    def _stop(self, *_: object) -> None:
        self._stopped = True

    def _wait(self, woken: int) -> None:
        now = time.monotonic()
        pauses = [max(worker.due - now, 0.0) for worker in self._workers.values() if not worker.pid]
        select.select([woken], [], [], min(pauses, default=None))
        _drain(woken)

    def _start(self, number: int, worker: _Worker, lifeline: int, held: int) -> None:
        again = worker.began > 0
        sys.stdout.flush()
        sys.stderr.flush()
        # A signal that came to the child before it has its own handlers would be taken for one to the supervisor.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
        try:
            pid = os.fork()
            if pid == 0:
                _be_worker(self.work, number, lifeline, held)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
        worker.pid, worker.began = pid, time.monotonic()
        if again:
            self.restarted()

    def _reap(self) -> None:
        for number, worker in self._workers.items():
            if not worker.pid:
                continue
            pid, status = os.waitpid(worker.pid, os.WNOHANG)
            if pid == 0:
                continue
            self.died(worker.pid)
            worker.pid = 0
            if self._stopped:
                continue
            lived = time.monotonic() - worker.began
            self._quick_deaths = self._quick_deaths + 1 if lived < _QUICK else 0
            if self._quick_deaths >= _GIVEN_UP_AFTER * self.count:
                raise EnvaceError("the workers die as soon as they are started; what they log says why")
            pause = min(0.1 * 2 ** max(self._quick_deaths - 1, 0), _LONGEST_PAUSE) if self._quick_deaths else 0.0
            worker.due = time.monotonic() + pause
            logger.error("worker %d %s; a new one is started", number, _fate(status))

    def _end(self, woken: int) -> None:
        """End all workers, in time if possible."""
        self._signal_all(signal.SIGTERM)
        deadline = time.monotonic() + self.grace + _MARGIN
        self._stopped = True
        while any(worker.pid for worker in self._workers.values()):
            left = deadline - time.monotonic()
            if left <= 0:
                logger.error("workers that have not ended within %g s are killed", self.grace)
                self._signal_all(signal.SIGKILL)
                deadline = float("inf")
                left = 1.0
            select.select([woken], [], [], min(left, 1.0))
            _drain(woken)
            self._reap()

    def _signal_all(self, number: signal.Signals) -> None:
        for worker in self._workers.values():
            if worker.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.pid, number)


def _be_worker(work: Callable[[int, int], None], number: int, lifeline: int, held: int) -> NoReturn:
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        for caught in (*_STOPPING, signal.SIGCHLD):
            signal.signal(caught, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)
        os.close(held)
        work(number, lifeline)
        code = 0
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException:
        logger.exception("worker %d", number)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _fate(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"ended with exit code {code}" if code >= 0 else f"was killed by {signal.Signals(-code).name}"


def _drain(woken: int) -> None:
    with contextlib.suppress(BlockingIOError):
        while os.read(woken, 4096):
            pass
