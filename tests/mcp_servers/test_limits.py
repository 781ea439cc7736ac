"""What a server takes on: size and depth of requests, time of calls, number of worlds."""

import asyncio
import contextlib
import json
import time

import httpx2
import pytest
from envace_sdk.mcp_servers.address import Address, Names
from envace_sdk.mcp_servers.control import Control
from envace_sdk.mcp_servers.http import HttpOptions, build_app
from envace_sdk.mcp_servers.limits import deeper_than
from envace_sdk.mcp_servers.metrics import Metrics
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.rehearse import Worlds
from envace_sdk.tools.model import ToolCall

pytestmark = pytest.mark.anyio

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('[]{}"\\,: aé', max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('[{"\\', max_size=4), inner, max_size=3),
    max_leaves=20,
)


def depth(value):
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(JSON, st.booleans())
def test_the_depth_is_that_of_the_parsed_json(value, escaped):
    body = json.dumps(value, ensure_ascii=escaped).encode()
    found = depth(value)
    assert not deeper_than(body, found)
    assert found == 0 or deeper_than(body, found - 1)


@given(st.binary() | st.text('[]{}"\\').map(str.encode), st.integers(0, 4))
def test_bytes_that_are_no_json_are_looked_at_without_ado(body, limit):
    deeper_than(body, limit)


@pytest.mark.parametrize("piece", [b'\\"', b'"', b"\\", b"[]", b'["\\', b'{"a":', b"x", b'"\\"['])
def test_the_time_grows_with_the_length_and_not_faster(piece):
    def seconds(length):
        body = b"[" * 200 + piece * (length // len(piece))
        began = time.process_time()
        deeper_than(body, 10_000_000)
        return time.process_time() - began

    small = min(seconds(200_000) for _ in range(3))
    assert min(seconds(800_000) for _ in range(3)) < 16 * max(small, 0.005)


@pytest.fixture
async def client_of(worlds):
    """Makes HTTP clients of an app with some options."""
    async with contextlib.AsyncExitStack() as stack:

        async def make(worlds=worlds, **options):
            metrics = Metrics()
            realms = {"todo": worlds}
            settings = HttpOptions(**{"names": Names(Address("127.0.0.1", 8000)), **options})
            app = build_app(realms, Control(realms, transport="http"), settings, metrics)
            await stack.enter_async_context(app.router.lifespan_context(app))
            transport = httpx2.ASGITransport(app)
            client = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")
            return await stack.enter_async_context(client)

        yield make


def _call(client, arguments, *, tool="add_item", path="/todo/mcp", content=None):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    body["params"] = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    return client.post(path, content=content or json.dumps(body), headers=headers)


async def test_a_request_that_is_too_large_is_refused_with_the_limit_and_the_option(client_of):
    client = await client_of(body_limit=2_000)
    assert (await _call(client, {"title": "x" * 100})).status_code == 200
    refused = await _call(client, {"title": "x" * 2_000})
    assert refused.status_code == 413
    assert refused.json()["error"] == {
        "code": -32600,
        "message": "the request has more than 2000 bytes: send less, or serve with a larger --max-request-bytes",
    }


async def test_a_request_of_unknown_length_is_bounded_too(client_of):
    client = await client_of(body_limit=2_000)

    async def long():
        for _ in range(1_000):
            yield b"x" * 100

    assert (await _call(client, {}, content=long())).status_code == 413


async def test_a_request_that_is_nested_too_deeply_is_refused_with_the_limit_and_the_option(client_of):
    client = await client_of(depth_limit=12)

    def nested(levels):
        return {"title": "Milk", "more": json.loads("[" * levels + "]" * levels)}

    assert (await _call(client, nested(8))).status_code == 200
    refused = await _call(client, nested(12))
    assert refused.status_code == 400
    assert "nests more than 12 deep" in refused.json()["error"]["message"]
    assert "--max-depth" in refused.json()["error"]["message"]
    text = (await client.get("/metrics")).text
    assert 'envace_requests_refused_total{limit="depth"} 1.0' in text


async def test_a_call_that_takes_too_long_is_a_timeout_and_has_not_happened(client_of, worlds, monkeypatch):
    slow = Worlds(worlds.environment, call_seconds=0.05)
    rehearse = worlds.environment._ladder.rehearse

    async def dawdling(*arguments, **options):
        await asyncio.sleep(30)
        return await rehearse(*arguments, **options)

    monkeypatch.setattr(worlds.environment._ladder, "rehearse", dawdling)
    client = await client_of(slow)
    error = (await _call(client, {"title": "Milk"})).json()["error"]
    assert error["code"] == -32001
    assert "add_item took longer than 0.05 s: nothing has happened" in error["message"]
    assert slow.get().state.version == 0
    text = (await client.get("/metrics")).text
    assert 'envace_errors_total{kind="timeout",toolset="todo"} 1.0' in text


async def test_a_call_that_is_being_saved_is_let_finish(worlds, monkeypatch):
    slow = Worlds(worlds.environment, call_seconds=0.05)

    async def saving(world):
        await asyncio.sleep(0.2)

    monkeypatch.setattr(slow, "save", saving)
    await slow.call("default", ToolCall("add_item", {"title": "Milk"}))
    assert slow.get().state.version == 1


async def test_more_worlds_than_a_server_holds_are_refused(client_of, worlds):
    client = await client_of(Worlds(worlds.environment, limit=1))
    assert (await _call(client, {"title": "Milk"}, path="/todo/worlds/a/mcp")).status_code == 200
    refused = await _call(client, {"title": "Milk"}, path="/todo/worlds/b/mcp")
    assert refused.status_code == 400
    assert "1 worlds are held already" in refused.json()["error"]["message"]
