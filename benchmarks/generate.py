"""How valid and how fast generated instances are: `python benchmarks/generate.py`.

Seven schemas that together use what tool schemas use, fifty seeds each, judged by jsonschema-rs and by the `jsonschema`
package, formats included. The time is that of one `generate` call, the schema given as plain JSON, once it is warm.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs
from rich.console import Console
from rich.table import Table

from envace_sdk.jsonschema import generate

SCHEMAS = Path(__file__).parents[1] / "tests" / "jsonschema" / "seven_schemas.json"
CLOCK = datetime(2026, 1, 1, 9, tzinfo=UTC)
IMPORTS = ("jsonschema_rs", "envace_sdk.jsonschema", "envace_sdk.jsonschema.generator", "mimesis")


def judges(schema: Any) -> tuple[Callable[[Any], bool], Callable[[Any], bool]]:
    client = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    fast = jsonschema_rs.validator_for(schema, validate_formats=True)
    return fast.is_valid, client(schema, format_checker=client.FORMAT_CHECKER).is_valid


def measure(schema: Any, seeds: int) -> tuple[int, int, list[float], int]:
    """Valid by the first judge and by the second, seconds per instance, and how many came out the same twice."""
    fast, client = judges(schema)
    values = [generate(schema, random=Random(seed), clock=CLOCK) for seed in range(seeds)]
    again, times = [], []
    for seed in range(seeds):
        start = time.perf_counter()
        again.append(generate(schema, random=Random(seed), clock=CLOCK))
        times.append(time.perf_counter() - start)
    same = sum(json.dumps(one) == json.dumps(other) for one, other in zip(values, again, strict=True))
    return sum(map(fast, values)), sum(map(client, values)), times, same


def import_seconds(module: str) -> float:
    """The least of five: importing, less starting Python."""

    def run(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    return min(run(f"import {module}") for _ in range(5)) - min(run("pass") for _ in range(5))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=50)
    seeds = parser.parse_args().seeds
    table = Table("schema", "valid (rs)", "valid (jsonschema)", "same again", "median ms", "p95 ms")
    valid, times = 0, []
    for name, schema in json.loads(SCHEMAS.read_text(encoding="utf-8")).items():
        fast, client, took, same = measure(schema, seeds)
        valid += min(fast, client, same)
        times += took
        slow = sorted(took)[int(len(took) * 0.95)]
        table.add_row(
            name, str(fast), str(client), str(same), f"{statistics.median(took) * 1e3:.2f}", f"{slow * 1e3:.2f}"
        )
    table.add_section()
    table.add_row("all", f"{valid} of {7 * seeds}", "", "", f"{statistics.median(times) * 1e3:.2f}", "")
    console = Console(width=110)
    console.print(table)
    imports = Table("import", "ms more than Python itself")
    for module in IMPORTS:
        imports.add_row(module, f"{import_seconds(module) * 1e3:.0f}")
    console.print(imports)
    return 0 if valid == 7 * seeds else 1


if __name__ == "__main__":
    sys.exit(main())
