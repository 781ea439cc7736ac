"""The HTTP app: paths, worlds, guards."""

import contextlib
import json

import httpx2
import pytest
from envace_sdk.mcp_servers.address import Address, Names
from envace_sdk.mcp_servers.control import Control
from envace_sdk.mcp_servers.http import HttpOptions, build_app
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from served import http_server

from envace_sdk.errors import ToolsetError
from envace_sdk.evidence.label import KEY
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.tools.toolset import Toolset

pytestmark = pytest.mark.anyio

NAMES = Names(Address("127.0.0.1", 8000))


@contextlib.asynccontextmanager
async def _app(worlds, *more, **options):
    """An HTTP client of an app that serves these worlds."""
    realms = {each.environment.toolset.name: each for each in (worlds, *more)}
    app = build_app(realms, Control(realms, transport="http"), HttpOptions(**{"names": NAMES, **options}))
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            yield client


ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


BODY = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "list_items", "arguments": {}, "_meta": ENVELOPE},
}
SENT = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "list_items",
}


def _post(client, path, method="tools/call", headers=None, **params):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": ENVELOPE}}
    sent = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        **({"mcp-name": params["name"]} if "name" in params else {}),
        **(headers or {}),
    }
    return client.post(path, json=body, headers=sent)


async def _label(client, path, **options):
    response = await _post(client, path, name="list_items", arguments={}, **options)
    assert response.status_code == 200, response.text
    return response.json()["result"]["_meta"][KEY]


async def test_a_world_is_named_by_path_or_header_or_else_the_default(worlds):
    async with _app(worlds) as client:
        assert (await _label(client, "/todo/mcp"))["world"] == "default"
        assert (await _label(client, "/todo/worlds/w-1/mcp"))["world"] == "w-1"
        assert (await _label(client, "/todo/mcp", headers={"x-envace-world": "w-2"}))["world"] == "w-2"
        assert (await _label(client, "/mcp"))["world"] == "default"
        assert (await _label(client, "/worlds/w-3/mcp"))["world"] == "w-3"
    assert {world.name for world in worlds} == {"default", "w-1", "w-2", "w-3"}


async def test_worlds_do_not_see_each_other(worlds):
    async with _app(worlds) as client:
        await _post(client, "/todo/worlds/a/mcp", name="add_item", arguments={"title": "Milk"})
        listed = await _post(client, "/todo/worlds/b/mcp", name="list_items", arguments={})
        assert json.loads(listed.json()["result"]["content"][0]["text"]) == {"items": []}


async def test_a_path_and_a_header_that_disagree_are_refused(worlds):
    async with _app(worlds) as client:
        response = await _post(client, "/todo/worlds/a/mcp", name="list_items", headers={"x-envace-world": "b"})
        assert response.status_code == 400
        assert "x-envace-world" in response.json()["error"]["message"]


async def test_headers_that_name_different_worlds_are_refused(worlds):
    async with _app(worlds) as client:
        for names, status in ((("a", "b"), 400), (("a", "a"), 200), (("", "a"), 400), (("a, b",), 400)):
            headers = [("x-envace-world", name) for name in names]
            response = await client.post("/todo/mcp", json=BODY, headers=[*SENT.items(), *headers])
            assert response.status_code == status, (names, response.text)
    assert [world.name for world in worlds] == ["a"]


@pytest.mark.parametrize("header", ["localhost/evil.com", "evil.com@127.0.0.1"])
async def test_hosts_that_only_contain_a_local_name_are_refused(worlds, header):
    async with _app(worlds) as client:
        assert (await _post(client, "/todo/mcp", name="list_items", headers={"host": header})).status_code == 421
        for sent in (
            [("host", "localhost"), ("host", "evil.com")],
            [("host", "localhost"), ("origin", f"http://{header}")],
        ):
            response = await client.post("/todo/mcp", json=BODY, headers=[*SENT.items(), *sent])
            assert response.status_code in (403, 421)


async def test_a_request_that_is_no_call_makes_no_world(worlds):
    async with _app(worlds) as client:
        path = "/todo/worlds/new/mcp"
        await client.get(path, headers={"accept": "text/event-stream", "mcp-protocol-version": "2026-07-28"})
        await client.delete(path)
        await client.put(path)
        await client.post(path, content=b"{", headers=SENT)
        await client.post(path, json={"jsonrpc": "2.0", "id": 1, "method": "nothing"}, headers=SENT)
        await _post(client, path, method="tools/list")
        assert "error" in (await _post(client, path, name="no_such_tool", arguments={})).json()
        assert len(worlds) == 0
        await _label(client, path)
        assert "new" in worlds


@pytest.mark.parametrize("name", ["..", "a b", "-x", "é", "x" * 101])
async def test_what_is_no_world_name_is_refused_and_makes_no_world(worlds, name):
    async with _app(worlds) as client:
        response = await _post(client, "/todo/mcp", name="list_items", headers={"x-envace-world": name.encode()})
        assert response.status_code == 400
    assert len(worlds) == 0


async def test_worlds_are_bounded_and_those_there_are_go_on(worlds):
    few = Worlds(worlds.environment, limit=2)
    async with _app(few) as client:
        for name in ("a", "b"):
            await _label(client, f"/todo/worlds/{name}/mcp")
        response = await _post(client, "/todo/worlds/c/mcp", name="list_items")
        assert response.status_code == 400
        assert "2 worlds" in response.json()["error"]["message"]
        await _label(client, "/todo/worlds/a/mcp")


async def test_several_toolsets_are_served_by_path_and_then_none_without(worlds):
    other = Worlds(
        Environment(Toolset.from_definitions([{"name": "ping", "inputSchema": {"type": "object"}}], name="p"))
    )
    async with _app(worlds, other) as client:
        assert (await _label(client, "/todo/mcp"))["toolset"] == "todo"
        listed = await _post(client, "/p/mcp", method="tools/list")
        assert [tool["name"] for tool in listed.json()["result"]["tools"]] == ["ping"]
        assert (await _post(client, "/mcp", method="tools/list")).status_code == 404


@pytest.mark.parametrize("name", ["control", "health", "mcp", "worlds", "a/b", "", "ü"])
def test_a_toolset_whose_name_cannot_be_a_path_is_refused(name):
    worlds = Worlds(Environment(Toolset.from_definitions([], name=name)))
    with pytest.raises(ToolsetError, match="--tools NAME="):
        build_app({name: worlds}, Control({name: worlds}, transport="http"), HttpOptions(names=NAMES))


async def test_health_says_nothing_but_that_the_server_is_up(worlds):
    async with _app(worlds, auth_token="s3cret") as client:
        response = await client.get("/health")
        assert (response.status_code, response.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    "given", [None, "Bearer wrong", "Basic s3cret", "s3cret", "Bearer", "Bearer s3cret2", "Bearer é"]
)
async def test_without_the_token_nothing_is_served(worlds, given):
    async with _app(worlds, auth_token="s3cret") as client:
        headers = {} if given is None else {"authorization": given.encode()}
        response = await _post(client, "/todo/worlds/x/mcp", name="list_items", headers=headers)
        assert response.status_code == 401
        assert response.headers["www-authenticate"].startswith("Bearer")
    assert len(worlds) == 0


async def test_with_the_token_requests_are_served(worlds):
    async with _app(worlds, auth_token="s3cret") as client:
        await _label(client, "/todo/mcp", headers={"authorization": "bearer s3cret"})


@pytest.mark.parametrize("path", ["/todo/mcp", "/health", "/control/list"])
async def test_a_foreign_host_or_origin_is_refused_everywhere(worlds, path):
    async with _app(worlds, control_token="c") as client:
        assert (await client.post(path, headers={"host": "evil.example"})).status_code == 421
        assert (await client.post(path, headers={"origin": "https://evil.example"})).status_code == 403
        assert (await client.post(path, headers={"origin": "null"})).status_code == 403


async def test_a_body_over_the_limit_is_refused(worlds):
    async with _app(worlds, body_limit=1000) as client:
        response = await _post(client, "/todo/mcp", name="add_item", arguments={"title": "x" * 2000})
        assert response.status_code == 413
    assert worlds.get().state.version == 0


async def test_json_that_holds_nan_is_refused(worlds):
    async with _app(worlds) as client:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add_item", "_meta": ENVELOPE}}
        text = json.dumps(body).replace('"name"', '"arguments": {"title": NaN}, "name"')
        headers = {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "add_item",
        }
        response = await client.post("/todo/mcp", content=text, headers=headers)
        assert response.json()["error"]["code"] == -32602


async def test_control_is_off_without_a_token_of_its_own(worlds):
    async with _app(worlds, auth_token="s3cret") as client:
        response = await client.post("/control/list", headers={"authorization": "Bearer s3cret"})
        assert response.status_code == 404


async def test_control_takes_its_own_token_only(worlds):
    async with _app(worlds, auth_token="s3cret", control_token="c0ntrol") as client:
        for token, status in (("s3cret", 401), ("c0ntrol", 200)):
            response = await client.post("/control/list", headers={"authorization": f"Bearer {token}"})
            assert response.status_code == status


async def test_control_carries_out_its_operations(worlds):
    async with _app(worlds, control_token="c") as client:
        client.headers["authorization"] = "Bearer c"
        await _post(client, "/todo/mcp", name="add_item", arguments={"title": "Milk"})
        shown = (await client.post("/control/show", json={"world": "default"})).json()
        assert shown["result"]["entities"] == {"items": 1}
        await client.post("/control/reset", json={"world": "default"})
        assert worlds.get().state.version == 0


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/control/explode", b"{}", 404),
        ("GET", "/control/list", b"", 405),
        ("POST", "/control/show", b"[]", 400),
        ("POST", "/control/show", b"{", 400),
        ("POST", "/control/show", b'{"world": "nowhere"}', 400),
    ],
)
async def test_control_says_what_is_wrong(worlds, method, path, body, status):
    async with _app(worlds, control_token="c") as client:
        response = await client.request(method, path, content=body, headers={"authorization": "Bearer c"})
        assert response.status_code == status
        assert response.json()["ok"] is False


async def test_control_answers_whatever_text_it_gets_or_a_world_holds(worlds):
    world = worlds.get()
    world.commit(world.state.put("items", "\ud800", {"title": "\udfff"}))
    async with _app(worlds, control_token="c") as client:
        client.headers["authorization"] = "Bearer c"
        body = b'{"world": "default", "name": "\\ud800"}'
        assert (await client.post("/control/snapshot", content=body)).status_code == 400
        shown = await client.post("/control/show", json={"world": "default", "collection": "items"})
        assert shown.json()["result"]["documents"] == [["\ud800", {"title": "\udfff"}]]


async def test_exact_is_byte_true_over_http(tmp_path):
    text = (
        '{"tools": [{"name": "a", "inputSchema": {"type": "object", "x": [1.0, 1e3]}, "k": "\\u00e9"}, {"bad": 2.50}]}'
    )
    (tmp_path / "tools.json").write_text(text)
    worlds = Worlds(Environment(Toolset.load(tmp_path / "tools.json", name="todo")))
    async with _app(worlds, exact=True) as client:
        response = await _post(client, "/todo/mcp", method="tools/list")
        assert text[len('{"tools": ') : -1].replace("}, {", "},{") in response.text
        assert response.json()["result"]["tools"] == json.loads(text)["tools"]


@pytest.mark.parametrize("plain", [False, True])
async def test_exact_is_byte_true_in_the_answers_to_handshake_clients(tmp_path, plain):
    text = '{"tools": [{"name": "a", "inputSchema": {"type": "object", "x": [1.0, 1e3]}, "k": "\\u00e9"}]}'
    (tmp_path / "tools.json").write_text(text)
    worlds = Worlds(Environment(Toolset.load(tmp_path / "tools.json", name="todo")))
    async with _app(worlds, exact=True, json_response=plain) as client:
        client.headers["accept"] = "application/json, text/event-stream"
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        hello = await client.post(
            "/todo/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        )
        client.headers["mcp-session-id"] = hello.headers["mcp-session-id"]
        await client.post("/todo/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        response = await client.post("/todo/mcp", json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        assert text[len('{"tools": ') : -1] in response.text


async def test_handshake_clients_may_be_answered_with_plain_json(worlds):
    async with _app(worlds, json_response=True) as client:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        response = await client.post("/todo/mcp", json=body, headers={"accept": "application/json"})
        assert response.headers["content-type"] == "application/json"
        assert response.json()["result"]["capabilities"]["tools"]["listChanged"] is True


async def test_sessions_of_the_handshake_era_are_in_the_world_of_their_path(worlds):
    with http_server(worlds) as base:
        for world, count in (("a", 1), ("b", 1), ("a", 2)):
            async with Client(f"{base}/todo/worlds/{world}/mcp", mode="legacy") as client:
                await client.call_tool("add_item", {"title": "Milk"})
                listed = await client.call_tool("list_items", {})
                assert len(json.loads(listed.content[0].text)["items"]) == count


async def test_a_token_is_sent_by_a_real_client(worlds, mode):
    with http_server(worlds, auth_token="s3cret") as base:
        headers = {"authorization": "Bearer s3cret", "x-envace-world": "mine"}
        async with contextlib.AsyncExitStack() as opened:
            web = await opened.enter_async_context(httpx2.AsyncClient(headers=headers))
            transport = streamable_http_client(f"{base}/todo/mcp", http_client=web)
            client = await opened.enter_async_context(Client(transport, mode=mode))
            result = await client.call_tool("list_items", {})
            assert result.meta[KEY]["world"] == "mine"


def test_an_address_that_others_can_reach_needs_a_word_of_consent(folder, cli):
    refused = cli("serve", "--tools", folder, "--http", "0.0.0.0:0")
    assert refused.code == 2
    assert "--allow-remote" in refused.err


def test_a_port_that_is_taken_is_one_line(folder, cli):
    with Address("127.0.0.1", 0).listen() as listener:
        taken = cli("serve", "--tools", folder, "--http", f"127.0.0.1:{listener.getsockname()[1]}")
    assert taken.code == 3
    assert "cannot listen" in taken.err


@pytest.mark.parametrize("more", [(), ("--http", "0", "--seed-data", "x.json")])
def test_several_toolsets_need_paths_and_no_files_that_belong_to_one(folder, cli, more):
    finished = cli("serve", "--tools", folder, "--tools", folder, *more)
    assert finished.code == 2
    assert "several --tools need" in finished.err


def test_two_toolsets_of_one_name_are_told_apart_by_a_name_of_their_own(folder, cli):
    finished = cli("serve", "--tools", folder, "--tools", folder, "--http", "0")
    assert finished.code == 3
    assert "--tools NAME=" in finished.err
