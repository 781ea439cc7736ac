"""What recording costs: the relay before a server on stdio, against the server itself, call by call in the same run.

    python benchmarks/record.py

The server answers at once and needs no library, so that nothing hides the relay. Calls alternate between the two, so
that whatever else the machine does falls on both. Prints a Markdown table; exit code 1 when the bar is missed.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Self

SERVER = [sys.executable, str(Path(__file__).parents[1] / "tests" / "support" / "echo_frames.py")]
RECORD = [sys.executable, "-c", "from envace_sdk.cli.main import main; main()", "record"]
BAR_MS = 0.5
"""Most that the relay may add to a call, at the median, where an answer is of ordinary size."""


class Side:
    """A server that is called over pipes."""

    def __init__(self, words: list[str]) -> None:
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._number = 0
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "b", "version": "0"}}
        self.request("initialize", params)

    def request(self, method: str, params: dict[str, object]) -> float:
        """Seconds until the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._number += 1
        frame = json.dumps({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}).encode() + b"\n"
        begin = time.perf_counter()
        self._process.stdin.write(frame)
        self._process.stdin.flush()
        self._process.stdout.readline()
        return time.perf_counter() - begin

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def measure(calls: int, times: int, file: Path) -> tuple[list[float], list[float]]:
    """Seconds of each call, direct and through the relay; an answer has `times` times 50 bytes."""
    params: dict[str, object] = {"name": "echo", "arguments": {"text": "x" * 50, "times": times}}
    with Side(SERVER) as direct, Side([*RECORD, "-o", str(file), "--", *SERVER]) as relayed:
        for side in (direct, relayed):
            for _ in range(50):
                side.request("tools/call", params)
        seconds: tuple[list[float], list[float]] = ([], [])
        for _ in range(calls):
            for side, into in zip((direct, relayed), seconds, strict=True):
                into.append(side.request("tools/call", params))
    return seconds


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2_000)
    calls = parser.parse_args().calls
    print(f"{platform.machine()}, Python {platform.python_version()}, {calls} calls each\n")
    print("| answer | direct p50 | recorded p50 | added p50 | ratio p50 | added p99 |")
    print("|---|---|---|---|---|---|")
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        for times in (1, 40, 2_000):
            direct, relayed = measure(calls, times, Path(folder) / f"{times}.jsonl")
            middle, through = statistics.median(direct), statistics.median(relayed)
            tail = statistics.quantiles(relayed, n=100)[-1] - statistics.quantiles(direct, n=100)[-1]
            added = (through - middle) * 1e3
            kept = kept and (added < BAR_MS or times > 1_000)
            print(
                f"| {times * 50:,} bytes | {middle * 1e3:.3f} ms | {through * 1e3:.3f} ms | {added:.3f} ms "
                f"| {through / middle:.2f} | {tail * 1e3:.3f} ms |"
            )
    print(f"\nbar: under {BAR_MS} ms added at the median, up to 2,000 bytes: {'kept' if kept else 'missed'}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
