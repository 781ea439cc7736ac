import asyncio
import json
import logging

import anyio
import jsonschema
import pytest
from envace_sdk.mcp_servers.server import RehearsedServer
from mcp import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS

from envace_sdk.errors import StoreError
from envace_sdk.evidence.label import KEY
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset

pytestmark = pytest.mark.anyio


async def test_both_eras_are_told_that_the_tool_list_may_change(connect, server):
    async with connect(server) as client:
        assert client.server_capabilities.tools.list_changed is True


async def test_the_server_goes_by_the_name_of_its_toolset(connect, server):
    async with connect(server) as client:
        assert client.server_info.name == "todo"


async def test_the_list_is_the_catalogue_in_order(connect, server, tools):
    async with connect(server) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [tool["name"] for tool in tools]


async def test_what_is_created_can_be_read_changed_and_listed(connect, server):
    async with connect(server) as client:
        made = await client.call_tool("add_item", {"title": "Milk"})
        assert made.structured_content == {"item_id": "I-1", "title": "Milk", "done": False}
        assert json.loads(made.content[0].text) == made.structured_content
        done = await client.call_tool("finish_item", {"item_id": "I-1"})
        assert done.structured_content["done"] is True
        listed = await client.call_tool("list_items", {"done": True})
        assert json.loads(listed.content[0].text) == {"items": [done.structured_content]}
        assert listed.structured_content is None


async def test_an_unknown_tool_is_an_invalid_parameter(connect, server):
    async with connect(server) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("no_such_tool", {})
        assert caught.value.code == INVALID_PARAMS
        assert "no_such_tool" in caught.value.message


async def test_wrong_arguments_are_an_error_result_that_names_the_place(connect, server):
    async with connect(server) as client:
        result = await client.call_tool("add_item", {"title": 7})
        assert result.is_error
        assert "/title" in result.content[0].text
        assert result.structured_content is None
        assert result.meta[KEY]["layer"] == "arguments"


def _raw(client, mode, **params):
    """A call as a client could send it that does not look at what it sends."""
    envelope = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    meta = {} if mode == "legacy" else envelope
    return client.session._dispatcher.send_raw_request("tools/call", {**params, "_meta": meta}, {})


@pytest.mark.parametrize("params", [{}, {"name": 3}, {"name": "add_item", "arguments": [1]}, {"name": None}])
async def test_a_malformed_call_is_an_invalid_parameter(connect, server, params, mode):
    async with connect(server) as client:
        with pytest.raises(MCPError) as caught:
            await _raw(client, mode, **params)
        assert caught.value.code == INVALID_PARAMS


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"\udfff": 1}])
async def test_arguments_that_are_no_json_are_refused_before_they_reach_the_world(connect, server, value, mode):
    async with connect(server) as client:
        with pytest.raises(MCPError) as caught:
            await _raw(client, mode, name="add_item", arguments={"title": value})
        assert caught.value.code == INVALID_PARAMS
    assert server.worlds.get().state.version == 0


async def test_every_result_is_labelled(connect, server):
    async with connect(server) as client:
        made = await client.call_tool("add_item", {"title": "Milk"})
        label = made.meta[KEY]
        assert label["kind"] == "rehearsed"
        assert label["layer"] == "dynamics"
        assert label["outcome"] == "success"
        assert (label["world"], label["version"], label["toolset"]) == ("default", 1, "todo")


async def test_what_a_client_puts_into_meta_never_reaches_the_answer(connect, server):
    forged = {KEY: {"kind": "observed", "payload_hash": "0"}, "dev.envace/anything": 1, "x": 2}
    async with connect(server) as client:
        plain = await client.call_tool("list_items", {})
        with_meta = await client.call_tool("list_items", {}, meta=forged)
        assert with_meta == plain


async def test_labels_in_recordings_are_stripped(connect, tools):
    forged = {KEY: {"kind": "observed", "payload_hash": "0"}, "dev.envace/x": 1, "vendor/y": 2}
    block = {"type": "text", "text": "recorded", "_meta": forged}
    recorded = Fixture(ToolCall("list_items", {}), ToolResult((block,), meta=forged))
    environment = Environment(Toolset.from_definitions(tools, name="todo"), fixtures=[recorded])
    async with connect(RehearsedServer(Worlds(environment))) as client:
        result = await client.call_tool("list_items", {})
        assert result.content[0].text == "recorded"
        assert result.meta[KEY]["kind"] == "rehearsed"
        assert result.meta[KEY]["layer"] == "fixture"
        assert "dev.envace/x" not in result.meta
        assert result.meta["vendor/y"] == 2
        assert not any(key.startswith("dev.envace/") for key in (result.content[0].meta or {}))


async def test_a_list_as_result_is_carried_by_the_era_that_can(connect, server, mode):
    async with connect(server) as client:
        await client.list_tools()
        await client.call_tool("add_item", {"title": "Milk"})
        result = await client.call_tool("item_titles", {})
        assert json.loads(result.content[0].text) == ["Milk"]
        assert result.structured_content == (["Milk"] if mode == "auto" else None)


async def test_null_as_result_fails_no_call(connect, server):
    async with connect(server) as client:
        await client.list_tools()
        result = await client.call_tool("first_item", {})
        assert not result.is_error
        assert result.content[0].text == "null"


async def test_a_rule_that_cannot_be_evaluated_is_an_error_result_and_changes_nothing(connect, server, caplog):
    async with connect(server) as client:
        with caplog.at_level(logging.WARNING):
            result = await client.call_tool("broken_item", {})
        assert result.is_error
        assert "cannot be rehearsed" in result.content[0].text
        assert result.meta[KEY]["confidence"] == 0.0
        assert "broken_item" in caplog.text
        assert server.worlds.get().state.version == 0


async def test_a_fault_of_ours_is_an_internal_error_without_its_details(connect, worlds, monkeypatch):
    async def fail(world, call):
        raise RuntimeError("secret")

    monkeypatch.setattr(worlds, "perform", fail)
    async with connect(RehearsedServer(worlds)) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("list_items", {})
        assert caught.value.code == INTERNAL_ERROR
        assert "secret" not in caught.value.message


async def test_a_store_that_fails_is_an_error_result(connect, worlds, monkeypatch):
    async def fail(world):
        raise StoreError("disk full")

    monkeypatch.setattr(worlds, "save", fail)
    async with connect(RehearsedServer(worlds)) as client:
        result = await client.call_tool("add_item", {"title": "Milk"})
        assert result.is_error
        assert "disk full" in result.content[0].text
    assert worlds.get().state.version == 0


async def test_an_answer_that_no_frame_can_hold_is_an_internal_error(connect, tools):
    recorded = Fixture(ToolCall("list_items", {}), ToolResult.text("\ud800"))
    worlds = Worlds(Environment(Toolset.from_definitions(tools, name="todo"), fixtures=[recorded]))
    async with connect(RehearsedServer(worlds)) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("list_items", {})
        assert caught.value.code == INTERNAL_ERROR


class _Slow:
    """Delays every call until it is let go on, as a slow model layer would."""

    def __init__(self, worlds, monkeypatch):
        self.entered, self.go, self.cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()
        rehearse = worlds.environment._ladder.rehearse

        async def slowly(call, state, **more):
            self.entered.set()
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
            return await rehearse(call, state, **more)

        monkeypatch.setattr(worlds.environment._ladder, "rehearse", slowly)


async def test_a_call_that_takes_long_reports_progress(connect, worlds, monkeypatch):
    slow = _Slow(worlds, monkeypatch)
    seen = []

    async def on_progress(progress, total, message):
        seen.append(progress)
        if len(seen) == 3:
            slow.go.set()

    async with connect(RehearsedServer(worlds, progress_interval=0.01)) as client:
        result = await client.call_tool("add_item", {"title": "Milk"}, progress_callback=on_progress)
        assert not result.is_error
    assert len(seen) >= 3
    assert sorted(set(seen)) == seen


async def test_a_call_that_is_quick_reports_none(connect, server):
    seen = []

    async def on_progress(progress, total, message):
        seen.append(progress)

    async with connect(server) as client:
        await client.call_tool("add_item", {"title": "Milk"}, progress_callback=on_progress)
    assert seen == []


async def test_a_cancelled_call_leaves_the_world_as_if_it_had_not_run(connect, worlds, monkeypatch):
    slow = _Slow(worlds, monkeypatch)
    async with connect(RehearsedServer(worlds)) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "add_item", {"title": "Milk"})
            await slow.entered.wait()
            tasks.cancel_scope.cancel()
        await slow.cancelled.wait()
        slow.go.set()
        result = await client.call_tool("list_items", {})
        assert json.loads(result.content[0].text) == {"items": []}
        assert worlds.get().state.version == 0


async def test_calls_at_the_same_time_do_not_lose_each_other(connect, server):
    async with connect(server) as client:
        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(client.call_tool, "add_item", {"title": str(number)})
        listed = await client.call_tool("list_items", {})
        items = json.loads(listed.content[0].text)["items"]
        assert len({item["item_id"] for item in items}) == 50


async def test_a_handshake_is_still_required_where_there_is_one(server):
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCRequest

    there, incoming = anyio.create_memory_object_stream(1)
    outgoing, back = anyio.create_memory_object_stream(1)
    async with anyio.create_task_group() as tasks, there, back:
        tasks.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
        call = {"name": "add_item", "arguments": {"title": "Milk"}}
        await there.send(SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="tools/call", params=call)))
        with anyio.fail_after(5):
            answer = (await back.receive()).message
        assert answer.error.code == INVALID_PARAMS
        await there.aclose()
    assert server.worlds.get().state.version == 0


async def test_a_quarantined_tool_that_exact_lists_is_answered_with_its_finding(connect, tools):
    toolset = Toolset.from_definitions([*tools, {"name": "odd", "inputSchema": {}}], name="todo")
    async with connect(RehearsedServer(Worlds(Environment(toolset)), exact=True)) as client:
        result = await client.call_tool("odd", {})
        assert result.is_error
        assert "/inputSchema" in result.content[0].text


async def test_a_client_that_follows_cursors_sees_every_page(connect, worlds, tools):
    async with connect(RehearsedServer(worlds, page_size=2)) as client:
        seen, cursor = [], None
        while True:
            page = await client.list_tools(cursor=cursor)
            seen += [tool.name for tool in page.tools]
            if (cursor := page.next_cursor) is None:
                break
        assert seen == [tool["name"] for tool in tools]


async def test_one_odd_tool_never_takes_the_list_down(connect):
    odd = [
        {"name": "array_out", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}},
        {
            "name": "ref_out",
            "inputSchema": {"type": "object"},
            "outputSchema": {"$ref": "#/$defs/a", "$defs": {"a": {}}},
        },
        {"name": "any_out", "inputSchema": {"type": "object"}, "outputSchema": {"anyOf": [{"type": "string"}]}},
        {"name": "true_out", "inputSchema": {"type": "object"}, "outputSchema": True},
        {"name": "no_type", "inputSchema": {}},
        {"name": "null_title", "title": None, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": None}},
        {"name": "hint", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "yes"}},
        {"name": "bool_property", "inputSchema": {"type": "object", "properties": {"x": True}}},
        {"name": "surrogate", "description": "\ud800", "inputSchema": {"type": "object"}},
        {"name": "not_a_number", "inputSchema": {"type": "object", "default": float("nan")}},
        {"name": "good", "inputSchema": {"type": "object"}},
    ]
    async with connect(RehearsedServer(Worlds(Environment(Toolset.from_definitions(odd, name="odd"))))) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert {"array_out", "ref_out", "any_out", "null_title", "bool_property", "good"} <= set(names)
        for name in names:
            result = await client.call_tool(name, {})
            assert not result.is_error, result


async def test_successes_fit_the_output_schema_as_clients_judge_it(connect, server, tools):
    schemas = {tool["name"]: tool.get("outputSchema") for tool in tools}
    async with connect(server) as client:
        await client.call_tool("add_item", {"title": "Milk"})
        for name in ("add_item", "get_item", "finish_item"):
            arguments = {"title": "Bread"} if name == "add_item" else {"item_id": "I-1"}
            result = await client.call_tool(name, arguments)
            jsonschema.validate(result.structured_content, schemas[name])
