"""A fresh database on each kind of server."""

from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/envace.db"
    return request.getfixturevalue("postgresql_database")("template1")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database that a store opens without further ado."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/envace.db"
    return request.getfixturevalue("postgresql_database")("migrated")
