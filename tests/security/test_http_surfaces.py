"""Requests of any kind, to real servers: each is answered, and no answer is an error of the server's own."""

import json
import socket
from contextlib import ExitStack

import httpx
import pytest
from envace_sdk.mcp_servers.address import Address, Names
from envace_sdk.mcp_servers.control import OPERATIONS, Control
from envace_sdk.mcp_servers.gateway_api import build_api
from envace_sdk.mcp_servers.gateway_api_models import document
from envace_sdk.mcp_servers.http import HttpOptions
from envace_sdk.mcp_servers.http import build_app as build_server
from gateways import guarding
from guarded_desk import environment
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from served import serving
from studios import app as studio
from studios import ask

from envace_sdk.jsonschema import compile_schema
from envace_sdk.rehearse import Environment, Worlds

TOKEN = "correct-horse-battery-staple"
READS = "rules: [{name: reads, when: \"risk.level == 'low'\", then: commit}]"
BEARER = {"authorization": f"Bearer {TOKEN}"}
LOOK = {"tool": "get_order", "arguments": {"order_id": "O-1"}}
NAMES = Names(Address("127.0.0.1", 0))


@pytest.fixture(scope="module")
def surfaces(tmp_path_factory):
    """A client for each of the servers, by name: all run, on ports of their own."""
    patch = pytest.MonkeyPatch()
    patch.setenv("ENVACE_REDACTION_KEY", "k")
    folder = tmp_path_factory.mktemp("surfaces")
    worlds = Worlds(Environment.load("retail"), seed=1)
    realms = {"retail": worlds}
    options = HttpOptions(names=NAMES, control_token=TOKEN)
    ask(folder / "studio.db")
    with guarding(environment(), folder, policy=READS) as guard:
        applications = {
            "guard": build_api(guard, server="shop", token=TOKEN, names=NAMES),
            "server": build_server(realms, Control(realms, transport="http"), options),
            "studio": studio(folder / "studio.db"),
        }
        with ExitStack() as running:
            bases = {name: running.enter_context(serving(each)) for name, each in applications.items()}
            clients = {name: httpx.Client(base_url=base, headers=BEARER, timeout=30) for name, base in bases.items()}
            yield {name: running.enter_context(client) for name, client in clients.items()}
    patch.undo()


PATHS = {
    "guard": ["/v1/decide", "/v1/observe", "/v1/approvals/x", "/openapi.json", "/v1/approvals/%00", "/v1/../v1/decide"],
    "server": [
        *("/mcp", "/retail/mcp", "/worlds/a/mcp", "/worlds/%2e%2e/mcp", "/health"),
        *(f"/control/{operation}" for operation in OPERATIONS),
    ],
    "studio": [
        *("/approvals", "/enter", "/worlds", "/worlds/call"),
        *("/static/..%2fapp.py", "/training", "/fidelity", "/timeline"),
    ],
}
_TEXT = st.text(max_size=8) | st.sampled_from(
    ["get_order", "O-1", "default", "..", "\x00", "\ud800", "tools/call", "2.0", "x" * 2000]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
_MEMBERS = st.sampled_from(
    [
        *("tool", "arguments", "thread", "task", "call_id", "annotations", "context", "begin", "permit", "result"),
        *("error", "not_executed", "lost", "jsonrpc", "id", "method", "params", "name", "world", "collection", "key"),
        *("to", "state", "plan", "limit", "offset", "since", "other", "toolset", "do", "form_token", "answer"),
    ]
)
_BODIES = (
    st.dictionaries(_MEMBERS, _JSON, max_size=6).map(lambda value: json.dumps(value).encode())
    | st.dictionaries(_MEMBERS, _JSON, max_size=3).map(lambda value: json.dumps({**LOOK, **value}).encode())
    | st.dictionaries(_MEMBERS, _JSON, max_size=3).map(
        lambda value: json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": value}).encode()
    )
    | _JSON.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=60)
    | st.sampled_from([b"", b"null", b"[" * 100_000, b'{"a":' * 5000, b'{"a": 1e999}', b"\xff\xfe{}"])
)
_HEADERS = st.dictionaries(
    st.sampled_from(
        [
            *("content-type", "accept", "cookie", "x-envace-world"),
            *("mcp-session-id", "mcp-protocol-version", "mcp-method"),
        ]
    ),
    st.sampled_from(
        [
            *("application/json", "text/html", "application/x-www-form-urlencoded", "*/*", "a", "..", "x=y; ;"),
            *("multipart/form-data; boundary=x", "text/event-stream, application/json"),
            *("2026-07-28", "2025-11-25", "a" * 3000),
        ]
    ),
    max_size=3,
)
_REQUESTS = st.tuples(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"]), _HEADERS, _BODIES, st.integers(0, 50)
)


def sent(surfaces, name, request):
    method, headers, body, number = request
    path = PATHS[name][number % len(PATHS[name])]
    with surfaces[name].stream(method, path, headers=headers, content=body) as response:
        assert response.status_code < 500, f"{method} {path} {headers} {body!r}: {response.read()!r}"
        if "event-stream" not in response.headers.get("content-type", ""):
            assert b"Traceback" not in response.read()


_FUZZ = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@pytest.mark.parametrize("name", list(PATHS))
@settings(max_examples=120, **_FUZZ)
@given(request_=_REQUESTS)
def test_any_request_is_answered(surfaces, name, request_):
    sent(surfaces, name, request_)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", list(PATHS))
@settings(max_examples=10_000, **_FUZZ)
@given(request_=_REQUESTS)
def test_any_request_is_answered_all_night(surfaces, name, request_):
    sent(surfaces, name, request_)


@pytest.mark.parametrize("body", ["null", "1", '"x"', "[]", "true"])
@pytest.mark.parametrize("path", ["/v1/decide", "/v1/observe"])
def test_a_body_that_is_no_object_is_a_wrong_request(surfaces, path, body):
    assert surfaces["guard"].post(path, content=body).status_code == 400


def test_a_result_nested_too_deeply_does_not_cost_the_permit(surfaces):
    api = surfaces["guard"]
    for depth, status in ((200, 200), (290, 200), (310, 400), (900, 400)):
        permit = api.post("/v1/decide", json=LOOK).json()["permit"]
        result = '{"a":' * depth + "1" + "}" * depth
        answer = api.post("/v1/observe", content=f'{{"permit": "{permit}", "result": {result}}}')
        assert answer.status_code == status, answer.text
        if status == 400:
            told = api.post("/v1/observe", json={"permit": permit, "lost": "it could not be told"})
            assert told.json()["status"] == "in_doubt"


def test_what_is_refused_is_as_the_description_says(surfaces):
    schemas = document("shop")["components"]["schemas"]
    problem = compile_schema(schemas["Problem"])
    base = surfaces["guard"].base_url
    for answer in (
        httpx.post(f"{base}/v1/decide", json=LOOK),
        surfaces["guard"].post("/v1/decide", json={}),
        surfaces["guard"].post("/v1/observe", json={"permit": "x", "result": 1}),
        surfaces["guard"].get("/v1/approvals/x"),
    ):
        assert 400 <= answer.status_code < 500
        assert problem.violations(answer.json()) == []


@pytest.mark.parametrize("name", list(PATHS))
def test_every_server_knows_its_own_name_alone(surfaces, name):
    for path in PATHS[name][:1]:
        answer = surfaces[name].get(path, headers={"host": "evil.example"})
        assert answer.status_code == 421
        assert surfaces[name].post(path, headers={"origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize("name", list(PATHS))
def test_headers_without_end_are_refused(surfaces, name):
    url = surfaces[name].base_url
    with socket.create_connection((url.host, url.port), timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        refused = b""
        try:
            for _ in range(64):
                connection.sendall(b"x: " + b"y" * 16_384 + b"\r\n")
            refused = connection.recv(1000)
        except OSError:
            return
    assert refused == b"" or b" 400 " in refused or b" 431 " in refused
