"""Training runs and their metrics in a database, where many runs, and many machines, can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Engine, delete, func, insert, select, tuple_, update

from . import migrate as migrations
from .engine import reading, writing
from .schema import training_metrics, training_runs
from .types import lookup

__all__ = ["TrainingRun", "TrainingRuns"]


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """A run as it stands."""

    id: int
    host: str
    directory: str
    """Where it lies on the host."""
    settings: Mapping[str, Any]
    began_at: datetime
    updated_at: datetime
    step: int | None
    """The last one of which there are metrics."""
    latest: Mapping[str, float]
    """The newest value of each metric."""


class TrainingRuns:
    """Keeps the metrics of training runs in a database; a context manager."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str | None = None, *, migrate: bool | None = None) -> Self:
        """Open the database at `url`; default: the user's own SQLite database.

        Args:
            url: `sqlite:///path`, or `postgresql://…` (needs the extra `postgres`).
            migrate: whether to bring the database to this version's tables; default: only SQLite, which has one user.

        Raises:
            StoreError: the database cannot be opened, is of a newer version, or of an older one and not to be migrated.
        """
        return cls(migrations.opened(url, migrate, "`envace-sdk train runs --migrate`"))

    def begin(
        self, host: str, directory: str, settings: Mapping[str, Any], steps: Mapping[int, Mapping[str, float]]
    ) -> int:
        """Begin a run, or go on with the one that lies there; what was stored of it gives way to `steps`.

        Args:
            host: the machine.
            directory: where the run lies there.
            settings: as JSON.
            steps: the metrics that there are so far, by step.

        Returns:
            What to add further steps to.

        Raises:
            StoreError: the database refuses.
        """
        key, now = lookup(host, directory), datetime.now(UTC)
        with writing(self._engine) as connection:
            found = connection.scalar(select(training_runs.c.id).where(training_runs.c.lookup == key))
            if found is None:
                place = {"lookup": key, "host": host, "directory": directory}
                times = {"began_at": now, "updated_at": now}
                begun = insert(training_runs).values(settings=dict(settings), **place, **times)
                found = connection.scalars(begun.returning(training_runs.c.id)).one()
            else:
                connection.execute(delete(training_metrics).where(training_metrics.c.run_id == found))
                values: dict[str, Any] = {"settings": dict(settings), "updated_at": now}
                if not steps:
                    values["began_at"] = now
                connection.execute(update(training_runs).where(training_runs.c.id == found).values(values))
            _insert(connection, found, steps)
        return int(found)

    def add(self, run: int, steps: Mapping[int, Mapping[str, float]]) -> None:
        """Store the metrics of steps of a run, in place of what is stored of them. Raises: StoreError."""
        stale = (training_metrics.c.run_id == run) & training_metrics.c.step.in_(list(steps))
        with writing(self._engine) as connection:
            # Who lost the connection while committing cannot know whether the steps are there, and stores them again.
            connection.execute(delete(training_metrics).where(stale))
            _insert(connection, run, steps)
            connection.execute(
                update(training_runs).where(training_runs.c.id == run).values(updated_at=datetime.now(UTC))
            )

    def runs(self) -> list[TrainingRun]:
        """All runs, the one that was last written to first. Raises: StoreError."""
        one = training_metrics.c
        last_of_each = select(one.run_id, one.name, func.max(one.step)).group_by(one.run_id, one.name)
        newest = select(one.run_id, one.step, one.name, one.value).where(
            tuple_(one.run_id, one.name, one.step).in_(last_of_each)
        )
        with reading(self._engine) as connection:
            metrics = connection.execute(newest.order_by(one.name)).all()
            runs = connection.execute(select(training_runs).order_by(training_runs.c.updated_at.desc())).all()
        latest: dict[int, dict[str, float]] = {}
        last: dict[int, int] = {}
        for found in metrics:
            latest.setdefault(found.run_id, {})[found.name] = found.value
            last[found.run_id] = max(found.step, last.get(found.run_id, 0))
        return [
            TrainingRun(
                found.id,
                found.host,
                found.directory,
                found.settings,
                found.began_at,
                found.updated_at,
                last.get(found.id),
                latest.get(found.id, {}),
            )
            for found in runs
        ]

    def curve(self, run: int, metric: str) -> list[tuple[int, float]]:
        """The values of a metric of a run, by step. Raises: StoreError."""
        one = training_metrics.c
        wanted = select(one.step, one.value).where(one.run_id == run, one.name == metric).order_by(one.step)
        with reading(self._engine) as connection:
            return [(found.step, found.value) for found in connection.execute(wanted)]

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _insert(connection: Connection, run: int, steps: Mapping[int, Mapping[str, float]]) -> None:
    lines = [
        {"run_id": run, "step": step, "name": name, "value": float(value)}
        for step, values in steps.items()
        for name, value in values.items()
    ]
    if lines:
        connection.execute(insert(training_metrics), lines)
