"""From a database URL to an engine, with each database's own care."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import platformdirs
from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DataError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from envace_sdk.errors import StoreError

__all__ = ["absent", "connect", "default_url", "errors_named", "reachable", "reading", "writing"]

_BUSY_TIMEOUT_MS: Final = 10_000
_PAUSE: Final = 0.01
"""Seconds between two attempts at what SQLite does not wait for by itself."""
_PATIENCE: Final = {"connect_timeout": 5, "tcp_user_timeout": 10_000}
"""Seconds a server may take to be reached, and milliseconds to acknowledge what it was sent. A URL can say
otherwise. Without them, a machine that is gone is waited for as long as the system does, which is minutes."""
_BEGIN: Final = "envace_begin"


def default_url() -> str:
    """The user's own SQLite database."""
    folder = platformdirs.user_data_path("envace", appauthor=False)
    return URL.create("sqlite", database=str(folder / "envace.db")).render_as_string()


def absent(url: str | None) -> Path | None:
    """The file of the SQLite database that is meant, where it is not there; None for all other databases.

    Opening makes it, which only who writes wants. A URL that cannot be read is for `connect` to refuse.
    """
    try:
        parsed = make_url(url or default_url())
    except (ArgumentError, ValueError):
        return None
    if parsed.get_backend_name() != "sqlite" or parsed.database in (None, "", ":memory:"):
        return None
    if str(parsed.database).startswith("file:"):  # SQLite's own kind of URL, which says itself what it makes
        return None
    path = Path(str(parsed.database))
    return None if path.exists() else path


def connect(url: str | None, *, durable: bool = False, connections: int | None = None) -> Engine:
    """An engine for `url`, or for the user's own database.

    `sqlite:///path`, `sqlite://` (in memory) and `postgresql://…` (by psycopg) are known.

    Args:
        url: of the database.
        durable: whether what SQLite has committed must survive a power cut, at the price of a disk flush per commit,
            and what it has deleted must be overwritten.
        connections: most connections to PostgreSQL at once; they are not tried out before each use, so a caller must
            expect to find one broken. Default: up to 15, tried out.

    Raises:
        StoreError: the URL is not one, names a database that is not supported, or its driver is not installed.
    """
    try:
        parsed = make_url(url or default_url())
    except (ArgumentError, ValueError):
        # The text may hold a password, so it is not repeated.
        raise StoreError("the database URL cannot be read; expected sqlite:///PATH or postgresql://HOST/NAME") from None
    match parsed.get_backend_name():
        case "sqlite":
            return _sqlite(parsed, durable)
        case "postgresql" | "postgres":
            return _postgresql(parsed.set(drivername="postgresql+psycopg"), connections)
        case other:
            raise StoreError(f"the store keeps its tables in SQLite or PostgreSQL, not in {other}")


def _sqlite(url: URL, durable: bool) -> Engine:
    options: dict[str, Any] = {}
    if url.database in (None, "", ":memory:"):
        options = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    else:
        try:
            Path(str(url.database)).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"the folder of the database cannot be made: {error}") from error
    engine = create_engine(url.set(drivername="sqlite+pysqlite"), **options)

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions are begun below, not by the driver's guess
        for pragma in (
            f"busy_timeout={_BUSY_TIMEOUT_MS}",
            f"synchronous={'FULL' if durable else 'NORMAL'}",
            f"secure_delete={'ON' if durable else 'OFF'}",
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        _write_ahead(connection)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A transaction that reads first and writes later is refused at once when another wrote in between, whatever
        # the timeout: writers take the lock, waiting for it, before they read.
        connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get(_BEGIN, 'DEFERRED')}")

    return engine


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at once."""
    deadline = time.monotonic() + _BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            # Of several that open a new database, this is refused to all but one at once, whatever the timeout.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return


def _postgresql(url: URL, connections: int | None) -> Engine:
    pool: dict[str, Any] = {"pool_pre_ping": True}
    if connections is not None:
        patience = {name: value for name, value in _PATIENCE.items() if name not in url.query}
        pool = {
            "pool_size": connections,
            "max_overflow": 0,
            "isolation_level": "READ COMMITTED",
            "connect_args": patience,
        }
    try:
        engine = create_engine(url, **pool)
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise StoreError('PostgreSQL needs its driver: pip install "envace-sdk[postgres]"') from error

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _record: object) -> None:
        # Times at either end of the calendar leave it in other zones, and then Python cannot read them.
        connection.execute("SET TIME ZONE 'UTC'")
        connection.commit()

    return engine


def reachable(engine: Engine) -> bool:
    """Whether the database answers now."""
    try:
        with engine.connect() as connection:
            connection.exec_driver_sql("SELECT 1")
    except SQLAlchemyError:
        return False
    return True


@contextmanager
def errors_named(engine: Engine) -> Iterator[None]:
    """Turn what the database layer raises into StoreError."""
    try:
        yield
    except (SQLAlchemyError, OverflowError) as error:
        where = engine.url.render_as_string(hide_password=True)
        cause = getattr(error, "orig", None) or error
        if isinstance(cause, StoreError):  # raised by a column type
            raise cause from None
        what = "refuses a value" if isinstance(error, DataError | OverflowError) else "cannot be used"
        raise StoreError(f"{where} {what}: {str(cause).strip()}") from error


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A read transaction: one state of the database from its first statement to its last.

    Raises: StoreError.
    """
    with errors_named(engine), engine.connect() as connection:
        if engine.dialect.name != "sqlite":
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that is committed at the end, and rolled back by any exception. Raises: StoreError."""
    with errors_named(engine), engine.connect() as connection:
        connection.execution_options(**{_BEGIN: "IMMEDIATE"})
        with connection.begin():
            yield connection
