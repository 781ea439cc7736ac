"""The gateway over HTTP, with the Python client of both eras in front of it and a served toolset behind it."""

import contextlib
import json

import anyio
import httpx
import mcp.types as t
import pytest
from gateways import guarding, http_gateway
from mcp import Client
from served import http_server, unlabelled

from envace_sdk.errors import StoreError
from envace_sdk.evidence.label import KEY
from envace_sdk.ledger.verify import verify
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.tools.toolset import Toolset

pytestmark = pytest.mark.anyio

VERDICT = "dev.envace/guard"
ADD = ("add_item", {"title": "Milk"})


@pytest.fixture
def guard(worlds, tmp_path):
    with guarding(worlds.environment, tmp_path) as made:
        yield made


@pytest.fixture
def real(worlds):
    """The real side, with a world of its own that does not say that it is none; gives its URL and the world."""
    behind = Worlds(worlds.environment)
    with http_server(behind, wrap=unlabelled) as base:
        yield f"{base}/todo/mcp", behind


@pytest.fixture
def url(guard, real):
    with http_gateway(guard, real[0]) as made:
        yield made


@pytest.fixture
def client(url, mode):
    """Opens a client of the era, with somebody at it who answers questions in that way, or nobody."""

    @contextlib.asynccontextmanager
    async def opened(answer=None, *, url=url, **content):
        asked = []

        async def elicit(_context, params):
            asked.append(params.message)
            return t.ElicitResult(action=answer, content=content or None)

        with anyio.fail_after(30):
            async with Client(url, mode=mode, elicitation_callback=elicit if answer else None) as made:
                yield made, asked

    return opened


def items(real):
    return len(real[1].get("default").state.collections.get("items", {}))


def said(result):
    return result.content[0].text


def kinds(guard, action=None):
    return [entry.kind for entry in guard.ledger.entries() if action is None or entry.action == action]


async def test_the_catalogue_is_the_server_s_own(url, real):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": _envelope()}}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/list",
    }
    async with httpx.AsyncClient() as plain:
        there, here = [await plain.post(where, json=body, headers=headers) for where in (real[0], url)]
    assert here.status_code == 200
    assert here.content == there.content


def _envelope():
    prefix = "io.modelcontextprotocol/"
    return {prefix + "protocolVersion": "2026-07-28", prefix + "clientCapabilities": {}}


async def test_what_changes_nothing_passes_and_is_labelled_observed(client):
    async with client() as (one, _):
        listed = await one.call_tool("list_items", {})
    assert not listed.is_error
    assert listed.meta[KEY]["kind"] == "observed"
    assert VERDICT not in listed.meta


async def test_a_risky_call_is_asked_about_at_the_client_and_runs_once_it_is_approved(client, guard, real):
    async with client("accept", decision="approve", comment="fine") as (one, asked):
        made = await one.call_tool(*ADD)
        assert [items(real), made.is_error] == [1, False]
        assert made.meta[KEY]["kind"] == "observed"
        await one.call_tool(*ADD)
    assert items(real) == 2
    assert len(asked) == 2, "an approval serves one call"
    assert "add_item" in asked[0]
    assert "Nothing was executed" in asked[0]
    [first, _] = guard.ledger.approvals.select(state="used")
    assert [(one.by, one.via) for one in first.decisions] == [("ann", "gateway")]
    assert kinds(guard, first.action) == [
        "rehearsed",
        "approval_requested",
        "decision",
        "approval_decided",
        "decision",
        "approval_used",
        "commit",
        "observed",
        "scored",
    ]
    with guard.ledger.database.reading() as connection:
        assert verify(connection).findings == ()


@pytest.mark.parametrize("answer", [{"answer": "accept", "decision": "reject"}, {"answer": "decline"}])
async def test_what_is_rejected_at_the_client_is_not_executed_and_does_not_look_so(client, guard, real, answer):
    async with client(**answer) as (one, asked):
        refused = await one.call_tool(*ADD)
        again = await one.call_tool(*ADD)
    assert items(real) == 0
    assert len(asked) == 1, "a rejection holds for the call"
    for result in (refused, again):
        assert result.is_error
        assert said(result).startswith("NOT EXECUTED.")
        assert KEY not in result.meta
        assert result.meta[VERDICT]["executed"] is False
    assert "observed" not in kinds(guard)


async def test_a_question_that_is_put_aside_stays_with_the_ledger(client, guard, real):
    async with client("cancel") as (one, asked):
        waiting = await one.call_tool(*ADD)
    assert (items(real), len(asked)) == (0, 1)
    assert waiting.meta[VERDICT]["verdict"] == "ask"
    assert guard.ledger.approvals.get(waiting.meta[VERDICT]["approval"]).state == "pending"


async def test_without_forms_an_approval_waits_in_the_ledger_and_the_same_call_uses_it_once(client, guard, real):
    async with client() as (one, _):
        waiting = await one.call_tool(*ADD)
        assert waiting.is_error
        approval = waiting.meta[VERDICT]["approval"]
        assert said(waiting).startswith("NOT EXECUTED.")
        assert f"envace-sdk approvals approve {approval}" in said(waiting)
        assert (await one.call_tool(*ADD)).meta[VERDICT]["approval"] == approval, "it is not asked twice"
        guard.approve(approval, by="ben")
        other = await one.call_tool("add_item", {"title": "Bread"})
        assert other.is_error, "an approval is bound to the arguments"
        assert items(real) == 0
        done = await one.call_tool(*ADD)
        assert (done.is_error, items(real)) == (False, 1)
        third = await one.call_tool(*ADD)
    assert third.is_error
    assert third.meta[VERDICT]["approval"] != approval
    assert items(real) == 1


async def test_equal_calls_at_the_same_time_need_an_approval_each(client, guard, real):
    answers = []
    async with client() as (one, _):

        async def call():
            answers.append(await one.call_tool(*ADD))

        async with anyio.create_task_group() as both:
            both.start_soon(call)
            both.start_soon(call)
        approvals = {one.meta[VERDICT]["approval"] for one in answers}
        guard.approve(approvals.pop(), by="ben")
        async with anyio.create_task_group() as both:
            both.start_soon(call)
            both.start_soon(call)
    assert items(real) == 1


async def test_of_equal_calls_the_one_that_was_approved_is_executed_whichever_comes_again(client, guard, real):
    answers = []
    async with client() as (one, _):

        async def call():
            answers.append(await one.call_tool(*ADD))

        async with anyio.create_task_group() as both:
            both.start_soon(call)
            both.start_soon(call)
        for approval in sorted({one.meta[VERDICT]["approval"] for one in answers})[-1:]:
            guard.approve(approval, by="ben")
        await one.call_tool(*ADD)
    assert items(real) == 1


async def test_what_a_policy_blocks_is_not_executed(client):
    async with client("accept", decision="approve") as (one, asked):
        blocked = await one.call_tool("broken_item", {})
    assert asked == []
    assert "nobody may" in said(blocked)
    assert blocked.meta[VERDICT]["verdict"] == "block"


async def test_the_kill_switch_holds_from_the_next_call_on(client, guard):
    async with client() as (one, _):
        assert not (await one.call_tool("list_items", {})).is_error
        guard.stop(by="ann", reason="incident 7")
        stopped = await one.call_tool("list_items", {})
    assert "incident 7" in said(stopped)
    assert said(stopped).startswith("NOT EXECUTED.")


async def test_a_tool_that_the_guard_does_not_know_is_refused(worlds, tmp_path, mode):
    known = Environment(Toolset.from_definitions([], name="todo"))
    behind = Worlds(worlds.environment)
    with (
        guarding(known, tmp_path) as guard,
        http_server(behind, wrap=unlabelled) as base,
        http_gateway(guard, f"{base}/todo/mcp") as url,
    ):
        async with Client(url, mode=mode) as one:
            waiting = await one.call_tool("list_items", {})
    assert waiting.meta[VERDICT]["verdict"] == "block"
    assert said(waiting).startswith("NOT EXECUTED.")


@pytest.mark.parametrize("step", ["write", "commit"])
async def test_when_the_ledger_fails_nothing_is_executed(client, guard, real, monkeypatch, step):
    def broken(*_args, **_kwargs):
        raise StoreError("the disk is full")

    async with client("accept", decision="approve") as (one, _):
        await one.list_tools()
        monkeypatch.setattr(guard.ledger, step, broken)
        before = items(real)
        for call in (ADD, ("list_items", {})):
            failed = await one.call_tool(*call)
            assert failed.is_error
            assert said(failed).startswith("NOT EXECUTED.")
            assert "the disk is full" in said(failed)
    assert items(real) == before


async def test_an_outcome_that_cannot_be_written_down_is_in_doubt_and_not_run_again(client, guard, real, monkeypatch):
    def broken(*_args, **_kwargs):
        raise StoreError("the disk is full")

    async with client("accept", decision="approve") as (one, _):
        with monkeypatch.context() as patched:
            patched.setattr(guard.ledger, "observed", broken)
            first = await one.call_tool(*ADD)
        again = await one.call_tool(*ADD)
    for result in (first, again):
        assert result.is_error
        assert said(result).startswith("IN DOUBT.")
        assert result.meta[VERDICT]["executed"] is None
    assert items(real) == 1


def test_a_server_that_cannot_be_reached_uses_no_approval_up(guard, real):
    with http_gateway(guard, real[0]) as url:
        approval = _asked(url, forms=False)["_meta"][VERDICT]["approval"]
    guard.approve(approval, by="ben")
    with http_gateway(guard, "http://127.0.0.1:9/mcp") as url:
        unreached = _asked(url, forms=False)
        listed = httpx.post(url, json={"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    assert unreached["isError"]
    assert unreached["content"][0]["text"].startswith("NOT EXECUTED.")
    assert listed.status_code == 502
    assert "cannot be reached" in listed.json()["error"]["message"]
    with http_gateway(guard, real[0]) as url:
        done = _asked(url, forms=False)
    assert done["isError"] is False, "it was approved, and had not been executed"
    assert items(real) == 1


async def test_clients_do_not_share_what_was_approved_for_one(client, guard, mode):
    async with client() as (one, _), client() as (two, _):
        first = await one.call_tool(*ADD)
        second = await two.call_tool(*ADD)
    # Clients of the stateless era without credentials cannot be told apart.
    alike = first.meta[VERDICT]["approval"] == second.meta[VERDICT]["approval"]
    assert alike == (mode == "auto")


def test_sessions_and_credentials_are_not_written_down(url, guard):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add_item", "arguments": ADD[1]}}
    for token in ("Bearer one", "Bearer two", "Bearer two"):
        httpx.post(url, json=body, headers={"authorization": token, "accept": "application/json"})
    runs = {entry.run for entry in guard.ledger.entries() if entry.kind == "decision"}
    assert len(runs) == 2
    assert "one" not in json.dumps([*runs])


def _asked(url, *, forms=True, **params):
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "add_item",
    }
    meta = {**_envelope(), "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}} if forms else {}}
    call = {"name": "add_item", "arguments": {"title": "Milk"}, **params, "_meta": meta}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return httpx.post(url, json=body, headers=headers).json()["result"]


YES = {"approval": {"action": "accept", "content": {"decision": "approve"}}}


def test_an_answer_that_is_sent_twice_runs_the_call_once(url, real):
    asked = _asked(url)
    assert asked["resultType"] == "input_required"
    answered = {"requestState": asked["requestState"], "inputResponses": YES}
    first, second = _asked(url, **answered), _asked(url, **answered)
    assert items(real) == 1
    assert first["structuredContent"] == second["structuredContent"]
    assert first["_meta"][KEY]["kind"] == second["_meta"][KEY]["kind"] == "observed"
    assert second["_meta"][VERDICT] == {"executed": True, "replayed": True}


def test_an_answer_that_comes_with_other_arguments_approves_nothing(url, real):
    asked = _asked(url)
    other = _asked(url, requestState=asked["requestState"], inputResponses=YES, arguments={"title": "All of it"})
    assert other["resultType"] == "input_required"
    assert items(real) == 0


@pytest.mark.parametrize("state", ["envace-gateway.AAAA", "envace-gateway.ä", "envace-gateway." + "A" * 200])
def test_a_state_that_is_not_of_the_gateway_s_making_approves_nothing(url, real, state):
    forged = _asked(url, requestState=state, inputResponses=YES)
    assert forged["resultType"] == "input_required"
    assert items(real) == 0
