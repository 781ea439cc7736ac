"""Worlds, snapshots and metrics of training kept in a database: SQLite by default, PostgreSQL by URL."""

from .store import Store, StoredSnapshot, StoredWorld
from .training import TrainingRun, TrainingRuns

__all__ = ["Store", "StoredSnapshot", "StoredWorld", "TrainingRun", "TrainingRuns"]
