"""How long answers after precedents take: to learn from the recordings, and then for each call.

    python benchmarks/precedents.py [CALLS] [TOOLS]

Exits with 1 when a typical call takes more than 2 ms of processor time, once its tool is known.
"""

import asyncio
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.world import World

NOUNS = ("order", "user", "item", "note", "team", "task", "file", "bill", "room", "desk", "ship", "page")
VERBS = ("create", "get", "update", "delete", "list")
NAMES = ("alpha", "beta", "gamma", "delta")
SESSION = 50
ASKED = 400
MOST_MS = 2.0


def main() -> None:
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    tools = [f"{verb}_{noun}" for noun in NOUNS for verb in VERBS][: int(sys.argv[2]) if len(sys.argv) > 2 else 50]
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), tools, calls)
        begun = time.process_time()
        environment = Environment.load(folder)
        print(f"{calls} calls of {len(tools)} tools: loaded in {time.process_time() - begun:.2f} s")
    world = environment.world()
    print(f"first answer, with what is learned for it: {asyncio.run(ask(environment, world, tools, 1, 0))[0]:.0f} ms")
    first = asyncio.run(ask(environment, world, tools, ASKED, 1))
    print(f"first answers of all tools, together: {sum(first):.0f} ms")
    times = asyncio.run(ask(environment, world, tools, ASKED, 2))
    p50, p99 = times[ASKED // 2], times[ASKED * 99 // 100]
    print(f"an answer: p50 {p50:.2f} ms, p99 {p99:.2f} ms; {peak():.0f} MB")
    sys.exit(p50 > MOST_MS)


def write(folder: Path, tools: list[str], calls: int) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}}
    catalogue = [{"name": name, "inputSchema": schema} for name in tools]
    rules = {name: {"effect": "opaque"} for name in tools}
    (folder / "tools.json").write_text(json.dumps({"tools": catalogue}))
    (folder / "dynamics.yaml").write_text(json.dumps({"tools": rules}))
    with (folder / "recordings.jsonl").open("w") as file:
        file.writelines(json.dumps(line) + "\n" for line in recorded(tools, calls))


def recorded(tools: list[str], calls: int) -> Iterator[Mapping[str, Any]]:
    chance = random.Random(1)
    held: dict[str, dict[str, Any]] = {}
    for number in range(calls):
        if number % SESSION == 0:
            held = {}
        tool = chance.choice(tools)
        verb, noun = tool.split("_")
        arguments, result = answered(verb, noun, held, chance)
        yield {
            "episode": f"session {number // SESSION}",
            "tool": tool,
            "arguments": arguments,
            "result": f"no {noun} {arguments['id']}" if result is None else result,
            "is_error": result is None,
        }


def answered(verb: str, noun: str, held: dict[str, dict[str, Any]], chance: random.Random) -> tuple[Any, Any]:
    mine = [key for key in held if key.startswith(noun)]
    if verb == "list":
        return {}, {"found": [held[key] for key in mine], "count": len(mine)}
    made = f"{noun}-{chance.randrange(16**6):06x}"
    name = f"{chance.choice(NAMES)}{chance.randrange(50)}"
    if verb == "create":
        held[made] = {"id": made, "name": name, "status": "new"}
        return {"name": name}, held[made]
    key = chance.choice(mine) if mine and chance.random() < 0.8 else made
    if key not in held:
        return {"id": key}, None
    if verb == "update":
        held[key] = {**held[key], "name": name}
        return {"id": key, "name": name}, held[key]
    return {"id": key}, held.pop(key) if verb == "delete" else held[key]


async def ask(environment: Environment, world: World, tools: list[str], calls: int, seed: int) -> list[float]:
    chance = random.Random(seed)
    held: dict[str, dict[str, Any]] = {}
    times = []
    for _ in range(calls):
        tool = chance.choice(tools)
        arguments, _ = answered(*tool.split("_"), held, chance)
        begun = time.process_time()
        await environment.call(world, ToolCall(tool, arguments))
        times.append(1000 * (time.process_time() - begun))
    return sorted(times)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
