"""What a stored world costs: rows and bytes in PostgreSQL, bytes in the memory of a worker, processor time to fetch it.

    python benchmarks/stored_worlds.py

The worlds are those of the load benchmark, each with some calls made on it, updates and creations in turns. Prints a
Markdown table.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import fleet
from sqlalchemy import text

from envace_sdk.rehearse import Environment
from envace_sdk.rehearse.shared import SharedWorlds
from envace_sdk.store.turns import Turns
from envace_sdk.tools.model import ToolCall

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from private_postgresql import private_postgresql

TABLES = ("worlds", "entities", "facts", "bases")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=2_000)
    parser.add_argument("--entities", type=int, default=200, help="that each world begins with")
    parser.add_argument("--changes", type=int, nargs="+", default=[1, 10, 50], help="calls that change each world")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "fleet"
        fleet.write(folder, options.entities)
        environment = Environment.load(folder)
    print(f"{options.worlds:,} worlds, each of which begins with {options.entities} entities\n")
    print("| changes to each | rows of each | bytes in PostgreSQL | bytes in memory | processor time to fetch it |")
    print("|---|---|---|---|---|")
    for changes in options.changes:
        with private_postgresql(durable=False) as postgresql:
            if postgresql is None:
                sys.exit("no initdb found: install PostgreSQL (apt-get install -y postgresql)")
            with Turns(postgresql.url, connections=4) as turns:
                turns.prepare(migrate=True)
                print(asyncio.run(_row(environment, turns, options.worlds, changes)))


async def _row(environment: Environment, turns: Turns, worlds: int, changes: int) -> str:
    states = await _some(environment, changes)
    for number in range(worlds):
        turn = turns.take("fleet", f"w-{number}")
        turn.keep(states[number % len(states)], turns.base(environment.start))
    rows, size = _stored(turns)
    holder = SharedWorlds(environment, turns, held=worlds)
    try:
        await holder.peek("w-0")
        gc.collect()
        tracemalloc.start()
        for number in range(1, worlds // 4):
            await holder.peek(f"w-{number}")
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] / (worlds // 4 - 1)
        tracemalloc.stop()
        began = time.process_time()
        for number in range(worlds // 4, worlds // 2):
            await holder.peek(f"w-{number}")
        fetched = (time.process_time() - began) * 1000 / (worlds // 2 - worlds // 4)
    finally:
        holder.close()
    return f"| {changes} | {rows / worlds:.1f} | {size / worlds:,.0f} | {held:,.0f} | {fetched:.1f} ms |"


async def _some(environment: Environment, changes: int) -> list[Any]:
    """States after so many calls."""
    made = []
    for variant in range(4):
        world = environment.world(f"w-{variant}")
        while (number := world.state.version) < changes:
            noun = fleet.COLLECTIONS[(number + variant) % len(fleet.COLLECTIONS)]
            if number % 2:
                key = f"{noun[:2].upper()}-{1 + number % 9}"
                call = ToolCall(f"update_{noun}", {f"{noun}_id": key, "amount": number, "title": f"changed {number}"})
            else:
                call = ToolCall(f"create_{noun}", {"title": f"made {number}", "owner": f"user-{variant}"})
            await environment.call(world, call)
        made.append(world.state)
    return made


def _stored(turns: Turns) -> tuple[int, int]:
    with turns._engine.connect() as connection:
        rows = sum(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one() for table in TABLES)
        size = sum(
            connection.execute(text(f"SELECT pg_total_relation_size('{table}')")).scalar_one() for table in TABLES
        )
    return rows, size


if __name__ == "__main__":
    main()
