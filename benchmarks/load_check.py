"""Whether what a load's calls were answered is what one after the other would have been, and what is stored too."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from load_client import LABEL, Sent

from envace_sdk.json import UNSET
from envace_sdk.rehearse import Environment
from envace_sdk.store import Store
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.state import State

MOST_ORDERS = 5_000
"""Ways to place calls in doubt that are tried for one world."""


async def check(environment: Environment, store: Store, calls: Sequence[Sent]) -> tuple[list[str], int]:
    """What is wrong, and how many calls happened that were never acknowledged."""
    by_world: dict[str, list[Sent]] = defaultdict(list)
    for call in calls:
        by_world[call.world].append(call)
    wrong: list[str] = []
    unacknowledged = 0
    for world, sent in sorted(by_world.items()):
        stored = store.load(environment.toolset.name, world)
        wrong += [f"{world}: {what}" for what in _out_of_order(sent)]
        found, gaps = await _replayed(environment, world, sent, stored)
        wrong += [f"{world}: {what}" for what in found]
        unacknowledged += gaps
    return wrong, unacknowledged


def _out_of_order(calls: Sequence[Sent]) -> Iterator[str]:
    """Calls that were sent after the answer to another had come, and do not know of it."""
    answered = sorted((call for call in calls if call.result is not None), key=lambda call: call.ended)
    at, newest = 0, 0
    for call in sorted(answered, key=lambda call: call.began):
        while at < len(answered) and answered[at].ended < call.began:
            newest = max(newest, answered[at].version)
            at += 1
        if call.version < newest:
            yield f"{call.tool} was answered at version {call.version}, after version {newest} had been"


async def _replayed(
    environment: Environment, world: str, calls: Sequence[Sent], stored: State | None
) -> tuple[list[str], int]:
    """What differs when the calls are made one after the other, in the order of the versions they were answered at."""
    writes: dict[int, Sent] = {}
    reads: dict[int, list[Sent]] = defaultdict(list)
    for call in calls:
        if call.result is None:
            continue
        if not _changes(call):
            reads[call.version].append(call)
        elif (twin := writes.get(call.version)) is not None:
            return [f"{call.tool} and {twin.tool} both made version {call.version}"], 0
        else:
            writes[call.version] = call
    last = stored.version if stored is not None else 0
    lost = [version for version in writes if version > last]
    if lost:
        return [f"acknowledged changes are lost: stored is version {last}, acknowledged {max(lost)}"], 0
    gaps = [version for version in range(1, last + 1) if version not in writes]
    doubtful = [call for call in calls if call.in_doubt and not call.tool.startswith(("get_", "list_"))]
    differences = [f"versions {gaps} were made by no call that was sent"]
    for order in itertools.islice(itertools.permutations(doubtful, len(gaps)), MOST_ORDERS):
        placed = {**writes, **dict(zip(gaps, order, strict=True))}
        differences = await _differences(environment, world, placed, reads, last, stored)
        if not differences:
            break
    return differences, len(gaps)


def _changes(call: Sent) -> bool:
    """Whether an answered call changed its world: of those that may, the ones that did not fail."""
    assert call.result is not None
    return not call.tool.startswith(("get_", "list_")) and not call.result.get("isError")


async def _differences(
    environment: Environment,
    name: str,
    writes: dict[int, Sent],
    reads: dict[int, list[Sent]],
    last: int,
    stored: State | None,
) -> list[str]:
    world = environment.world(name)
    for version in range(last + 1):
        if version:
            wrong = await _made(environment, world, writes[version])
            if wrong or world.state.version != version:
                return [wrong or f"{writes[version].tool} does not make version {version}"]
        before = world.state
        for read in reads[version]:
            if wrong := await _made(environment, world, read):
                return [wrong]
            world.commit(before)
    there = json.dumps(stored.to_json()) if stored is not None else None
    replayed = json.dumps(world.state.to_json())
    if there != replayed and (there is not None or last):
        return [f"stored at version {last} is not what the calls lead to"]
    return []


async def _made(environment: Environment, world: Any, sent: Sent) -> str | None:
    """Make a call on the replayed world; what is wrong with the answer that it had."""
    result = (await environment.call(world, ToolCall(sent.tool, sent.arguments))).result
    if sent.result is None:
        return None
    value = None if result.structured is UNSET else result.structured
    same = (
        sent.result.get("structuredContent") == value
        and bool(sent.result.get("isError")) == result.is_error
        and sent.result["_meta"][LABEL]["version"] == world.state.version
    )
    if same:
        return None
    says, would = (json.dumps(answer)[:300] for answer in (sent.result, value))
    return f"{sent.tool} {sent.arguments} was answered {says}, not {would}"
