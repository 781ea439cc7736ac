import asyncio

import pytest
from examined import episode, fixtures, toolset

from envace_sdk.evaluate import MISS, CheckedReplay, ExactReplay, NearestReplay
from envace_sdk.tools.model import ToolCall

KNOWN = fixtures(
    episode(
        "known",
        ("get", {"id": 5, "deep": True}, {"id": 5, "title": "Milk of N-5"}),
        ("say", {"to": "alice", "what": "hi"}, "Told alice: hi (alice is here)"),
        ("get", {"id": 7}, {"id": 7}),
        ("get", {"id": 7}, {"id": 7, "again": True}),
    )
)
STRICT = {"inputSchema": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}}


def answers(player, *calls):
    async def play():
        session = await player.start("x")
        return [await session.answer(ToolCall(name, arguments)) for name, arguments in calls]

    return asyncio.run(play())


def test_exact_replay_answers_as_last_recorded_and_misses_the_rest():
    known, unknown = answers(ExactReplay(KNOWN), ("get", {"id": 7}), ("get", {"id": 8}))
    assert known.result.value() == {"id": 7, "again": True}
    assert (unknown.layer, unknown.result.is_error) == (MISS, True)


def test_the_nearest_recording_is_answered_with_the_arguments_replaced():
    (found,) = answers(NearestReplay(KNOWN), ("get", {"id": 9, "deep": True}))
    assert found.result.value() == {"id": 9, "title": "Milk of N-5"}
    (said,) = answers(NearestReplay(KNOWN), ("say", {"to": "bob", "what": "hi"}))
    assert said.result.first_text == "Told bob: hi (bob is here)"


def test_a_tool_that_was_never_recorded_is_a_miss():
    (found,) = answers(NearestReplay(KNOWN), ("fly", {}))
    assert found.layer == MISS


def test_with_checks_what_the_schema_forbids_is_refused_and_equal_calls_are_counted():
    player = CheckedReplay(KNOWN, {"get": toolset(get=STRICT)["get"]})
    found = answers(player, ("get", {"id": "x"}), *[("get", {"id": 7})] * 3)
    assert (found[0].layer, found[0].result.is_error) == ("arguments", True)
    assert [one.result.value() for one in found[1:]] == [{"id": 7}, {"id": 7, "again": True}, {"id": 7, "again": True}]


@pytest.mark.parametrize("player", [ExactReplay([]), NearestReplay([]), CheckedReplay([], {})])
def test_without_recordings_every_call_is_a_miss(player):
    assert [found.layer for found in answers(player, ("get", {"id": 7}))] == [MISS]
