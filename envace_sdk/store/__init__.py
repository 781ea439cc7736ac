"""Worlds and snapshots kept in a database: SQLite by default, PostgreSQL by URL."""

from .store import Store, StoredSnapshot, StoredWorld

__all__ = ["Store", "StoredSnapshot", "StoredWorld"]
