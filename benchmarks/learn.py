"""How long learning takes, and how it grows: `python benchmarks/learn.py`.

An invented environment of fifty tools is played by a caller until there are 1,000, 10,000 and 100,000 recorded calls.
Each recording is learned from by a process of its own, which may start a second one. The time and the peak memory of
both count; reading the file is told apart. What was learned is then asked fresh calls beside the original, so that
fast is not the same as careless.

Growth is told as the exponent between two sizes, by processor time, which other work on the machine does not stretch:
1 is linear, and n log n is what is allowed.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from envace_sdk.tools.recordings import load_fixtures
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics

SUPPORT = Path(__file__).parents[1] / "tests" / "support"
SESSION = 20
"""Calls of one session."""
SECONDS, MEGABYTES, AT = 60.0, 1000.0, 10_000
"""What learning from so many calls may take."""
SLACK = 1.3
"""How far a measured time may be above what n log n makes of the smaller one: a machine is never quite idle."""


def child(folder: Path, processes: int) -> dict[str, Any]:
    """Learn from the recording in the folder, in so many processes from this one on; what it took."""
    from envace_sdk.world.mine import learn

    toolset = Toolset.load(folder / "tools.json")
    start = time.perf_counter()
    fixtures = load_fixtures(folder / "recorded.jsonl")
    read, worked = time.perf_counter(), _worked()
    learned = learn(toolset, fixtures, processes=processes)
    end, done = time.perf_counter(), _worked()
    (folder / "dynamics.yaml").write_text(learned.dynamics.dump(), encoding="utf-8")
    (folder / "world.json").write_text(json.dumps(learned.start, ensure_ascii=False), encoding="utf-8")
    peaks = sum(resource.getrusage(who).ru_maxrss for who in _BOTH)
    peak = peaks / (1e6 if sys.platform == "darwin" else 1e3)
    rules = [rule for rule in learned.dynamics.tools.values() if rule.effect != "opaque"]
    return {"read": read - start, "learn": end - read, "cpu": done - worked, "peak": peak, "rules": len(rules)}


_BOTH = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def _worked() -> float:
    """Processor time of this process and of those that it has waited for, in seconds."""
    times = [resource.getrusage(who) for who in _BOTH]
    return sum(one.ru_utime + one.ru_stime for one in times)


def measure(folder: Path, processes: int) -> dict[str, Any]:
    """The same in a fresh process."""
    command = [sys.executable, __file__, "--child", str(folder), "--processes", str(processes)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def allowed(before: tuple[int, float], calls: int) -> float:
    """The seconds that so many calls may take after a smaller measurement, were it n log n."""
    fewer, seconds = before
    return SLACK * seconds * (calls * math.log(calls)) / (fewer * math.log(fewer))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000], help="recorded calls")
    parser.add_argument("--tools", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2, choices=(1, 2))
    parser.add_argument("--keep", type=Path, help="a folder for the recordings and what was learned from them")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        print(json.dumps(child(arguments.child, arguments.processes)))
        return 0
    with tempfile.TemporaryDirectory() as scratch:
        return _report(arguments.keep or Path(scratch), arguments)


def _report(folder: Path, arguments: argparse.Namespace) -> int:
    sizes, tools = sorted(arguments.sizes), arguments.tools
    sys.path.insert(0, str(SUPPORT))
    from invented import invent, record, write_case

    environment = invent(arguments.seed, tools=tools)
    table = Table("calls", "read s", "learn s", "cpu s", "exponent", "peak MB", "rules", "status", "values", "right")
    before: tuple[int, float] | None = None
    failures: list[str] = []
    recorded = record(environment, episodes=-(-max(sizes) // SESSION), calls=SESSION)
    for calls in sizes:
        place = folder / str(calls)
        write_case(environment, place, recorded[:calls], ())
        took = measure(place, arguments.processes)
        print(f"{calls:,} calls: {took['learn']:.1f} s, {took['peak']:.0f} MB", file=sys.stderr)
        exponent = ""
        if before is not None:
            exponent = f"{math.log(took['cpu'] / before[1]) / math.log(calls / before[0]):.2f}"
            if took["cpu"] > allowed(before, calls):
                failures.append(f"from {before[0]:,} calls to {calls:,} it grows faster than n log n")
        if calls == AT and took["learn"] + took["read"] > SECONDS:
            failures.append(f"{calls:,} calls take over {SECONDS:.0f} s")
        if calls == AT and took["peak"] > MEGABYTES:
            failures.append(f"{calls:,} calls take over {MEGABYTES:.0f} MB")
        before = (calls, took["cpu"])
        agreed = _agreement(environment, place)
        table.add_row(
            f"{calls:,}",
            f"{took['read']:.2f}",
            f"{took['learn']:.2f}",
            f"{took['cpu']:.2f}",
            exponent,
            f"{took['peak']:.0f}",
            f"{took['rules']} of {tools}",
            *(f"{value:.3f}" for value in (agreed.status, agreed.values, agreed.right)),
        )
    Console(width=110).print(table)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


def _agreement(environment: Any, folder: Path) -> Any:
    from invented import compare, share

    from envace_sdk.rehearse import Environment
    from envace_sdk.world.state import State

    dynamics = Dynamics.load(folder / "dynamics.yaml")
    world = json.loads((folder / "world.json").read_text(encoding="utf-8"))
    start = State.start(dynamics=dynamics, collections=world, clock=environment.clock)
    learned = Environment(environment.toolset, dynamics=dynamics, start=start)
    return share(compare(environment, learned, episodes=30, calls=SESSION, first=1_000_000))


if __name__ == "__main__":
    sys.exit(main())
