"""A real PostgreSQL server of the tests' own, and fresh databases on it."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from envace_sdk.store.engine import connect
from envace_sdk.store.migrate import migrate


def _binaries() -> Path | None:
    """The folder of initdb and pg_ctl: Debian keeps it off the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    on_path = shutil.which("initdb")
    candidates = [*reversed(debian), *([Path(on_path).resolve().parent] if on_path else [])]
    return next((folder for folder in candidates if (folder / "initdb").exists()), None)


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """The URL of a server that listens on a Unix socket in a folder of its own; its template has our tables."""
    binaries = _binaries()
    if binaries is None:
        reason = "PostgreSQL IS NOT TESTED: no initdb found (apt-get install -y postgresql)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    # Not under pytest's own folder: a socket's path may have 107 bytes, and the server's user must get there.
    folder = Path(tempfile.mkdtemp(prefix="envace-pg-", dir="/tmp"))
    # PostgreSQL refuses to run as root.
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    if user:
        shutil.chown(folder, "postgres", "postgres")

    def run(*command: str) -> None:
        subprocess.run(
            [str(binaries / command[0]), *command[1:]], check=True, cwd=folder, capture_output=True, timeout=120, **user
        )

    data = str(folder / "data")
    options = f"-c listen_addresses='' -k {folder} -c fsync=off -c full_page_writes=off -c max_connections=50"
    try:
        run("initdb", "-D", data, "-U", "envace", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        run("pg_ctl", "start", "-w", "-D", data, "-l", str(folder / "log"), "-o", options)
        try:  # the server runs from here on
            url = f"postgresql+psycopg://envace@/postgres?host={folder}"
            _sql(url, "CREATE DATABASE migrated")
            engine = connect(url.replace("/postgres?", "/migrated?"))
            migrate(engine)
            engine.dispose()
            # A database with connections cannot serve as a template, so this one is another.
            _sql(url, "CREATE DATABASE shared TEMPLATE migrated")
            yield url
        finally:
            run("pg_ctl", "stop", "-w", "-D", data, "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sql(url: str, statement: str) -> None:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


@pytest.fixture
def postgresql_database(postgresql_url: str, request: pytest.FixtureRequest) -> Iterator[Callable[[str], str]]:
    """Makes a database by a template's name ("migrated", or "template1" for an empty one) and gives its URL."""
    made: list[str] = []

    def make(template: str) -> str:
        name = f"t{os.getpid()}_{id(request.node):x}_{len(made)}"
        _sql(postgresql_url, f"CREATE DATABASE {name} TEMPLATE {template}")
        made.append(name)
        return postgresql_url.replace("/postgres?", f"/{name}?")

    yield make
    for name in made:
        _sql(postgresql_url, f"DROP DATABASE {name} WITH (FORCE)")
