"""Live servers at a URL: both eras, off-spec lists, and what is said when one cannot be used."""

import json

import pytest
from mcp.server.lowlevel import Server
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from web import serving

from envace_sdk.errors import UpstreamError
from envace_sdk.tools import Toolset
from envace_sdk.tools.upstream import Target, connect, pull_now

A = {"name": "a", "description": "żółć", "inputSchema": {"type": "object", "properties": {}}}
BAD = {"x-vendor": [1.5, None], "name": "bad", "inputSchema": {}, "outputSchema": True}
HEADED = {
    "name": "headed",
    "description": "d",
    "inputSchema": {"type": "object", "properties": {"tenant": {"type": "string", "x-mcp-header": "Tenant"}}},
}


def mcp_app(*definitions, json_response=False, seen=None):
    """The SDK's own server, made to list exactly these definitions."""
    seen = [] if seen is None else seen

    async def unused(_context, _params):
        raise AssertionError

    async def middleware(context, call_next):
        seen.append((context.method, dict(context.request.headers) if context.request else {}))
        if context.method == "tools/list":
            return {"tools": list(definitions), "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
        if context.method == "tools/call":
            return {"content": [], "resultType": "complete", "x-off-spec": 1}
        return await call_next(context)

    server = Server("sdk", version="1", on_list_tools=unused, on_call_tool=unused)
    server.middleware.append(middleware)
    return server.streamable_http_app(json_response=json_response)


def overheard(app, sent):
    """The application, and all the bytes that it sends."""

    async def overheard_app(scope, receive, send):
        async def overheard_send(message):
            sent.extend(message.get("body", b""))
            await send(message)

        await app(scope, receive, overheard_send)

    return overheard_app


def answering(status, body="", **headers):
    """An application that answers everything alike."""

    async def answer(_request):
        return Response(body, status, headers)

    return Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST", "DELETE"])])


def said(target):
    with pytest.raises(UpstreamError) as refused:
        pull_now(target)
    return str(refused.value)


@pytest.mark.parametrize("json_response", [False, True], ids=["events", "json"])
@pytest.mark.parametrize(("handshake", "era"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_off_spec_tools_survive_in_their_own_words(handshake, era, json_response):
    sent = bytearray()
    with serving(overheard(mcp_app(A, BAD, json_response=json_response), sent)) as url:
        catalogue = pull_now(Target(url=f"{url}/mcp", handshake=handshake))
    assert catalogue.era == era
    assert catalogue.server == {"name": "sdk", "version": "1"}
    assert catalogue.definitions == (A, BAD)
    assert [json.loads(text) for text in catalogue.texts] == [A, BAD]
    # One of the SDK's two writers escapes what is not ASCII: what came is what is kept.
    assert f'"tools":[{",".join(catalogue.texts)}]'.encode() in sent


def test_a_toolset_is_loaded_from_a_url():
    with serving(mcp_app(A, BAD)) as url:
        toolset = Toolset.load(f"{url}/mcp")
    assert toolset.name == "127.0.0.1"
    assert [tool.name for tool in toolset] == ["a"]
    assert toolset.quarantined == (BAD,)
    assert json.loads(toolset.raw) == [A, BAD]


def test_a_list_larger_than_clients_read_by_default_is_read():
    large = [{**A, "name": f"t{n}", "description": "x" * 300_000} for n in range(8)]
    with serving(mcp_app(*large)) as url:
        catalogue = pull_now(Target(url=f"{url}/mcp"))
    assert len(catalogue.texts) == 8


def test_headers_and_the_token_go_with_every_request():
    seen = []
    with serving(mcp_app(A, seen=seen)) as url:
        pull_now(Target(url=f"{url}/mcp", headers={"X-Team": "blue"}, token="secret"))
    assert {method for method, _ in seen} >= {"server/discover", "tools/list"}
    assert all(headers["x-team"] == "blue" and headers["authorization"] == "Bearer secret" for _, headers in seen)


@pytest.mark.anyio
async def test_a_modern_call_mirrors_what_its_schema_says_into_headers():
    seen = []
    with serving(mcp_app(HEADED, seen=seen)) as url:
        connection = await connect(Target(url=f"{url}/mcp"))
        try:
            await connection.list_tools_raw()
            result = await connection.call_raw("headed", {"tenant": "grün"})
        finally:
            await connection.close()
    assert result["x-off-spec"] == 1
    [headers] = [headers for method, headers in seen if method == "tools/call"]
    assert headers["mcp-name"] == "headed"
    assert headers["mcp-param-tenant"].startswith("=?base64?")


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "wants authorization (HTTP 401): give a token, a header or OAuth"),
        (403, "denies access (HTTP 403)"),
        (404, "HTTP 404: is this the address of an MCP server?"),
        (405, "HTTP 405"),
        (500, "HTTP 500"),
    ],
)
def test_a_refusal_of_http_is_told_by_its_status(status, words):
    with serving(answering(status)) as url:
        assert words in said(Target(url=f"{url}/mcp?key=secret"))


def test_a_page_that_is_no_mcp_is_told_to_be_none():
    with serving(answering(200, "<html>", **{"content-type": "text/html"})) as url:
        told = said(Target(url=f"{url}/?key=secret"))
    assert "does not speak MCP there: Unexpected content type: text/html" in told
    assert "secret" not in told


def test_json_that_is_no_mcp_is_told_to_be_none():
    with serving(answering(200, '{"hello": 1}', **{"content-type": "application/json"})) as url:
        assert "does not speak MCP there" in said(Target(url=url))


def test_a_redirect_elsewhere_is_not_followed_and_named():
    async def elsewhere(_request):
        return RedirectResponse("https://elsewhere.example/mcp", 307)

    with serving(Starlette(routes=[Route("/mcp", elsewhere, methods=["POST"])])) as url:
        assert "https://elsewhere.example/mcp" in said(Target(url=f"{url}/mcp"))


def test_a_server_that_is_not_there_is_told_to_be_unreachable():
    assert "cannot be reached" in said(Target(url="http://127.0.0.1:9/mcp"))


def test_a_server_that_does_not_answer_is_given_up_in_time():
    import anyio

    async def sleep(_request):
        await anyio.sleep_forever()
        return PlainTextResponse("")

    with serving(Starlette(routes=[Route("/mcp", sleep, methods=["POST"])])) as url:
        assert "within 0.3 s" in said(Target(url=f"{url}/mcp", timeout=0.3))


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (Target(url="ftp://a.example"), "expected an http or https URL"),
        (Target(url="http://"), "expected an http or https URL"),
        (Target(url="http://[::1"), "no URL"),
        (Target(url="http://a.example", headers={"x": "a\nb"}), "header 'x' holds what HTTP cannot carry"),
        (Target(url="http://a.example", token="żółć"), "header 'authorization' holds"),
    ],
)
def test_what_cannot_be_sent_is_told_before_it_is(target, words):
    assert words in said(target)
