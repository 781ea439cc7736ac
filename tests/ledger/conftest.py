"""A ledger on each kind of server, with a clock that stands still until told otherwise."""

from datetime import UTC, datetime, timedelta

import pytest

from envace_sdk.evidence import keyed_redactor
from envace_sdk.ledger import Ledger


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
        return f"sqlite:///{tmp_path}/ledger.db"
    return request.getfixturevalue("postgresql_database")("migrated")


@pytest.fixture
def open_ledger(clock):
    opened = []

    def open_one(url, **options):
        options = {"redact": keyed_redactor(b"k" * 32), "clock": clock, **options}
        opened.append(Ledger.open(url, **options))
        return opened[-1]

    yield open_one
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(ledger_url, open_ledger):
    return open_ledger(ledger_url)


@pytest.fixture
def small(tmp_path, open_ledger):
    """In SQLite only: for what does not depend on the database."""
    return open_ledger(tmp_path / "small.db")
