"""Health, readiness and metrics."""

import contextlib
import re

import httpx2
import pytest
from envace_sdk.mcp_servers.address import Address, Names
from envace_sdk.mcp_servers.control import Control
from envace_sdk.mcp_servers.http import HttpOptions, build_app
from envace_sdk.mcp_servers.metrics import LAYERS, STATUSES, TOOLS, Metrics
from envace_sdk.mcp_servers.server import RehearsedServer
from mcp import Client, MCPError

from envace_sdk.errors import UnsavedWorldError
from envace_sdk.evidence.label import Rehearsed, label
from envace_sdk.tools.model import ToolResult

pytestmark = pytest.mark.anyio


@contextlib.asynccontextmanager
async def _client(worlds, **options):
    realms = {"todo": worlds}
    settings = HttpOptions(**{"names": Names(Address("127.0.0.1", 8000)), **options})
    app = build_app(realms, Control(realms, transport="http"), settings)
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            yield client


@pytest.mark.parametrize("path", ["/health", "/healthz", "/readyz"])
async def test_probes_need_no_token(worlds, path):
    async with _client(worlds, auth_token="secret") as client:
        answer = await client.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_a_server_whose_store_is_away_is_up_and_not_ready(worlds):
    asked = []

    async def away():
        asked.append(True)
        return False

    async with _client(worlds, ready=away) as client:
        assert (await client.get("/healthz")).status_code == 200
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()) == (503, {"status": "the store cannot be reached"})
        for _ in range(5):
            assert (await client.get("/readyz")).status_code == 503
        assert len(asked) == 1, "whoever asks again at once is told the same"


async def test_metrics_need_the_token_that_clients_need(worlds):
    async with _client(worlds, auth_token="secret") as client:
        assert (await client.get("/metrics")).status_code == 401
        answer = await client.get("/metrics", headers={"authorization": "Bearer secret"})
        assert answer.status_code == 200


async def test_a_page_of_another_origin_gets_none_of_them(worlds):
    async with _client(worlds) as client:
        for path in ("/healthz", "/readyz", "/metrics"):
            assert (await client.get(path, headers={"host": "evil.example"})).status_code == 421
        assert (await client.get("/metrics")).headers["content-type"].startswith("text/plain")


async def test_calls_are_counted_by_tool_layer_and_status(worlds, mode):
    metrics = Metrics()
    meter = metrics.of("todo", frozenset(tool.name for tool in worlds.environment.toolset))
    async with Client(RehearsedServer(worlds, meter=meter), mode=mode) as client:
        await client.call_tool("add_item", {"title": "Milk"})
        await client.call_tool("get_item", {"item_id": "I-9"})
        await client.call_tool("broken_item", {})
        with pytest.raises(MCPError):
            await client.call_tool("no such tool", {})
    text = metrics.text().decode()
    counted = dict(re.findall(r"^envace_calls_total\{(.*)\} (.*)$", text, re.MULTILINE))
    assert counted == {
        'layer="dynamics",status="success",tool="add_item",toolset="todo"': "1.0",
        'layer="dynamics",status="not_found",tool="get_item",toolset="todo"': "1.0",
        'layer="none",status="unknown",tool="broken_item",toolset="todo"': "1.0",
        'layer="none",status="error",tool="unknown",toolset="todo"': "1.0",
    }
    assert 'envace_errors_total{kind="unknown_tool",toolset="todo"} 1.0' in text
    assert 'envace_errors_total{kind="not_rehearsed",toolset="todo"} 1.0' in text
    assert 'envace_call_seconds_count{layer="dynamics",toolset="todo"} 2.0' in text


async def test_a_database_that_is_away_is_no_answer_of_a_tool(worlds, mode, monkeypatch):
    async def away(world):
        raise UnsavedWorldError("the database is away: nothing has happened")

    monkeypatch.setattr(worlds, "save", away)
    async with Client(RehearsedServer(worlds), mode=mode) as client:
        with pytest.raises(MCPError, match="nothing has happened"):
            await client.call_tool("add_item", {"title": "Milk"})
    assert worlds.get().state.version == 0


def test_labels_are_bounded_whatever_is_called():
    metrics = Metrics()
    tools = frozenset(f"tool-{n}" for n in range(TOOLS + 50))
    meter = metrics.of("t", tools)
    odd = label(Rehearsed(layer="dynamics", confidence=1.0, outcome="success", world="w", version=1, toolset="t"))
    for name in (*tools, *(f"invented-{n}" for n in range(100))):
        meter.answered(name, ToolResult((), meta=odd), 0.1)
        meter.failed(name, RuntimeError(name), 0.1)
    text = metrics.text().decode()
    assert len(set(re.findall(r'tool="([^"]*)"', text))) == TOOLS + 2
    assert "invented" not in text
    assert set(re.findall(r'layer="([^"]*)"', text)) <= LAYERS
    assert set(re.findall(r'status="([^"]*)"', text)) <= STATUSES | {"error"}
    assert set(re.findall(r'kind="([^"]*)"', text)) == {"internal"}
