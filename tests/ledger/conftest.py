"""A ledger on each kind of server, with a clock that stands still until told otherwise."""

import shutil
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event

from envace_sdk.evidence import keyed_redactor
from envace_sdk.ledger import Ledger
from envace_sdk.redaction import no_redaction


class Clock:
    def __init__(self):
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self):
        return self.now

    def advance(self, **by):
        self.now += timedelta(**by)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request, tmp_path):
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("migrated"), tmp_path / "ledger.db")
        return f"sqlite:///{tmp_path}/ledger.db"
    return request.getfixturevalue("postgresql_database")("migrated")


@pytest.fixture(scope="session")
def migrated(tmp_path_factory):
    """A SQLite file with tables in it; copying it is faster than making them."""
    file = tmp_path_factory.mktemp("migrated") / "ledger.db"
    Ledger.open(file, redact=no_redaction).close()
    return file


def hurry(ledger):
    """Nothing here cuts the power, and waiting for the disk is most of what these tests would do."""
    engine = ledger.database.engine
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA synchronous=OFF"))
        engine.dispose()
    return ledger


@pytest.fixture
def open_ledger(clock):
    opened = []

    def open_one(url, **options):
        options = {"redact": keyed_redactor(b"k" * 32), "clock": clock, **options}
        opened.append(hurry(Ledger.open(url, **options)))
        return opened[-1]

    yield open_one
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(ledger_url, open_ledger):
    return open_ledger(ledger_url)


@pytest.fixture
def small(tmp_path, open_ledger, migrated):
    """In SQLite only: for what does not depend on the database."""
    shutil.copy(migrated, tmp_path / "small.db")
    return open_ledger(tmp_path / "small.db")
