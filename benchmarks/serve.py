"""What rehearsing costs: the server against a bare `mcp` echo server, call by call in the same run.

    python benchmarks/serve.py

The echo answers an equal payload under the same 100 tool schemas. Calls alternate between the two, so that whatever
else the machine does falls on both. Prints a Markdown table; exit code 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import os
import platform
import re
import socket
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fleet
from echo_server import build
from envace_sdk.mcp_servers.server import RehearsedServer
from mcp import Client, StdioServerParameters

from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.tools.model import ToolCall

ECHO = Path(__file__).with_name("echo_server.py")
SERVE = [sys.executable, "-c", "from envace_sdk.cli.main import main; main()", "serve"]
BARS = {50: 1.5, 99: 2.0}
ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25"}


@dataclass
class Row:
    """Microseconds per call, of both servers, over one transport in one era."""

    transport: str
    era: str
    rehearsed: list[float]
    echo: list[float]

    def ratio(self, percent: int) -> float:
        """How many times as long the rehearsed call took, at this percentile."""
        return _percentile(self.rehearsed, percent) / _percentile(self.echo, percent)

    @property
    def keeps_bars(self) -> bool:
        """In memory there is no bar: there the echo does next to nothing."""
        return self.transport == "in-memory" or all(self.ratio(percent) <= bar for percent, bar in BARS.items())


def _percentile(times: list[float], percent: int) -> float:
    return sorted(times)[len(times) * percent // 100]


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000, help="calls to each server, per transport and era")
    parser.add_argument("--entities", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "fleet"
        fleet.write(folder, options.entities)
        one, forks = _memory(folder)
        rows = asyncio.run(_measure(folder, options.calls, options.entities))
        starts = asyncio.run(_start_up(folder.parent))
    _report(rows, one, forks, options)
    print(f"start to first tool list, stdio, empty world: {starts[0]:.2f} s, echo {starts[1]:.2f} s")
    sys.exit(0 if all(row.keeps_bars for row in rows) and forks < 2 * one else 1)


async def _measure(folder: Path, count: int, entities: int) -> list[Row]:
    environment = Environment.load(folder)
    gc.freeze()  # as `envace-sdk serve` does
    payloads = await _payloads(environment, folder.parent / "payloads.json")
    per_collection = entities // len(fleet.COLLECTIONS)
    rows = []
    for mode, era in ERAS.items():
        for transport in ("in-memory", "stdio", "http"):
            calls = list(fleet.calls(count, per_collection))
            async with contextlib.AsyncExitStack() as running:
                targets = await running.enter_async_context(_targets(transport, environment, folder, payloads))
                clients = [await running.enter_async_context(Client(target, mode=mode)) for target in targets]
                rehearsed, echo = await _alternate(clients, calls)
            rows.append(Row(transport, era, rehearsed, echo))
            print(f"{transport} {era}: done", file=sys.stderr)
    return rows


async def _start_up(folder: Path) -> list[float]:
    """Seconds from starting a stdio server to its first tool list, of both: the median of seven."""
    empty = folder / "empty"
    fleet.write(empty, 0)
    async with _targets("stdio", None, empty, folder / "payloads.json") as targets:
        times: list[list[float]] = [[], []]
        for _ in range(7):
            for turn, target in enumerate(targets):
                begin = time.perf_counter()
                async with Client(target) as client:
                    await client.list_tools()
                    times[turn].append(time.perf_counter() - begin)
    return [sorted(taken)[3] for taken in times]


async def _payloads(environment: Environment, path: Path) -> Path:
    """A rehearsed answer of each tool, for the echo to give."""
    world, wires = environment.world(), {}
    for tool, arguments in fleet.each_tool():
        result = (await environment.call(world, ToolCall(tool, arguments))).result
        wires[tool] = {"structuredContent": result.structured, "_meta": dict(result.meta)}
    path.write_text(json.dumps(wires))  # noqa: ASYNC240  nothing else runs yet
    return path


@contextlib.asynccontextmanager
async def _targets(
    transport: str, environment: Environment | None, folder: Path, payloads: Path
) -> AsyncIterator[list[Any]]:
    """What a client connects to: the rehearsed server, then the echo."""
    words = [str(ECHO), str(folder / "tools.json"), str(payloads)]
    if environment is not None and transport == "in-memory":
        yield [RehearsedServer(Worlds(environment)), build(folder / "tools.json", payloads)]
    elif transport == "stdio":
        served = [*SERVE, "--tools", str(folder)]
        yield [
            StdioServerParameters(command=served[0], args=served[1:], env=dict(os.environ)),
            StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ)),
        ]
    else:
        port = _free_port()
        with contextlib.ExitStack() as running:
            rehearsed = running.enter_context(_started([*SERVE, "--tools", str(folder), "--http", "127.0.0.1:0"]))
            echo = running.enter_context(_started([sys.executable, *words, str(port)]))
            base = await asyncio.to_thread(_announced_url, rehearsed)
            await asyncio.to_thread(_wait_for, port, echo)
            yield [f"{base}/fleet/mcp", f"http://127.0.0.1:{port}/mcp"]


async def _alternate(clients: list[Any], calls: list[tuple[str, dict[str, Any]]]) -> tuple[list[float], list[float]]:
    times: tuple[list[float], list[float]] = ([], [])
    for client in clients:
        await client.list_tools()
        for tool, arguments in fleet.each_tool():  # rules and indexes are compiled and built when first needed
            await client.call_tool(tool, arguments)
    for number, (tool, arguments) in enumerate(calls):
        for turn in (0, 1) if number % 2 else (1, 0):
            begin = time.perf_counter()
            result = await clients[turn].call_tool(tool, arguments)
            times[turn].append((time.perf_counter() - begin) * 1e6)
            assert not result.is_error, result
    return times


@contextlib.contextmanager
def _started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.terminate()


def _announced_url(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"at (http://[^/]+)/", line):
            return found[1]
    raise RuntimeError("the server did not start")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[str]) -> None:
    while process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError("the echo server did not start")


def _memory(folder: Path) -> tuple[int, int]:
    """Bytes of one world, and of 1,000 forks of it with a write in each."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    environment = Environment.load(folder)
    world = environment.world()
    for noun in fleet.COLLECTIONS:  # builds the indexes that filtered lists use
        asyncio.run(environment.call(world, ToolCall(f"list_{noun}s", {"owner": "user-1"})))
    gc.collect()
    one = tracemalloc.get_traced_memory()[0] - before
    forks = [world.fork(f"fork-{number}") for number in range(1000)]

    async def write() -> None:
        for number, fork in enumerate(forks):
            await environment.call(fork, ToolCall("update_order", {"order_id": f"OR-{number + 1}", "amount": number}))

    asyncio.run(write())
    gc.collect()
    more = tracemalloc.get_traced_memory()[0] - before - one
    tracemalloc.stop()
    return one, more


def _report(rows: list[Row], one: int, forks: int, options: argparse.Namespace) -> None:
    print(f"{options.calls} calls each, {options.entities:,} entities, 100 tools; Python {platform.python_version()}\n")
    print("| transport | protocol | rehearsed p50 | echo p50 | ratio | rehearsed p99 | echo p99 | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        cells = [row.transport, row.era]
        for percent in BARS:
            cells += [f"{_percentile(times, percent) / 1000:.2f} ms" for times in (row.rehearsed, row.echo)]
            cells.append(f"{row.ratio(percent):.2f}")
        print(f"| {' | '.join(cells)} |")
    print(
        f"\n1,000 forks with a write in each: {forks / 1e6:.1f} MB more than the one world's {one / 1e6:.1f} MB", end=""
    )
    print(f", {(one + forks) / one:.2f} times in all")


if __name__ == "__main__":
    main()
