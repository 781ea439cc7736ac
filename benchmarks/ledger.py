"""What the ledger costs: an append beside a bare durable commit of the same bytes, on the same disk in the same run.

    python benchmarks/ledger.py [--appends 300] [--folder .]

Both are flushed to the disk before they return; the two take turns, so that whatever else the disk does meets both.
The ratio is of medians. `--limit 3` ends with exit code 1 where it is greater.
"""

from __future__ import annotations

import argparse
import platform
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from envace_sdk.evidence import keyed_redactor
from envace_sdk.ledger import Ledger

BODY = {"verdict": "commit", "risk": "low", "rule": "reads", "tool": "get_order", "confidence": 0.93}
PAYLOAD = {"arguments": {"order_id": "ORD-000017", "note": "x" * 200}, "result": {"status": "open", "total": 95.0}}


def bare(path: Path) -> tuple[sqlite3.Connection, Callable[[str], None]]:
    """A connection, and what commits one row durably on it."""
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)")

    def commit(text: str) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows (text) VALUES (?)", (text,))
        connection.execute("COMMIT")

    return connection, commit


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def journal(ledger: Ledger, action: str) -> None:
    ledger.append("actions", "rehearsed", BODY, payload=PAYLOAD, action=action)
    ledger.append("actions", "decision", BODY, action=action)
    ledger.commit("actions", action)
    ledger.observed("actions", action, payload=PAYLOAD)


def row(what: str, seconds: list[float], base: float) -> float:
    median = statistics.median(seconds)
    worst = statistics.quantiles(seconds, n=20)[-1]
    print(f"| {what:<44} | {median * 1e3:8.2f} ms | {worst * 1e3:8.2f} ms | {median / base:6.2f} |")
    return median / base


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--appends", type=int, default=300)
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="on the disk to measure")
    parser.add_argument("--limit", type=float, help="the greatest ratio for an append")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        connection, commit = bare(Path(folder) / "bare.db")
        ledger = Ledger.open(Path(folder) / "ledger.db", redact=keyed_redactor(b"k" * 32))
        text = ledger.append("warm", "note", BODY, payload=PAYLOAD).text
        commits, plain, full, actions = [], [], [], []
        for number in range(options.appends):
            commits.append(timed(lambda: commit(text)))
            plain.append(timed(lambda: ledger.append("plain", "note", BODY)))
            full.append(timed(lambda: ledger.append("full", "note", BODY, payload=PAYLOAD)))
            if number % 5 == 0:
                actions.append(timed(lambda number=number: journal(ledger, f"a{number}")))  # type: ignore[misc]
        print(f"{options.appends} rounds, Python {platform.python_version()}, {platform.machine()}\n")
        print(f"| {'What':<44} | {'Median':>11} | {'95 %':>11} | {'Ratio':>6} |")
        print(f"|{'-' * 46}|{'-' * 12}:|{'-' * 12}:|{'-' * 7}:|")
        base = statistics.median(commits)
        row("a bare durable commit of SQLite", commits, base)
        row("append", plain, base)
        ratio = row("append with a payload", full, base)
        row("the journal of one action (4 entries)", actions, base)
        begin = time.perf_counter()
        found = ledger.verify()
        seconds = time.perf_counter() - begin
        print(f"\nverify: {found.entries} entries in {seconds:.2f} s, {found.entries / seconds:,.0f} a second")
        ledger.close()
        connection.close()
    if options.limit is not None and ratio > options.limit:
        sys.exit(f"an append costs {ratio:.2f} bare commits, over the limit of {options.limit}")


if __name__ == "__main__":
    main()
