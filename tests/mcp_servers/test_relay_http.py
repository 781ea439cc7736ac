"""The relay over HTTP: bytes pass as they are, sessions are told apart, and credentials are the relay's."""

import itertools
import json
import time

import httpx2
import pytest
from envace_sdk.mcp_servers.address import Address, Names
from envace_sdk.mcp_servers.relay_events import EventReader
from envace_sdk.mcp_servers.relay_http import build_relay
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from web import serving

from envace_sdk.errors import UpstreamError
from envace_sdk.tools.upstream import OAuth, Target


class Upstream:
    """An MCP server in a few lines: `initialize` opens a session, `tools/call` answers as a stream or at once."""

    def __init__(self):
        self.seen = []
        self.app = Starlette(routes=[Route("/mcp", self._answer, methods=["POST", "GET", "DELETE"])])

    async def _answer(self, request):
        self.seen.append((request.method, dict(request.headers)))
        if request.method != "POST":
            return Response(status_code=405, headers={"allow": "POST"})
        message = json.loads(await request.body())
        number = message.get("id")
        if number is None:
            return Response(status_code=202)
        if message["method"] == "initialize":
            result = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "up"}, "capabilities": {}}
            answer = {"jsonrpc": "2.0", "id": number, "result": result}
            return JSONResponse(answer, headers={"mcp-session-id": f"s{len(self.seen)}"})
        told = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "ü"}}
        answer = {"jsonrpc": "2.0", "id": number, "result": {"content": [], "off-spec": 1.0}}
        events = b"".join(
            b"event: message\r\ndata: " + json.dumps(one).encode() + b"\r\n\r\n" for one in (told, answer)
        )

        async def body():
            for start in range(0, len(events), 7):
                yield events[start : start + 7]

        return StreamingResponse(body(), media_type="text/event-stream", headers={"x-own": "kept"})


@pytest.fixture
def upstream():
    upstream = Upstream()
    with serving(upstream.app) as url:
        upstream.url = f"{url}/mcp"
        yield upstream


def post(url, method, number=1, **headers):
    frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"name": "t"}}
    return httpx2.post(url, json=frame, headers=headers)


def relayed(target, **options):
    lines = []
    options = {"names": None, **options}
    return lines, serving(build_relay(target, lines.append, **options))


def exchanges(lines):
    return [line for line in lines if line["kind"] == "exchange"]


def test_answers_pass_byte_for_byte_and_each_session_is_its_own(upstream):
    lines, running = relayed(Target(url=upstream.url))
    with running as url:
        sessions = [post(f"{url}/mcp", "initialize").headers["mcp-session-id"] for _ in range(2)]
        for session in sessions:
            through = post(f"{url}/mcp", "tools/call", **{"mcp-session-id": session})
            assert through.content == post(upstream.url, "tools/call").content
            assert through.headers["x-own"] == "kept"
        assert httpx2.delete(f"{url}/mcp").status_code == 405
    first, second = exchanges(lines)
    assert first["session"] != second["session"]
    assert first["result"] == {"content": [], "off-spec": 1.0}
    assert [event["params"] for event in first["events"]] == [{"data": "ü"}]
    assert {line["era"] for line in lines if line["kind"] == "session"} == {"2025-11-25"}


def test_headers_of_the_client_go_on_and_those_of_the_relay_win(upstream):
    _, running = relayed(Target(url=upstream.url, headers={"x-team": "blue"}, token="right"))
    with running as url:
        post(f"{url}/mcp", "tools/call", authorization="Bearer wrong", **{"mcp-method": "tools/call", "x-team": "red"})
    _, headers = upstream.seen[-1]
    assert headers["authorization"] == "Bearer right"
    assert headers["mcp-method"] == "tools/call"
    assert headers["x-team"] == "blue"


def test_a_server_that_is_gone_is_a_bad_gateway_with_the_requests_id(upstream):
    lines, running = relayed(Target(url="http://127.0.0.1:9/mcp"))
    with running as url:
        answer = post(f"{url}/mcp", "tools/call", 7)
    assert answer.status_code == 502
    assert answer.json()["id"] == 7
    assert lines == []


def test_a_page_that_rebinds_its_name_is_refused(upstream):
    _, running = relayed(Target(url=upstream.url), names=Names(Address("127.0.0.1", 0)))
    with running as url:
        assert post(f"{url}/mcp", "tools/call", host="evil.example").status_code == 421
        assert post(f"{url}/mcp", "tools/call", origin="https://evil.example").status_code == 403
        assert post(f"{url}/mcp", "tools/call").status_code == 200
    assert len(upstream.seen) == 1


@pytest.mark.parametrize("url", ["ftp://x/mcp", "http://", "nothing"])
def test_what_is_no_url_is_told_before_anything_listens(url):
    with pytest.raises(UpstreamError, match="URL"):
        build_relay(Target(url=url), print, names=None)


class Authority:
    """An authorization server whose tokens last as long as it likes, before an MCP server that wants one."""

    def __init__(self, upstream):
        self.url, self.upstream, self.grants, self.lifetime, self.valid = "", upstream, 0, 3600, set()
        self.app = Starlette(
            routes=[
                Route("/.well-known/oauth-protected-resource/mcp", self._resource),
                Route("/.well-known/oauth-authorization-server", self._metadata),
                Route("/token", self._token, methods=["POST"]),
                Route("/mcp", self._guarded, methods=["POST"]),
            ]
        )

    async def _resource(self, _):
        return JSONResponse({"resource": f"{self.url}/mcp", "authorization_servers": [self.url]})

    async def _metadata(self, _):
        ends = {"authorization_endpoint": f"{self.url}/authorize", "token_endpoint": f"{self.url}/token"}
        return JSONResponse({"issuer": self.url, "response_types_supported": ["code"], **ends})

    async def _token(self, _):
        self.grants += 1
        self.valid = {f"Bearer token-{self.grants}"}
        return JSONResponse(
            {"access_token": f"token-{self.grants}", "token_type": "bearer", "expires_in": self.lifetime}
        )

    async def _guarded(self, request):
        if request.headers.get("authorization") not in self.valid:
            return JSONResponse({}, 401, {"www-authenticate": "Bearer"})
        return await self.upstream._answer(request)


def test_oauth_tokens_are_got_and_replaced_while_recording(upstream, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    authority = Authority(upstream)
    with serving(authority.app) as issuer:
        authority.url = issuer
        oauth = OAuth(issuer=issuer, client_id="id", client_secret="secret")
        lines, running = relayed(Target(url=f"{issuer}/mcp", oauth=oauth))
        with running as url:
            assert post(f"{url}/mcp", "tools/call").status_code == 200
            authority.valid = set()  # taken back
            assert post(f"{url}/mcp", "tools/call").status_code == 200
            assert authority.grants == 2
    assert len(exchanges(lines)) == 2
    assert "token-" not in json.dumps(lines)


@given(
    events=st.lists(st.text(st.characters(exclude_characters="\r\n"), min_size=1), max_size=5),
    cuts=st.lists(st.integers(0, 400), max_size=10),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_events_are_read_wherever_the_chunks_are_cut(events, cuts, end):
    stream = "".join(f": note{end}id: 1{end}data: {data}{end}{end}" for data in events).encode("utf-8", "surrogatepass")
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    reader, found = EventReader(), []
    for start, stop in itertools.pairwise(places):
        found += reader.feed(stream[start:stop])

    assert found == [data.encode("utf-8", "surrogatepass") for data in events]


def test_reading_a_stream_costs_by_its_length(monkeypatch):
    reader = EventReader()
    begin = time.process_time()
    for _ in range(2_000):
        list(reader.feed(b"data: " + b"x" * 1_000 + b"\n\n"))
    for _ in range(2_000):  # one long line
        list(reader.feed(b"x" * 20_000))
    assert time.process_time() - begin < 5
