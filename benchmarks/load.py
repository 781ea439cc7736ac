"""A server of several processes under load, and whether it lost or mixed up anything.

    python benchmarks/load.py --seconds 60
    python benchmarks/load.py --seconds 60 --kill                # a worker, in the middle
    python benchmarks/load.py --seconds 60 --restart-postgres    # its database, in the middle, as by a crash

Starts a PostgreSQL of its own (on a Unix socket, durable) and `envace-sdk serve --workers`, and calls it over
loopback: so many calls in flight on so many worlds, at random. Afterwards every world is replayed, one acknowledged
call after the other, and each answer and the stored state must be equal. Exit code 1 when anything is not, or when a
call failed that should not have.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import os
import platform
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fleet
from load_check import check
from load_client import Connection, Sent
from sqlalchemy import text

from envace_sdk.rehearse import Environment
from envace_sdk.store import Store

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from private_postgresql import PrivatePostgresql, private_postgresql

SERVE = [sys.executable, "-c", "from envace_sdk.cli.main import main; main()", "serve"]
SHOWN = 5
"""Most findings that are printed."""


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--in-flight", type=int, default=200)
    parser.add_argument("--entities", type=int, default=200, help="that each world begins with")
    parser.add_argument("--connections", type=int, default=8, help="of each worker to the database")
    parser.add_argument("--kill", action="store_true", help="SIGKILL a worker in the middle")
    parser.add_argument(
        "--restart-postgres", action="store_true", help="crash PostgreSQL in the middle, and restart it"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    with private_postgresql(durable=True, connections=options.workers * (options.connections + 4) + 10) as postgresql:
        if postgresql is None:
            sys.exit("no initdb found: install PostgreSQL (apt-get install -y postgresql)")
        with tempfile.TemporaryDirectory() as name:
            figures = _run(Path(name), postgresql, options)
    print(json.dumps(figures, indent=2))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    sys.exit(1 if figures["wrong"] else 0)


def _run(folder: Path, postgresql: PrivatePostgresql, options: argparse.Namespace) -> dict[str, Any]:
    toolset = folder / "fleet"
    fleet.write(toolset, options.entities)
    with _server(folder, toolset, postgresql, options) as (process, port):
        before = _processor(process, postgresql)
        calls = asyncio.run(_load(process, port, postgresql, options))
        used = {name: seconds - before[name] for name, seconds in _processor(process, postgresql).items()}
        memory = [_resident(pid) for pid in _children(process.pid)]
        counted = _counted(port)
    ended = process.returncode
    with Store.open(postgresql.url) as store:
        wrong, unacknowledged = asyncio.run(check(Environment.load(toolset), store, calls))
        size = _size(store)
    wrong += [f"the server ended with exit code {ended}"] if ended else []
    wrong += list(_failures(calls, options))
    for what in wrong[:SHOWN]:
        print(what, file=sys.stderr)
    return {
        **_figures(calls, options),
        "happened, not acknowledged": unacknowledged,
        "processor time per call, ms": {name: round(s * 1000 / len(calls), 2) for name, s in used.items()},
        "memory of each worker, MB": [round(size / 1e6) for size in memory],
        "database": size,
        "counted": counted,
        "wrong": len(wrong),
    }


@contextmanager
def _server(
    folder: Path, toolset: Path, postgresql: PrivatePostgresql, options: argparse.Namespace
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    words = ["--tools", str(toolset), "--http", "127.0.0.1:0", "--store", postgresql.url, "--migrate"]
    words += ["--workers", str(options.workers), "--store-connections", str(options.connections)]
    log = folder / "log"
    environment = {**os.environ, "ENVACE_RUNTIME_DIR": str(folder / "run")}
    with (
        log.open("wb") as written,
        subprocess.Popen([*SERVE, *words], stderr=written, env=environment) as process,
    ):
        try:
            port = _announced_port(log, process)
            while _counted(port)["envace_workers"] < options.workers:
                time.sleep(0.1)
            yield process, port
        finally:
            process.terminate()
            process.wait(timeout=60)
            sys.stderr.write(log.read_text()[:8000])


def _announced_port(log: Path, process: subprocess.Popen[bytes]) -> int:
    while process.poll() is None:
        if found := re.search(r"at http://127.0.0.1:(\d+)/", log.read_text()):
            return int(found[1])
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {log.read_text()}")


async def _load(
    process: subprocess.Popen[bytes], port: int, postgresql: PrivatePostgresql, options: argparse.Namespace
) -> list[Sent]:
    calls: list[Sent] = []
    start = time.perf_counter()
    deadline = start + options.seconds
    clients = [asyncio.create_task(_client(n, port, deadline, calls, options)) for n in range(options.in_flight)]
    await asyncio.sleep(options.seconds / 2)
    if options.kill:
        victim = random.Random(0).choice(_children(process.pid))
        os.kill(victim, signal.SIGKILL)
        print(f"killed worker {victim} at {time.perf_counter() - start:.1f} s", file=sys.stderr)
    if options.restart_postgres:
        await asyncio.to_thread(postgresql.stop, "immediate")
        await asyncio.sleep(1)
        await asyncio.to_thread(postgresql.start)
        print(f"PostgreSQL is back at {time.perf_counter() - start:.1f} s", file=sys.stderr)
    await asyncio.gather(*clients)
    return calls


async def _client(number: int, port: int, deadline: float, calls: list[Sent], options: argparse.Namespace) -> None:
    chance = random.Random(number)
    connection = Connection(port, "fleet")
    mix = _mix(chance, options.entities // len(fleet.COLLECTIONS), number)
    while time.perf_counter() < deadline:
        tool, arguments = next(mix)
        sent = Sent(f"w-{chance.randrange(options.worlds)}", tool, arguments, time.perf_counter())
        await connection.call(sent)
        sent.ended = time.perf_counter()
        calls.append(sent)
        if sent.result is None:
            await asyncio.sleep(0.05)
    connection.close()


def _mix(chance: random.Random, each: int, client: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """40 % reads, 25 % updates, 20 % creations, 10 % filtered lists, 5 % deletions; no two creations are alike."""
    for number in range(1_000_000_000):
        noun = chance.choice(fleet.COLLECTIONS)
        key = {f"{noun}_id": f"{noun[:2].upper()}-{chance.randrange(1, each + 1)}"}
        match chance.choices(("get", "update", "create", "list", "delete"), (40, 25, 20, 10, 5))[0]:
            case "get":
                yield f"get_{noun}", key
            case "update":
                yield f"update_{noun}", {**key, "amount": number, "title": f"by {client}, {number}"}
            case "create":
                yield f"create_{noun}", {"title": f"made by {client}, {number}", "owner": f"user-{client}"}
            case "delete":
                yield f"delete_{noun}", key
            case _:
                yield f"list_{noun}s", {"owner": f"user-{chance.randrange(fleet.OWNERS)}"}


def _failures(calls: list[Sent], options: argparse.Namespace) -> Iterator[str]:
    """Calls that should have been answered: all but those of a killed worker, or while the database was away."""
    for call in calls:
        if call.result is not None:
            if call.result["_meta"]["dev.envace/evidence"]["layer"] == "none":
                yield f"{call.tool} could not be rehearsed: {call.result['content']}"
        elif call.error is None and not options.kill:
            yield f"{call.tool}: the connection broke"
        elif call.error is not None and not options.restart_postgres:
            yield f"{call.tool}: {call.error}"


def _figures(calls: list[Sent], options: argparse.Namespace) -> dict[str, Any]:
    answered = sorted(call.ended - call.began for call in calls if call.result is not None)
    seconds = max(call.ended for call in calls) - min(call.began for call in calls)
    errors = collections.Counter(re.sub(r"'[^']*'|\d+", "…", call.error)[:120] for call in calls if call.error)
    return {
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}, loopback, the load beside the server",
        "busy": f"load average {os.getloadavg()[0]:.1f}",
        "workers": options.workers,
        "worlds": options.worlds,
        "in flight": options.in_flight,
        "seconds": round(seconds, 1),
        "answered": len(answered),
        "calls/s": round(len(answered) / seconds, 1),
        "p50, ms": round(answered[len(answered) // 2] * 1000, 1),
        "p99, ms": round(answered[len(answered) * 99 // 100] * 1000, 1),
        "longest, ms": round(answered[-1] * 1000, 1),
        "broken connections": sum(call.result is None and call.error is None for call in calls),
        "errors": dict(errors),
    }


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _processor(process: subprocess.Popen[bytes], postgresql: PrivatePostgresql) -> dict[str, float]:
    """Seconds of processor time that were used so far."""
    database = postgresql.pid
    return {
        "server": sum(_seconds(pid) for pid in (process.pid, *_children(process.pid))),
        "PostgreSQL": sum(_seconds(pid) for pid in (database, *_children(database))),
        "load": time.process_time(),
    }


def _seconds(pid: int) -> float:
    """Of a process, and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _resident(pid: int) -> int:
    """Bytes that a process alone has in memory: what it shares with the others is counted in parts."""
    found = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _counted(port: int) -> dict[str, float]:
    """What the server counted of itself, all workers together."""
    lines = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode().splitlines()
    names = ("envace_world", "envace_lock_waits", "envace_errors", "envace_worker", "envace_lock_wait_seconds_sum")
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line.startswith(names)}


def _size(store: Store) -> dict[str, Any]:
    with store._engine.connect() as connection:
        count = {
            table: connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()
            for table in ("worlds", "entities", "facts")
        }
        sizes = {
            table: connection.execute(text(f"SELECT pg_total_relation_size('{table}')")).scalar_one() for table in count
        }
    return {"rows": count, "bytes": sizes}


if __name__ == "__main__":
    main()
