"""The database's version: what it is, and bringing it up to this version's."""

from __future__ import annotations

from typing import Final

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from envace_sdk.errors import StoreError

from .engine import connect, reading, writing

__all__ = ["HEAD", "config", "current", "migrate", "opened", "prepare"]

HEAD: Final = "0004"
"""The migration this version works with."""

_ADVISORY_LOCK: Final = 0x656E76616365  # "envace"


def current(engine: Engine) -> str | None:
    """The version of the database, None for an empty one. Raises: StoreError when it cannot be reached."""
    with reading(engine) as connection:
        return MigrationContext.configure(connection).get_current_revision()


def migrate(engine: Engine) -> None:
    """Bring the database up to `HEAD` in one transaction; processes that do so at once wait for one another.

    Raises:
        StoreError: the database was made by a newer version, or refuses.
    """
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})
        found = MigrationContext.configure(connection).get_current_revision()
        if found == HEAD:
            return
        refuse_newer(found, engine)
        command.upgrade(config(connection), HEAD)


def opened(url: str | None, wanted: bool | None, how: str, *, durable: bool = False) -> Engine:
    """An engine for a database that has this version's tables; it is closed again where that cannot be had.

    Args:
        url: of the database; None: the user's own.
        wanted: as for `prepare`.
        how: as for `prepare`.
        durable: as for `connect`.

    Raises:
        StoreError: it cannot be opened, is of a newer version, or of an older one and not to be migrated.
    """
    engine = connect(url, durable=durable)
    try:
        prepare(engine, wanted, how)
    except BaseException:
        engine.dispose()
        raise
    return engine


def prepare(engine: Engine, wanted: bool | None, how: str) -> None:
    """Make sure that the database has this version's tables.

    Args:
        engine: of the database.
        wanted: whether to migrate it where it has not; None: only SQLite, which has one user.
        how: what to call to have it migrated, for the message.

    Raises:
        StoreError: it is of a newer version, or of an older one and not to be migrated.
    """
    found = current(engine)
    if found == HEAD:
        return
    refuse_newer(found, engine)
    if wanted is None:
        wanted = engine.dialect.name == "sqlite"
    if not wanted:
        what = "has no tables yet" if found is None else f"is of version {found}"
        where = engine.url.render_as_string(hide_password=True)
        raise StoreError(f"{where} {what}, and this version needs {HEAD}: open it with {how}")
    migrate(engine)


def refuse_newer(found: str | None, engine: Engine) -> None:
    """Raises: StoreError when `found` is a version that this one does not know."""
    known = {script.revision for script in ScriptDirectory.from_config(config()).walk_revisions()}
    if found is not None and found not in known:
        where = engine.url.render_as_string(hide_password=True)
        raise StoreError(f"{where} is of version {found}, which is newer than {HEAD}: upgrade envace-sdk")


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration, without a file; migrations run on `connection`, in its transaction."""
    made = Config()
    made.set_main_option("script_location", "envace_sdk.store:migrations")
    made.attributes["connection"] = connection
    return made
