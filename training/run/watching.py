"""Who is told how a run goes, and where its numbers are kept."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol

from ..metrics import MetricsLog
from .live import Live

__all__ = ["Log", "Watch", "logged_to"]


class Watch(Protocol):
    """Whoever is told how the run goes."""

    def phase(self, name: str, steps: int, done: int = 0) -> None:
        """A phase of so many steps begins, or goes on."""
        ...

    def step(self, number: int, values: Mapping[str, float | None]) -> None:
        """A step is done; its numbers by name."""
        ...

    def note(self, text: str) -> None:
        """Something that people should know."""
        ...


class Log(Protocol):
    """Where the numbers of steps are kept."""

    def log(self, step: int, values: Mapping[str, float | None]) -> None:
        """Keep those of a step."""
        ...


class _NoLog:
    """Of processes that write nothing."""

    def log(self, step: int, values: Mapping[str, float | None]) -> None: ...


def logged_to(live: Live, directory: Path, done: int, **options: Any) -> AbstractContextManager[Log]:
    """The log of a run's directory, gone on with after so many steps; of several processes the main one keeps it.

    Args:
        live: whose processes.
        directory: of the run.
        done: steps that stay; what was logged after them is taken again.
        options: more for `MetricsLog`.
    """
    if live.trainer.processes.is_main:
        return MetricsLog(directory, resume_at=done, **options)
    return nullcontext(_NoLog())
