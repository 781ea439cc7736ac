"""A PostgreSQL server in a folder of its own, reached by a Unix socket there."""

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import create_engine, text

__all__ = ["PrivatePostgresql", "private_postgresql", "run_sql"]

_QUICK = "-c fsync=off -c full_page_writes=off"
"""For tests: what such a server has acknowledged survives its end, but not the machine's."""


def binaries() -> Path | None:
    """The folder of initdb and pg_ctl: Debian keeps it off the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    on_path = shutil.which("initdb")
    candidates = [*reversed(debian), *([Path(on_path).resolve().parent] if on_path else [])]
    return next((folder for folder in candidates if (folder / "initdb").exists()), None)


class PrivatePostgresql:
    """A server that can be stopped, and started again on the same data."""

    def __init__(self, folder: Path, programs: Path, *, durable: bool, connections: int) -> None:
        self._folder = folder
        self._programs = programs
        quick = "" if durable else _QUICK
        self._options = f"-c listen_addresses='' -k {folder} -c max_connections={connections} {quick}"
        # PostgreSQL refuses to run as root.
        self._user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        if self._user:
            shutil.chown(folder, "postgres", "postgres")
        self.url = f"postgresql+psycopg://envace@/postgres?host={folder}"

    def make(self) -> None:
        """Make the data folder."""
        data = str(self._folder / "data")
        self._run("initdb", "-D", data, "-U", "envace", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")

    def start(self) -> None:
        """Start, and wait until it takes connections."""
        log = str(self._folder / "log")
        self._run("pg_ctl", "start", "-w", "-D", str(self._folder / "data"), "-l", log, "-o", self._options)

    @property
    def pid(self) -> int:
        """Of the process that all others of the server come from."""
        return int((self._folder / "data" / "postmaster.pid").read_text().split()[0])

    def stop(self, mode: str = "immediate") -> None:
        """Stop: `fast` ends every session in order, `immediate` is as good as a crash."""
        self._run("pg_ctl", "stop", "-w", "-D", str(self._folder / "data"), "-m", mode)

    def _run(self, *command: str) -> None:
        subprocess.run(
            [str(self._programs / command[0]), *command[1:]],
            check=True,
            cwd=self._folder,
            capture_output=True,
            timeout=120,
            **self._user,
        )


@contextlib.contextmanager
def private_postgresql(*, durable: bool = False, connections: int = 50) -> Iterator[PrivatePostgresql | None]:
    """A running server, gone with its data afterwards; None where PostgreSQL is not installed."""
    programs = binaries()
    if programs is None:
        yield None
        return
    # Not under pytest's own folder: a socket's path may have 107 bytes, and the server's user must get there.
    folder = Path(tempfile.mkdtemp(prefix="envace-pg-", dir="/tmp"))
    server = PrivatePostgresql(folder, programs, durable=durable, connections=connections)
    try:
        server.make()
        server.start()
        try:
            yield server
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):  # a test may have stopped it
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_sql(url: str, statement: str) -> None:
    """Run one statement outside any transaction."""
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()
