"""Worlds that several processes serve from one database; here several holders in one process, which is no different."""

import asyncio
import json

import pytest

from envace_sdk.errors import BusyWorldError, FaultError, OverdueCallError, StoreError, UnknownToolError, WorldError
from envace_sdk.faults import fault_plan
from envace_sdk.rehearse import Environment
from envace_sdk.rehearse.shared import SharedWorlds
from envace_sdk.store.turns import Turns
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics

pytestmark = pytest.mark.anyio

TEXT = {"type": "string"}
DYNAMICS = """
collections:
  items: {key: item_id, noun: item, mint: "I-{n}"}
tools:
  add_item: {effect: create, collection: items, take: [title]}
  get_item: {effect: read, collection: items, key: args.item_id}
"""


class Heard:
    """A watcher that keeps what it hears."""

    def __init__(self):
        self.waits, self.reloads, self.evictions, self.held = [], 0, 0, 0

    def waited(self, toolset, seconds):
        self.waits.append(seconds)

    def reloaded(self, toolset):
        self.reloads += 1

    def evicted(self, toolset):
        self.evictions += 1

    def holds(self, toolset, worlds):
        self.held = worlds


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
def environment():
    tools = [
        {"name": "add_item", "inputSchema": {"type": "object", "properties": {"title": TEXT}, "required": ["title"]}},
        {"name": "get_item", "inputSchema": {"type": "object", "properties": {"item_id": TEXT}}},
    ]
    return Environment(Toolset.from_definitions(tools, name="todo"), dynamics=Dynamics.parse(DYNAMICS))


@pytest.fixture
def holders(environment, postgresql_database):
    """Makes holders of the same worlds, as two servers would be."""
    url = postgresql_database("migrated")
    opened = []

    def make(**options):
        turns = Turns(url, connections=options.pop("connections", 4), wait=options.pop("wait", 5), patience=0.5)
        worlds = SharedWorlds(environment, turns, **options)
        opened.append((worlds, turns))
        return worlds

    yield make
    for worlds, turns in opened:
        worlds.close()
        turns.close()


async def _add(worlds, title, world="default"):
    return (await worlds.call(world, ToolCall("add_item", {"title": title}))).result.value()["item_id"]


async def _titles(worlds, world="default"):
    state = (await worlds.peek(world)).state
    return [item["title"] for item in state.collection("items").values()]


async def test_each_call_is_made_on_what_the_others_saved(holders):
    heard = Heard()
    one, other = holders(watcher=heard), holders()
    assert await _add(one, "Milk") == "I-1"
    assert await _add(other, "Bread") == "I-2"
    found = await one.call("default", ToolCall("get_item", {"item_id": "I-2"}))
    assert found.result.value()["title"] == "Bread"
    assert heard.reloads == 1
    assert await _add(one, "Eggs") == "I-3"
    assert heard.reloads == 1, "what it saved itself it need not read"


async def test_calls_at_once_are_all_kept_and_none_made_twice(holders):
    heard = Heard()
    pair = holders(watcher=heard, connections=2), holders(connections=2)
    made = await asyncio.gather(*(_add(pair[n % 2], f"item {n}", f"w{n % 3}") for n in range(60)))
    assert len(made) == 60
    for world in ("w0", "w1", "w2"):
        assert sorted(await _titles(pair[0], world)) == sorted(f"item {n}" for n in range(60) if f"w{n % 3}" == world)
        assert (await pair[1].peek(world)).state.version == 20
    assert heard.waits
    assert all(seconds > 0 for seconds in heard.waits)


async def test_the_world_used_longest_ago_makes_room(holders):
    heard = Heard()
    worlds = holders(held=2, watcher=heard)
    for world in ("a", "b", "a", "c"):
        await _add(worlds, "Milk", world)
    assert [world.name for world in worlds] == ["a", "c"]
    assert (heard.evictions, heard.held, len(worlds)) == (1, 2, 2)
    assert await _titles(worlds, "b") == ["Milk"]


async def test_a_world_that_is_in_use_is_not_put_out(holders):
    worlds = holders(held=1)
    await asyncio.gather(*(_add(worlds, f"item {n}", f"w{n}") for n in range(4)))
    assert len(worlds) == 1
    for n in range(4):
        assert await _titles(worlds, f"w{n}") == [f"item {n}"]


async def test_a_world_that_was_only_read_is_not_stored(holders):
    one, other = holders(), holders()
    await one.call("w", ToolCall("get_item", {"item_id": "I-1"}))
    assert await other.find("w") is None
    assert "w" not in other
    assert (await one.find("w")).state.version == 0


async def test_an_unknown_tool_makes_no_world(holders):
    worlds = holders()
    with pytest.raises(UnknownToolError):
        await worlds.call("w", ToolCall("nothing"))
    assert "w" not in worlds


async def test_a_call_that_is_cancelled_has_happened_wholly_or_not_at_all(holders):
    one, other = holders(), holders()
    for n in range(30):
        task = asyncio.create_task(_add(one, f"item {n}"))
        await asyncio.sleep(0.0004 * n)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    titles = await _titles(other)
    assert titles == await _titles(one)
    assert len(set(titles)) == len(titles) == (await other.peek()).state.version
    assert await _add(one, "last") == f"I-{len(titles) + 1}"


async def test_a_call_that_waits_longer_than_calls_may_has_not_happened(holders):
    one, other = holders(call_seconds=0.2, wait=0.4), holders()
    turn = other._turns.take("todo", "default")
    with pytest.raises(
        OverdueCallError, match=r"add_item took longer than 0.2 s: nothing has happened.*--call-timeout"
    ):
        await _add(one, "Milk")
    turn.end()
    assert await _titles(one) == []


async def test_a_world_that_others_use_too_long_is_an_error(holders):
    one, other = holders(wait=0.1), holders()
    turn = other._turns.take("todo", "default")
    with pytest.raises(BusyWorldError):
        await _add(one, "Milk")
    turn.end()
    assert await _add(one, "Milk") == "I-1"


async def test_a_save_that_fails_leaves_the_world_as_it_was(holders, monkeypatch):
    worlds = holders()
    await _add(worlds, "Milk")
    with monkeypatch.context() as patched:
        patched.setattr("envace_sdk.store.turns.rows.write", lambda *_: (_ for _ in ()).throw(StoreError("full")))
        with pytest.raises(StoreError, match="full"):
            await _add(worlds, "Bread")
    assert await _titles(worlds) == ["Milk"]
    assert await _add(worlds, "Eggs") == "I-2"


async def test_change_and_fork_are_seen_by_the_others(holders):
    one, other = holders(), holders()
    await _add(one, "Milk")
    fork = await other.forked("default", "what-if")
    assert fork.name == "what-if"
    await _add(one, "Bread", "what-if")
    world = await other.find("default")
    await other.change(world, lambda _: world.origin)
    assert await _titles(one) == []
    assert await _titles(one, "what-if") == ["Milk", "Bread"]
    with pytest.raises(WorldError, match="stored already"):
        await one.forked("default", "what-if")
    assert await _titles(other, "what-if") == ["Milk", "Bread"]


async def test_a_removed_world_begins_anew_everywhere(holders):
    one, other = holders(), holders()
    await _add(one, "Milk")
    await _add(other, "Bread")
    assert await other.remove("default")
    assert not await other.remove("default")
    assert await _add(one, "Eggs") == "I-1"


async def test_faults_of_one_world_cannot_be_switched(holders):
    with pytest.raises(FaultError, match="several processes serve it"):
        await holders().switch_faults("default", fault_plan("flaky"))


async def test_the_same_calls_lead_to_the_same_bytes_as_without_a_database(holders, environment):
    one, other = holders(seed=7), holders(seed=7)
    alone = environment.world("w", seed=7)
    for n in range(6):
        call = ToolCall("add_item", {"title": f"item {n}"})
        shared = await (one, other)[n % 2].call("w", call)
        assert shared.result == (await environment.call(alone, call)).result
    assert json.dumps((await one.peek("w")).state.to_json()) == json.dumps(alone.state.to_json())
