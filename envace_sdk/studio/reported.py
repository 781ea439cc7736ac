"""What a report is made of: a training run, a run of a ledger, a whole ledger, a store of worlds, a fidelity result."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from sqlalchemy import URL

from envace_sdk.errors import LedgerError, StoreError, TrainingError
from envace_sdk.evaluate.result import read_result
from envace_sdk.mcp_servers.address import Address, Names
from envace_sdk.store import Store
from envace_sdk.store.engine import connect
from envace_sdk.store.migrate import current
from envace_sdk.store.schema import ledger_entries, worlds

from .app import build_app
from .examined import Examined, Held
from .ledgers import Ledgers
from .report import GENERATOR, Report, Source, report
from .timeline import is_own, run_link
from .toolsets import Toolsets
from .trained import MOST_OVERLAID, NO_RUN, find_runs

__all__ = ["GENERATOR", "Given", "make"]

_SQLITE: Final = b"SQLite format 3\0"
_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Given:
    """What the report is to show."""

    runs: tuple[str, ...]
    """Each a folder of training, a result of `eval fidelity --json`, a database as file or URL, or a run's name."""
    ledger: str | None = None
    """Where runs are looked up by name; None: the user's own."""
    tools: tuple[tuple[str | None, str], ...] = ()
    """Toolsets of the worlds in a database, as `Environment.load` takes them; none: the shipped ones."""


async def make(given: Given, title: str | None, *, most: int) -> Report:
    """The report.

    Args:
        given: what to show.
        title: of the file; None: the names of what is shown.
        most: its size, in bytes, from which on pages are left out.

    Raises:
        EnvaceError: something is not there, cannot be read, or is nothing that can be shown.
    """
    with ExitStack() as opened:
        sources = [source for run in given.runs for source in opened.enter_context(_opened(run, given))]
        names = ", ".join(run.rstrip("/").rpartition("/")[2] or run for run in given.runs)
        return await report(title or f"Report on {names}", sources, most=most)


@contextmanager
def _opened(run: str, given: Given) -> Iterator[list[Source]]:
    path = Path(run)
    kind = _kind(path)
    if "://" in run:
        with _database(run, given) as sources:
            yield sources
    elif stat.S_ISDIR(kind):
        yield [_training(path)]
    elif kind and _begins(path) == _SQLITE:
        with _database(URL.create("sqlite", database=str(path)).render_as_string(), given) as sources:
            yield sources
    elif kind:
        yield [_source(exam=held, starts=["/fidelity", "/fidelity/exam"]) for held in Held.of(read_result(path))]
    else:
        with _named(run, given) as sources:
            yield sources


def _training(folder: Path) -> Source:
    found = list(find_runs([folder]))
    if not found:
        raise TrainingError(NO_RUN.format(folder))
    drawn = urlencode([("run", name) for name in found[:MOST_OVERLAID]], quote_via=quote)
    return _source(runs=(folder,), starts=[f"/training?{drawn}"])


@contextmanager
def _named(run: str, given: Given) -> Iterator[list[Source]]:
    ledgers = Ledgers(given.ledger)
    try:
        ledger = ledgers.get()
        names = [] if ledger is None else [one.name for one in reversed(ledger.runs()) if not is_own(one.name)]
        if run not in names:
            place = ledgers.place if ledger is not None else f"{ledgers.place}, which is not there"
            known = ", ".join(map(repr, names[:_MOST_NAMED])) or "none"
            raise LedgerError(
                f"{run!r} is no file or folder, and no run of the ledger {place} (its latest: {known}); say --ledger "
                "for another ledger"
            )
        yield [_source(ledgers=ledgers, starts=[run_link(run)])]
    finally:
        ledgers.close()


@contextmanager
def _database(url: str, given: Given) -> Iterator[list[Source]]:
    """What a database holds: a ledger, worlds, or both."""
    _check_tables(url)
    ledgers = Ledgers(url)
    toolsets = Toolsets(given.tools, Store.open(url))
    try:
        ledger = ledgers.get()
        sources = []
        if ledger is not None and ledger.runs():
            sources.append(_source(ledgers=ledgers, starts=["/runs", "/approvals", "/fidelity"]))
        if stored := toolsets.stored:
            if missing := sorted({*stored} - {*toolsets.names}):
                raise StoreError(f"worlds of {', '.join(map(repr, missing))} are stored: name the toolset with --tools")
            starts = [f"/worlds/toolset?{urlencode({'name': name}, quote_via=quote)}" for name in stored]
            sources.append(_source(toolsets=toolsets, starts=starts))
        if not sources:
            raise StoreError(f"{ledgers.place}: nothing is written in it yet, neither runs nor worlds")
        yield sources
    finally:
        ledgers.close()
        toolsets.close()


def _source(
    *,
    starts: list[str],
    ledgers: Ledgers | None = None,
    toolsets: Toolsets | None = None,
    runs: tuple[Path, ...] = (),
    exam: Examined | None = None,
) -> Source:
    more: dict[str, Any] = {"runs": runs, "exam": exam, "frozen": True}
    app = build_app(
        names=Names(Address("127.0.0.1", 80)),
        token=None,
        by="",
        ledgers=ledgers or Ledgers(os.devnull),  # not the user's own
        toolsets=toolsets or Toolsets(()),
        **more,
    )
    return Source(app, tuple(starts))


def _check_tables(url: str) -> None:
    """See that a database is one of ours, and leave another as it is. Raises: StoreError."""
    engine = connect(url)
    place = engine.url.database if engine.dialect.name == "sqlite" else None
    try:
        # Connecting would make a file that is not there, and change how another program's is written.
        is_ours = current(engine) is not None if place is None else _has_tables(Path(place))
    finally:
        engine.dispose()
    if not is_ours:
        place = place or engine.url.render_as_string(hide_password=True)
        raise StoreError(f"{place}: neither a ledger nor a store of worlds: its tables are missing")


def _has_tables(file: Path) -> bool:
    if not file.is_file():
        raise StoreError(f"{file}: there is no such file")
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            found = {name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")}
    except sqlite3.Error as error:
        raise StoreError(f"{file}: cannot be read: {error}") from error
    return not found.isdisjoint({ledger_entries.name, worlds.name})


def _kind(path: Path) -> int:
    """The mode of a file; 0 where there is none, or the name can be none."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _begins(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE))
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror or error}") from error
