"""One thread that works through jobs, those together that wait together; the event loops that wait stay free."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

from envace_sdk.errors import ModelError

__all__ = ["Job", "Worker"]

_A = TypeVar("_A")
_R = TypeVar("_R")


class Job(Generic[_A, _R]):
    """One thing that is asked, and who waits for it."""

    def __init__(self, asked: _A) -> None:
        self.asked = asked
        self.future: Future[_R] = Future()
        self._abandoned = threading.Event()

    def abandon(self) -> None:
        """Nobody waits any more."""
        self._abandoned.set()

    def abandoned(self) -> bool:
        """Whether nobody waits any more."""
        return self._abandoned.is_set()

    def done(self, result: _R) -> None:
        """Answer."""
        if not self.future.done():
            self.future.set_result(result)

    def failed(self, error: BaseException) -> None:
        """Answer with an error."""
        if not self.future.done():
            self.future.set_exception(error)


class Worker(Generic[_A, _R]):
    """Runs batches of jobs in a thread of its own, which starts with the first job.

    Args:
        run: answers every job of a batch, by `done` or `failed`.
        most: the most jobs in a batch.
        name: of the thread.
    """

    def __init__(self, run: Callable[[Sequence[Job[_A, _R]]], None], most: int, *, name: str) -> None:
        self._run = run
        self._most = most
        self._name = name
        self._jobs: queue.SimpleQueue[Job[_A, _R] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False

    async def do(self, asked: Sequence[_A]) -> list[_R]:
        """The answers, in order. When the caller is cancelled, or one fails, the others are abandoned.

        Raises:
            ModelError: the worker is closed; and whatever `run` made a job fail with.
        """
        jobs = [Job[_A, _R](each) for each in asked]
        with self._lock:
            if self._closed:
                raise ModelError("the model is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            for job in jobs:
                self._jobs.put(job)
        try:
            return await asyncio.gather(*(asyncio.wrap_future(job.future) for job in jobs))
        finally:
            for job in jobs:
                job.abandon()

    async def close(self) -> None:
        """End the thread once what it does is done; what still waits is answered that the model is closed."""
        with self._lock:
            self._closed = True
            thread = self._thread
            self._jobs.put(None)
        if thread is not None:
            await asyncio.to_thread(thread.join)

    def _work(self) -> None:
        while True:
            batch = self._waiting()
            if self._closed:
                for job in batch:
                    job.failed(ModelError("the model is closed"))
                return
            live = [job for job in batch if not job.abandoned()]
            try:
                if live:
                    self._run(live)
            except Exception as error:  # it must reach whoever waits, not end this thread
                for job in live:
                    job.failed(error)

    def _waiting(self) -> list[Job[_A, _R]]:
        """All jobs that wait, up to a batch; waits for the first."""
        batch = []
        job = self._jobs.get()
        while job is not None:
            batch.append(job)
            if len(batch) == self._most:
                break
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
        return batch
