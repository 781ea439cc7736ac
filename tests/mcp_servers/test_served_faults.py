"""Every kind of fault, as a real client meets it in both eras: in memory, over HTTP and over pipes."""

import asyncio
import contextlib
import json
import time

import anyio
import httpx2
import pytest
from envace_sdk.mcp_servers.server import RehearsedServer
from mcp import MCPError
from mcp.client.streamable_http import streamable_http_client
from served import control_server, http_server

from envace_sdk.faults import FaultPlan
from envace_sdk.rehearse import Worlds
from envace_sdk.tools.model import ToolCall

pytestmark = pytest.mark.anyio

KEY = "dev.envace/evidence"
PLAN = """
faults:
  - {kind: rate_limit, tools: add_item, when: args.title == 'limit', retry_after: 7}
  - {kind: permission, tools: add_item, when: args.title == 'permission', text: "{tool} is not for you"}
  - {kind: not_found, tools: add_item, when: args.title == 'missing'}
  - {kind: error, tools: add_item, when: args.title == 'error'}
  - {kind: timeout, tools: add_item, when: args.title == 'silence'}
  - {kind: timeout, tools: add_item, when: args.title == 'silence after', applied: true}
  - {kind: timeout, tools: add_item, when: args.title == 'bound', bound: 0.05}
  - {kind: timeout, tools: add_item, when: args.title == 'bound after', bound: 0.05, applied: true}
  - {kind: latency, tools: add_item, when: args.title == 'late', delay: 0.3}
  - {kind: malformed, tools: add_item, when: args.title == 'schema'}
  - {kind: malformed, tools: list_items}
  - {kind: malformed, tools: add_item, when: args.title == 'json', breaks: json}
  - {kind: disconnect, tools: add_item, when: args.title == 'disconnect'}
  - {kind: disconnect, tools: add_item, when: args.title == 'disconnect after', applied: true}
"""


@pytest.fixture(params=["http", "memory"])
def place(request, worlds):
    """Where the plan is served: something that a client connects to, time after time."""
    faulty = Worlds(worlds.environment, faults=worlds.environment.schedule(FaultPlan.parse(PLAN)))
    if request.param == "memory":
        yield lambda: RehearsedServer(faulty)
        return
    with http_server(faulty) as url:
        yield lambda: streamable_http_client(f"{url}/mcp")


@pytest.fixture
def process(folder, stdio, tmp_path):
    """The same, over standard input and output, with a database that outlives the process."""
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN)
    return lambda: stdio("--tools", folder, "--faults", plan, "--store", f"sqlite:///{tmp_path / 'worlds.db'}")


async def titles(connect, place):
    """The titles in the world, as another connection sees them."""
    async with connect(place()) as client:
        result = await client.call_tool("item_titles", {})
    return json.loads(result.content[0].text)


async def add(client, title, **more):
    return await client.call_tool("add_item", {"title": title}, **more)


@pytest.mark.parametrize(
    ("title", "fault", "outcome", "text"),
    [
        ("limit", "rate_limit", "rate_limited", "Rate limit exceeded. Try again in 7 seconds."),
        ("permission", "permission", "permission_error", "add_item is not for you"),
        ("missing", "not_found", "not_found", "Not found."),
        ("error", "error", "unknown", "Internal error."),
    ],
)
async def test_refusals_are_labelled_error_results(connect, place, title, fault, outcome, text):
    async with connect(place()) as client:
        result = await add(client, title)
    assert result.is_error
    assert result.content[0].text == text
    label = result.meta[KEY]
    assert (label["layer"], label["injected"], label["fault"], label["outcome"]) == ("fault", True, fault, outcome)
    assert await titles(connect, place) == []


@pytest.mark.parametrize("title", ["silence", "silence after"])
async def test_a_timeout_lasts_until_the_client_gives_up(connect, place, title):
    async with connect(place()) as client:
        with pytest.raises(MCPError, match=r"(?i)timed out"):
            await add(client, title, read_timeout_seconds=0.3)
        assert not (await add(client, "next")).is_error
    assert await titles(connect, place) == ([title] if title.endswith("after") else []) + ["next"]


async def test_a_call_cancelled_by_its_caller_is_over(connect, place):
    async with connect(place()) as client:
        with anyio.move_on_after(0.3):
            await add(client, "silence")
            raise AssertionError
        assert not (await add(client, "next")).is_error
    assert await titles(connect, place) == ["next"]


@pytest.mark.parametrize("title", ["bound", "bound after"])
async def test_a_timeouts_bound_is_an_error_of_the_protocol_with_the_label(connect, place, title):
    async with connect(place()) as client:
        with pytest.raises(MCPError, match="Request timed out") as error:
            await add(client, title)
    assert error.value.error.code == -32001
    assert error.value.error.data[KEY]["fault"] == "timeout"
    assert await titles(connect, place) == ([title] if title.endswith("after") else [])


async def test_latency_is_the_true_answer_late(connect, place):
    async with connect(place()) as client:
        await add(client, "warm")
        begin = time.monotonic()
        result = await add(client, "late")
        assert time.monotonic() - begin >= 0.3
    assert result.structured_content["title"] == "late"
    label = result.meta[KEY]
    assert (label["layer"], label["injected"], label["fault"]) == ("dynamics", True, "latency")


async def test_a_call_cancelled_while_its_answer_is_late_has_happened(connect, place):
    async with connect(place()) as client:
        with pytest.raises(MCPError, match=r"(?i)timed out"):
            await add(client, "late", read_timeout_seconds=0.2)
    assert await titles(connect, place) in (["late"], [])


async def test_malformed_results_fail_in_the_client(connect, place):
    async with connect(place()) as client:
        await client.list_tools()
        with pytest.raises(Exception, match=r"(?i)schema|structured|valid"):
            await add(client, "schema")
        with pytest.raises(Exception, match=r"(?i)valid"):
            await client.call_tool("list_items", {})
        with pytest.raises(Exception, match=r"(?i)schema|structured"):
            await add(client, "json")
    assert await titles(connect, place) == ["schema", "json"]


CLOSED = (MCPError, ConnectionError, httpx2.TransportError, anyio.ClosedResourceError, anyio.BrokenResourceError)


@pytest.mark.parametrize("title", ["disconnect", "disconnect after"])
async def test_the_connection_closes_instead_of_an_answer(connect, place, title):
    with contextlib.suppress(*CLOSED):
        async with connect(place()) as client:
            with pytest.raises(CLOSED):
                await add(client, title)
    assert await titles(connect, place) == ([title] if title.endswith("after") else [])


async def test_over_standard_input_and_output_every_kind_arrives_and_a_disconnect_ends_the_process(connect, process):
    with contextlib.suppress(*CLOSED):
        async with connect(process()) as client:
            await client.list_tools()
            refused = [await add(client, title) for title in ("limit", "permission", "missing", "error")]
            assert [result.is_error for result in refused] == [True] * 4
            assert (await add(client, "late")).meta[KEY]["fault"] == "latency"
            with pytest.raises(MCPError, match=r"(?i)timed out"):
                await add(client, "silence", read_timeout_seconds=0.5)
            with pytest.raises(MCPError, match="Request timed out"):
                await add(client, "bound after")
            with pytest.raises(Exception, match=r"(?i)schema|structured|valid"):
                await add(client, "schema")
            with pytest.raises(Exception, match=r"(?i)valid"):
                await client.call_tool("list_items", {})
            with pytest.raises(CLOSED):
                await add(client, "disconnect after")
    assert await titles(connect, process) == ["late", "bound after", "schema", "disconnect after"]


async def test_the_same_seed_gives_the_same_faults_to_every_client(connect, worlds):
    plan = FaultPlan.from_document({"faults": [{"kind": "error", "probability": 0.4}]})

    async def pattern(seed):
        environment = worlds.environment
        server = RehearsedServer(Worlds(environment, seed=seed, faults=environment.schedule(plan)))
        async with connect(server) as client:
            return [(await add(client, "x")).is_error for _ in range(20)]

    first = await pattern(1)
    assert set(first) == {True, False}
    assert await pattern(1) == first
    assert await pattern(2) != first


async def test_calls_at_the_same_time_meet_each_their_own_fault(connect, place):
    async with connect(place()) as client:
        results = await asyncio.gather(*[add(client, title) for title in ("late", "a", "limit", "b")])
        assert [result.is_error for result in results] == [False, False, True, False]
    assert sorted(await titles(connect, place)) == ["a", "b", "late"]


def test_faults_are_switched_from_the_command_line_while_a_server_runs(cli, worlds, tmp_path, runtime):
    worlds.get()
    plan = tmp_path / "mine.yaml"
    plan.write_text(PLAN)
    with control_server(worlds):
        assert cli("world", "faults", "default").out == "todo/default: faults off\n"
        assert "faults mine" in cli("world", "faults", "default", plan).out
        asyncio.run(worlds.call("default", _call("limit")))
        shown = cli("world", "faults", "default").out
        assert 'rate_limit: struck 1 of 1 matching calls (tools ["add_item"]' in shown
        assert "faults mine" in cli("world", "show", "default").out
        assert json.loads(cli("world", "faults", "default", "slow", "--format", "json").out)["faults"] == "slow"
        assert cli("world", "faults", "default", "off").out == "todo/default: faults off\n"
        assert asyncio.run(worlds.call("default", _call("limit"))).fault is None
        nothing = cli("world", "faults", "default", "flakey")
        assert (nothing.code, "presets: flaky" in nothing.err) == (3, True)
        plan.write_text("faults: [{kind: error, tools: ad_item}]")
        wrong = cli("world", "faults", "default", plan)
        assert (wrong.code, "no tool matches 'ad_item'" in wrong.err) == (3, True)


def test_a_plan_that_cannot_be_used_keeps_a_server_from_starting(cli, folder, tmp_path):
    plan = tmp_path / "bad.yaml"
    plan.write_text("faults: [{kind: error, every: x}]")
    result = cli("serve", "--tools", folder, "--faults", plan)
    assert result.code == 3
    assert "bad.yaml: faults[0].every" in result.err


def _call(title):
    return ToolCall("add_item", {"title": title})
