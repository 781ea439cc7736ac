"""Which action a call is, and the frames and events of a gateway, whatever they hold."""

import asyncio
import json

import pytest
from envace_sdk.mcp_servers.gateway_events import events, written
from envace_sdk.mcp_servers.gateway_frames import CannotPass, cleaned, dump, parse
from envace_sdk.mcp_servers.gateway_numbers import Numbering
from gateways import guarding
from guarded_desk import environment
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import ApprovalRequired, NotExecutedError, TimedOutError
from envace_sdk.evidence.label import PREFIX
from envace_sdk.guard import Action

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
LOOK = Action("get_order", {"order_id": "O-1"}, thread="chat")
NOTE = Action("set_note", {"order_id": "O-1", "note": "x"}, thread="chat")


@pytest.fixture
def guard(tmp_path):
    policy = "rules: [{tools: [get_order], then: commit}, {tools: [set_note], then: commit}]"
    with guarding(environment(), tmp_path, policy=policy) as made:
        yield made


def begun(guard, action):
    return guard.begin_sync(action)


def test_a_call_after_one_that_was_executed_is_a_new_one(guard):
    numbering = Numbering(guard.journal)
    for nth in range(3):
        action = numbering.take(LOOK)
        with numbering.held(action):
            assert action.nth == nth
            guard.finish(begun(guard, action), {})
    assert Numbering(guard.journal).take(LOOK).nth == 3, "the ledger remembers"


def test_calls_at_the_same_time_are_several_and_one_that_never_ran_is_open_again(guard):
    numbering = Numbering(guard.journal)
    first, second = numbering.take(LOOK), numbering.take(LOOK)
    assert (first.nth, second.nth) == (0, 1)
    with numbering.held(first):
        guard.fail(begun(guard, first), NotExecutedError("no connection"))
    assert numbering.take(LOOK).nth == 0


def test_one_in_doubt_stays_the_one_unless_it_changes_nothing(guard):
    numbering = Numbering(guard.journal)
    for made, later in ((LOOK, 1), (NOTE, 0)):
        action = numbering.take(made)
        with numbering.held(action):
            guard.fail(begun_anyhow(guard, action), TimedOutError("lost"))
        assert numbering.take(made).nth == later


def begun_anyhow(guard, action):
    try:
        return begun(guard, action)
    except ApprovalRequired as pause:
        guard.approve(pause.approval, by="ann")
        return begun(guard, action)


def test_threads_are_told_apart(guard):
    numbering = Numbering(guard.journal)
    other = Action(LOOK.tool, LOOK.arguments, thread="other")
    assert [numbering.take(one).nth for one in (LOOK, other)] == [0, 0]


@given(JSON)
def test_what_is_sent_on_is_what_was_judged(value):
    message = {"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"value": value}}
    text = json.dumps(message).encode()
    try:
        parsed = parse(text)
    except CannotPass:  # a lone surrogate: text that cannot be written as UTF-8
        assert "\\ud" in text.decode()
        return
    assert json.loads(dump(parsed)) == message


@given(st.binary(max_size=60))
def test_anything_that_is_no_message_is_answered_or_dropped(text):
    answer = {"error": {}}
    try:
        parse(text)
    except CannotPass as problem:
        answer = problem.answer
    assert answer is None or "error" in answer


@given(st.sampled_from(["params", "result"]), st.dictionaries(st.text(), JSON, max_size=3), JSON)
def test_no_label_of_ours_survives_in_metadata(member, meta, value):
    forged = {PREFIX + "evidence": value, PREFIX.upper() + "guard": value}
    block = {"type": "text", "_meta": {**meta, **forged}}
    message = {"id": 1, member: {"_meta": {**meta, **forged}, "content": [block]}}
    clean = cleaned(message)
    assert clean is not message
    assert not any(key.casefold().startswith(PREFIX) for key in clean[member]["_meta"])
    if member == "result":
        assert not any(key.casefold().startswith(PREFIX) for key in clean[member]["content"][0]["_meta"])


@given(st.lists(st.binary(max_size=20)), st.sampled_from([b"\n\n", b"\r\n\r\n", b"\r\r"]), st.integers(1, 7))
def test_events_come_out_as_they_went_in_however_they_are_cut(texts, end, size):
    datas = [text.replace(b"\r", b" ").replace(b"\n", b" ").strip() for text in texts]
    line = end[: len(end) // 2]
    raws = [b"id: 7" + line + b"data: " + data + end for data in datas]
    stream = b"".join(raws)

    async def chunks():
        for start in range(0, len(stream), size):
            yield stream[start : start + size]

    async def collected():
        return [event async for event in events(chunks())]

    found = asyncio.run(collected())
    assert [event.raw for event in found] == raws
    assert [event.data for event in found] == datas
    assert {event.id for event in found} <= {"7"}
    assert all(event.with_data(b"new") == b"id: 7\ndata: new\n\n" for event in found)
    assert written(b"{}").endswith(b"data: {}\n\n")
