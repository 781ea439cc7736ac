"""Two servers that keep the same worlds in one database."""

import asyncio

import pytest
from envace_sdk.mcp_servers.control import Control

from envace_sdk.errors import StaleWorldError, StoreError
from envace_sdk.rehearse import Worlds
from envace_sdk.store import Store
from envace_sdk.tools.model import ToolCall

pytestmark = pytest.mark.anyio


@pytest.fixture
def stores(tmp_path):
    url = f"sqlite:///{tmp_path / 'worlds.db'}"
    with Store.open(url) as one, Store.open(url) as other:
        yield one, other


@pytest.fixture
def pair(worlds, stores):
    """The worlds of two servers, which both hold the default world."""
    servers = [Worlds(worlds.environment, store=store) for store in stores]
    for server in servers:
        server.get()
    return servers


async def _add(worlds, title, world="default"):
    return (await worlds.call(world, ToolCall("add_item", {"title": title}))).result.value()["item_id"]


def _titles(worlds, world="default"):
    return [item["title"] for item in worlds.get(world).state.collection("items").values()]


def _stored(worlds, store):
    return _titles(Worlds(worlds.environment, store=store))


async def _asked(worlds, store, do, **arguments):
    control = Control({"todo": worlds}, transport="test", store=store)
    return await control.answer({"do": do, "world": "default", **arguments})


async def test_a_call_on_a_world_that_another_server_changed_is_made_on_what_is_stored(pair):
    one, other = pair
    assert await _add(one, "Milk") == "I-1"
    assert await _add(other, "Bread") == "I-2"
    assert await _add(one, "Eggs") == "I-3"
    assert _titles(one) == ["Milk", "Bread", "Eggs"]


async def test_calls_at_once_on_two_servers_are_all_kept(pair, stores):
    titles = [f"item {n}" for n in range(12)]

    async def persistently(worlds, title):
        while True:
            try:
                return await _add(worlds, title)
            except StaleWorldError:
                continue

    keys = await asyncio.gather(*(persistently(pair[n % 2], title) for n, title in enumerate(titles)))
    assert len(set(keys)) == len(titles)
    assert sorted(_stored(pair[0], stores[0])) == sorted(titles)


async def test_a_world_that_another_server_keeps_changing_is_given_up_and_left_as_it_was(pair, stores, monkeypatch):
    one, other = pair
    await _add(one, "Milk")
    save = one.save
    others = iter(range(10))

    async def too_late(world):
        await _add(other, f"other {next(others)}")
        await save(world)

    monkeypatch.setattr(one, "save", too_late)
    with pytest.raises(StaleWorldError, match="somebody else twice"):
        await _add(one, "Bread")
    assert "Bread" not in _titles(one)
    assert not (await _asked(one, None, "reset"))["ok"]
    monkeypatch.undo()
    await _add(one, "Eggs")
    assert _stored(one, stores[0]) == ["Milk", "other 0", "other 1", "other 2", "other 3", "Eggs"]


async def test_a_world_that_another_server_deleted_is_stored_anew(pair, stores):
    one, other = pair
    await _add(one, "Milk")
    other.drop("default")
    await _add(one, "Bread")
    assert _stored(one, stores[1]) == ["Milk", "Bread"]


@pytest.mark.parametrize("touched", [False, True])
async def test_reset_and_restore_win_over_what_another_server_did(pair, stores, touched):
    one, other = pair
    if touched:
        await _add(one, "Milk")
    assert (await _asked(one, stores[0], "snapshot", name="early"))["ok"]
    await _add(other, "Bread")
    assert (await _asked(one, stores[0], "reset"))["ok"]
    assert _stored(one, stores[1]) == []
    await _add(other, "Eggs")
    assert (await _asked(one, stores[0], "restore", name="early"))["ok"]
    assert _stored(one, stores[1]) == (["Milk"] if touched else [])


async def test_faults_are_switched_on_a_world_that_another_server_changed(pair, stores):
    one, other = pair
    await _add(other, "Milk")
    assert (await _asked(one, stores[0], "faults", plan="read-only"))["ok"]
    assert _titles(one) == ["Milk"]


@pytest.mark.parametrize("do", ["reset", "restore"])
async def test_a_change_by_control_that_cannot_be_saved_has_not_happened(pair, stores, monkeypatch, do):
    one = pair[0]
    assert (await _asked(one, stores[0], "snapshot", name="empty"))["ok"]
    await _add(one, "Milk")

    def refuse(toolset, world):
        raise StoreError("the disk is full")

    monkeypatch.setattr(stores[0], "save", refuse)
    answer = await _asked(one, stores[0], do, name="empty")
    assert answer == {"ok": False, "error": "the disk is full"}
    assert _titles(one) == ["Milk"]


async def test_a_fork_that_cannot_be_saved_is_not_there(pair, stores, monkeypatch):
    one, other = pair
    await _add(other, "Milk", world="taken")
    answer = await _asked(one, stores[0], "fork", to="taken")
    assert "stored already" in answer["error"]
    assert _titles(one, "taken") == ["Milk"]
    monkeypatch.setattr(stores[0], "save", lambda *_: (_ for _ in ()).throw(StoreError("the disk is full")))
    assert (await _asked(one, stores[0], "fork", to="free"))["error"] == "the disk is full"
    assert "free" not in one
