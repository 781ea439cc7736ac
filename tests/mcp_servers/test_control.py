"""Control of worlds: its operations, the private socket, and the command line that speaks with it."""

import asyncio
import json
import os
import stat

import pytest
from envace_sdk.mcp_servers.control import Control
from envace_sdk.mcp_servers.control_client import HttpServer, SocketServer, running, with_world
from envace_sdk.mcp_servers.control_socket import open_socket
from envace_sdk.mcp_servers.runtime import runtime_folder
from served import control_server, http_server

from envace_sdk.errors import WorldError
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.store import Store
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.toolset import Toolset

pytestmark = pytest.mark.anyio


@pytest.fixture
def control(worlds):
    worlds.get()
    return Control({"todo": worlds}, transport="test")


async def _done(control, do, **arguments):
    answer = await control.answer({"do": do, **arguments})
    assert answer["ok"], answer
    json.dumps(answer)
    return answer["result"]


async def _failed(control, do, **arguments):
    answer = await control.answer({"do": do, **arguments})
    assert not answer["ok"]
    return answer["error"]


async def _add(worlds, title, world="default"):
    await worlds.call(world, ToolCall("add_item", {"title": title}))


async def test_worlds_are_listed_with_what_is_in_them(control, worlds):
    await _add(worlds, "Milk")
    listing = await _done(control, "list")
    assert listing["pid"] == os.getpid()
    (world,) = listing["worlds"]
    assert (world["toolset"], world["world"], world["version"]) == ("todo", "default", 1)
    assert world["entities"] == {"items": 1}
    assert world["clock"] == "2026-01-01T09:00:01Z"


async def test_documents_are_shown_by_page_and_by_key(control, worlds):
    for title in ("Milk", "Bread", "Eggs"):
        await _add(worlds, title)
    page = await _done(control, "show", world="default", collection="items", limit=1, offset=1)
    assert page["documents"] == [["I-2", {"title": "Bread", "done": False, "item_id": "I-2"}]]
    one = await _done(control, "show", world="default", collection="items", key="I-3")
    assert [key for key, _ in one["documents"]] == ["I-3"]


async def test_reset_leads_back_to_where_the_world_began(control, worlds):
    await _add(worlds, "Milk")
    assert (await _done(control, "reset", world="default"))["version"] == 0
    assert worlds.get().state is worlds.get().origin


async def test_a_fork_goes_its_own_way(control, worlds):
    await _add(worlds, "Milk")
    assert (await _done(control, "fork", world="default", to="other"))["world"] == "other"
    await _add(worlds, "Bread", world="other")
    assert len(worlds.get("default").state.collection("items")) == 1
    assert len(worlds.get("other").state.collection("items")) == 2
    assert "exists" in await _failed(control, "fork", world="default", to="other")


async def test_a_snapshot_can_be_gone_back_to_even_by_another_world(control, worlds):
    await _add(worlds, "Milk")
    assert (await _done(control, "snapshot", world="default", name="milk"))["snapshot"] == "milk"
    await _add(worlds, "Bread")
    await _done(control, "restore", world="default", name="milk")
    assert len(worlds.get().state.collection("items")) == 1
    worlds.get("other")
    await _done(control, "restore", world="other", name="milk")
    assert worlds.get("other").state == worlds.get().state


async def test_a_snapshot_without_a_name_of_its_own_is_named_after_its_world(control, worlds):
    worlds.get("w" * 100)
    taken = await _done(control, "snapshot", world="w" * 100)
    assert (await _done(control, "show", world="default"))["snapshots"] == [taken["snapshot"]]


async def test_a_state_that_was_taken_out_can_be_put_back(control, worlds):
    await _add(worlds, "Milk")
    state = (await _done(control, "snapshot", world="default", state=True))["state"]
    await _done(control, "reset", world="default")
    await _done(control, "restore", world="default", state=json.loads(json.dumps(state)))
    assert worlds.get().state.get("items", "I-1")["title"] == "Milk"
    assert "snapshot" in await _failed(control, "restore", world="default", state={"format": 1})


async def test_a_diff_tells_what_changed_since_the_start_a_snapshot_or_another_world(control, worlds):
    await _add(worlds, "Milk")
    await _done(control, "snapshot", world="default", name="milk")
    await worlds.call("default", ToolCall("finish_item", {"item_id": "I-1"}))
    (created,) = (await _done(control, "diff", world="default"))["changes"]
    assert (created["kind"], created["key"]) == ("created", "I-1")
    assert created["fields"]["title"] == {"after": "Milk"}
    (updated,) = (await _done(control, "diff", world="default", since="milk"))["changes"]
    assert updated["fields"] == {"done": {"before": False, "after": True}}
    worlds.get("other")
    (deleted,) = (await _done(control, "diff", world="other", other="default"))["changes"]
    assert deleted["kind"] == "deleted"


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        (7, "expected an object"),
        ({}, "list, show, reset"),
        ({"do": "explode"}, "list, show, reset"),
        ({"do": []}, "list, show, reset"),
        ({"do": "show"}, "`world` is missing"),
        ({"do": "show", "world": 3}, "`world` must be text"),
        ({"do": "show", "world": "nowhere"}, "there are: default"),
        ({"do": "show", "world": "default", "toolset": "x"}, "served: todo"),
        ({"do": "show", "world": "default", "collection": "x"}, "it has: items"),
        ({"do": "show", "world": "default", "collection": "items", "key": "x"}, "has no 'x'"),
        ({"do": "show", "world": "default", "collection": "items", "limit": -1}, "`limit`"),
        ({"do": "show", "world": "default", "collection": "items", "limit": True}, "`limit`"),
        ({"do": "fork", "world": "default"}, "`to` is missing"),
        ({"do": "fork", "world": "default", "to": "../x"}, "no world name"),
        ({"do": "restore", "world": "default"}, "`name` is missing"),
        ({"do": "restore", "world": "default", "name": "x"}, "no snapshot 'x'"),
        ({"do": "restore", "world": "default", "state": 3}, "JSON object"),
        ({"do": "diff", "world": "default", "since": "x"}, "no snapshot 'x'"),
        ({"do": "snapshot", "world": "default", "name": "a\nb"}, "no snapshot name"),
        ({"do": "snapshot", "world": "default", "name": "../up"}, "no snapshot name"),
        ({"do": "snapshot", "world": "default", "name": ""}, "no snapshot name"),
        ({"do": "snapshot", "world": "default", "name": "x" * 101}, "no snapshot name"),
        ({"do": "snapshot", "world": "default", "name": "\ud800"}, "not JSON"),
        ({"do": "show", "world": "default", "\ud800": 1}, "not JSON"),
        ({"do": "restore", "world": "default", "state": {"seed": float("nan")}}, "not JSON"),
        ({"do": "restore", "world": "default", "name": "../up"}, "no snapshot '../up'"),
        ({"do": "diff", "world": "default", "other": "x"}, "no world 'x'"),
    ],
)
async def test_a_wrong_request_is_told_what_is_wrong(control, worlds, request_, says):
    before = worlds.get().state
    answer = await control.answer(request_)
    assert answer["ok"] is False
    assert says in answer["error"]
    assert worlds.get().state is before


async def test_two_toolsets_with_a_world_of_one_name_are_told_apart(worlds):
    other = Worlds(Environment(Toolset.from_definitions([], name="other")))
    control = Control({"todo": worlds, "other": other}, transport="test")
    worlds.get()
    other.get()
    assert "say which (other, todo)" in await _failed(control, "show", world="default")
    assert (await _done(control, "show", world="default", toolset="other"))["toolset"] == "other"


async def test_an_operation_waits_for_the_call_that_is_running(control, worlds):
    world = worlds.get()
    await _add(worlds, "Milk")
    async with world.lock:
        resetting = asyncio.ensure_future(control.answer({"do": "reset", "world": "default"}))
        await asyncio.sleep(0)
        assert not resetting.done()
        assert world.state.version == 1
    assert (await resetting)["ok"]


async def test_snapshots_and_changes_by_control_outlive_the_process_in_a_store(worlds, tmp_path):
    url = f"sqlite:///{tmp_path / 'worlds.db'}"
    with Store.open(url) as store:
        kept = Worlds(worlds.environment, store=store)
        await _add(kept, "Milk")
        control = Control({"todo": kept}, transport="test", store=store)
        await _done(control, "snapshot", world="default", name="milk")
        await _done(control, "reset", world="default")
    with Store.open(url) as store:
        again = Worlds(worlds.environment, store=store)
        assert len(again.get().state.collection("items")) == 0
        control = Control({"todo": again}, transport="test", store=store)
        assert (await _done(control, "show", world="default"))["snapshots"] == ["milk"]
        await _done(control, "restore", world="default", name="milk")
        assert again.get().state.get("items", "I-1")["title"] == "Milk"


async def test_the_socket_is_private_and_gone_afterwards(control, runtime):
    async with open_socket(control) as path:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(runtime.stat().st_mode) == 0o700
    assert not path.exists()


async def test_a_folder_that_others_can_look_into_is_closed(control, runtime):
    runtime.chmod(0o755)
    async with open_socket(control) as path:
        assert path is not None
        assert stat.S_IMODE(runtime.stat().st_mode) == 0o700


async def test_a_folder_that_is_a_link_is_not_used(control, runtime, monkeypatch, tmp_path):
    (tmp_path / "link").symlink_to(runtime)
    monkeypatch.setenv("ENVACE_RUNTIME_DIR", str(tmp_path / "link"))
    with pytest.raises(WorldError, match="ENVACE_RUNTIME_DIR"):
        runtime_folder()


async def test_a_server_goes_on_without_a_socket_where_none_can_be_opened(control, monkeypatch, caplog, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ENVACE_RUNTIME_DIR", str(tmp_path / "file" / "x"))
    async with open_socket(control) as path:
        assert path is None
    assert "will not find this server" in caplog.text


async def test_a_socket_answers_line_by_line_and_survives_nonsense(control):
    async with open_socket(control) as path:
        reader, writer = await asyncio.open_unix_connection(path)
        for line in (b"nonsense\n", b"[1]\n", b'{"do": "list"}\n'):
            writer.write(line)
        answers = [json.loads(await reader.readline()) for _ in range(3)]
        assert [answer["ok"] for answer in answers] == [False, False, True]
        writer.close()
        await writer.wait_closed()


async def test_a_server_is_found_by_the_name_of_its_world(control, worlds):
    worlds.get("mine")
    async with open_socket(control) as path:
        found = await asyncio.to_thread(with_world, "mine")
        assert found == SocketServer(path)
        assert (await asyncio.to_thread(found.ask, "show", world="mine"))["world"] == "mine"
        with pytest.raises(WorldError, match="todo/default"):
            await asyncio.to_thread(with_world, "nowhere")


async def test_servers_with_a_world_of_one_name_are_told_apart(control):
    async with open_socket(control), open_socket(control):
        with pytest.raises(WorldError, match="--pid"):
            await asyncio.to_thread(with_world, "default")
    with pytest.raises(WorldError, match="none is running"):
        with_world("default")


async def test_sockets_that_nobody_listens_on_are_cleared_away(runtime):
    async def nobody(reader, writer):
        raise AssertionError

    path = runtime / "1-dead.sock"
    listener = await asyncio.start_unix_server(nobody, path)
    listener.close()
    await listener.wait_closed()
    if path.exists():
        assert running() == []
        assert not path.exists()


def _text(finished):
    assert finished.code == 0, finished.err
    return finished.out


async def test_the_command_line_works_on_a_running_server(worlds, cli, tmp_path):
    await _add(worlds, "Milk", world="mine")
    with control_server(worlds):
        assert "mine" in _text(cli("world", "list"))
        assert "items: 1" in _text(cli("world", "show", "mine"))
        assert '"Milk"' in _text(cli("world", "show", "mine", "--collection", "items"))
        assert "snapshot milk" in _text(cli("world", "snapshot", "mine", "milk", "--output", tmp_path / "state.json"))
        assert "+ items/I-1" in _text(cli("world", "diff", "mine"))
        assert _text(cli("world", "diff", "mine", "--since", "milk")) == ""
        assert "version 0" in _text(cli("world", "reset", "mine"))
        assert "version 1" in _text(cli("world", "restore", "mine", "milk"))
        assert "other" in _text(cli("world", "fork", "mine", "other"))
        assert "version 0" in _text(cli("world", "reset", "mine"))
        assert "version 1" in _text(cli("world", "restore", "mine", "--input", tmp_path / "state.json"))
        _text(cli("world", "reset", "mine"))
        assert "+ items/I-1" in _text(cli("world", "diff", "other", "mine"))
        rows = json.loads(_text(cli("world", "list", "--format", "json")))
        assert {row["world"] for row in rows} == {"mine", "other"}


async def test_the_command_line_shows_what_a_terminal_cannot(worlds, cli, tmp_path):
    world = worlds.get()
    world.commit(world.state.put("items", "I-1", {"title": "\ud800"}))
    with control_server(worlds):
        assert r"\ud800" in _text(cli("world", "show", "default", "--collection", "items"))
        assert r"\ud800" not in _text(cli("world", "snapshot", "default", "--output", tmp_path / "s.json"))
        assert r"\ud800" in (tmp_path / "s.json").read_text()
        failed = cli("world", "snapshot", "default", "--output", tmp_path / "none" / "s.json")
    assert (failed.code, "cannot be written" in failed.err) == (3, True)


@pytest.mark.parametrize(
    "words",
    [
        ("restore", "default"),
        ("restore", "default", "name", "--input", "pyproject.toml"),
        ("show", "default", "--key", "x"),
        ("diff", "default", "other", "--since", "x"),
        ("list", "--url", "http://127.0.0.1:1"),
    ],
)
def test_the_command_line_refuses_what_makes_no_sense(cli, words):
    assert cli("world", *words).code == 2


def test_the_command_line_names_what_there_is_when_a_world_is_not(worlds, cli):
    worlds.get("mine")
    with control_server(worlds):
        finished = cli("world", "reset", "yours")
    assert finished.code == 3
    assert "todo/mine" in finished.err


def test_the_command_line_says_when_nothing_runs(cli):
    finished = cli("world", "list")
    assert (finished.code, finished.out) == (0, "")
    assert "no server is running" in finished.err


def test_the_command_line_reaches_a_server_by_url(worlds, cli):
    worlds.get()
    with http_server(worlds, control_token="c0ntrol") as base:
        assert "default" in _text(cli("world", "list", "--url", base, "--token", "c0ntrol"))
        wrong = cli("world", "show", "default", "--url", base, "--token", "wrong")
        assert (wrong.code, "wrong token" in wrong.err) == (3, True)
        with pytest.raises(WorldError, match="no world 'x'"):
            HttpServer(base, "c0ntrol").ask("show", world="x")
    with http_server(worlds) as base, pytest.raises(WorldError, match="--control-token"):
        HttpServer(base, "c0ntrol").ask("list")
    with pytest.raises(WorldError, match="cannot be reached"):
        HttpServer(base, "c0ntrol").ask("list")
    with pytest.raises(WorldError, match="http://"):
        HttpServer("file:///etc", "c0ntrol").ask("list")
