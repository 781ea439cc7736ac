"""The database under a ledger: transactions that threads may begin at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import platformdirs
from sqlalchemy import URL, Connection
from sqlalchemy.pool import StaticPool

from envace_sdk.store import migrate as migrations
from envace_sdk.store.engine import errors_named, reading, writing

__all__ = ["Database", "default_path"]


def default_path() -> Path:
    """The user's own ledger."""
    return platformdirs.user_data_path("envace", appauthor=False) / "ledger.db"


class Database:
    """An engine, and whatever it takes to use it from many threads."""

    def __init__(self, url: str | Path | None, migrate: bool | None) -> None:
        if url is None or isinstance(url, Path):
            url = URL.create("sqlite", database=str(url or default_path())).render_as_string()
        self.engine = migrations.opened(url, migrate, "Ledger.open(url, migrate=True)", durable=True)
        # One process writes to SQLite one after the other anyway; waiting here costs less than polling the file.
        self._writer = threading.Lock() if self.engine.dialect.name == "sqlite" else None
        self._shared = self._writer if isinstance(self.engine.pool, StaticPool) else None

    @property
    def name(self) -> str:
        """The URL without its password."""
        return self.engine.url.render_as_string(hide_password=True)

    @property
    def place(self) -> str:
        """The file, where it is one, else the URL without its password."""
        file = self.engine.url.database if self.engine.dialect.name == "sqlite" else None
        return file or self.name

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is durable once it ends. Raises: StoreError."""
        with _held(self._writer), writing(self.engine) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One state of the database. Raises: StoreError."""
        with _held(self._shared), reading(self.engine) as connection:
            yield connection

    def forget(self) -> None:
        """Leave nothing of what was deleted in SQLite's log of changes. PostgreSQL does so when it is vacuumed."""
        if self.engine.dialect.name == "sqlite":
            # The driver's own connection: a checkpoint cannot run inside a transaction.
            with _held(self._writer), errors_named(self.engine), closing(self.engine.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


@contextmanager
def _held(lock: threading.Lock | None) -> Iterator[None]:
    if lock is None:
        yield
    else:
        with lock:
            yield
