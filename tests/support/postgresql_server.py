"""A real PostgreSQL server of the tests' own, and fresh databases on it."""

import os
from collections.abc import Callable, Iterator

import pytest
from private_postgresql import private_postgresql, run_sql

from envace_sdk.store.engine import connect
from envace_sdk.store.migrate import migrate


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """The URL of a server that listens on a Unix socket in a folder of its own; its template has our tables."""
    with private_postgresql() as server:
        if server is None:
            reason = "PostgreSQL IS NOT TESTED: no initdb found (apt-get install -y postgresql)"
            if os.environ.get("CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        run_sql(server.url, "CREATE DATABASE migrated")
        engine = connect(server.url.replace("/postgres?", "/migrated?"))
        migrate(engine)
        engine.dispose()
        # A database with connections cannot serve as a template, so this one is another.
        run_sql(server.url, "CREATE DATABASE shared TEMPLATE migrated")
        yield server.url


@pytest.fixture
def postgresql_database(postgresql_url: str, request: pytest.FixtureRequest) -> Iterator[Callable[[str], str]]:
    """Makes a database by a template's name ("migrated", or "template1" for an empty one) and gives its URL."""
    made: list[str] = []

    def make(template: str) -> str:
        name = f"t{os.getpid()}_{id(request.node):x}_{len(made)}"
        run_sql(postgresql_url, f"CREATE DATABASE {name} TEMPLATE {template}")
        made.append(name)
        return postgresql_url.replace("/postgres?", f"/{name}?")

    yield make
    for name in made:
        run_sql(postgresql_url, f"DROP DATABASE {name} WITH (FORCE)")
