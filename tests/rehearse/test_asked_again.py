"""Reads asked again are answered the same, until something is written or the real environment is seen to answer."""

import json
from dataclasses import replace
from itertools import count
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notes_toolset import TEXT, Session, observed, tool

from envace_sdk.evidence.label import KEY
from envace_sdk.rehearse import Environment, Rehearsal
from envace_sdk.rehearse.again import answered_again, forgotten, with_answer
from envace_sdk.rehearse.base import Layer, Outcome
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

TOOLS = [
    tool("look", {"at": TEXT}, ["at"], annotations={"readOnlyHint": True}),
    tool("push", {"what": TEXT}),
]
PUSHED = (observed("push", {"what": "door"}, "It opens."),)
LOOK = ToolCall("look", {"at": "sky"})
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=8), part, max_size=3),
    max_leaves=8,
)


class Fickle:
    """A learned role that says something else each time it is asked."""

    def __init__(self):
        self.numbers = count(1)

    async def rehearse(self, call, context):
        if call.name != "look":
            return None
        result = ToolResult.json({"seen": next(self.numbers)}, structured=False)
        return Rehearsal(result, context.state, "model", confidence=0.7, model="fickle", prompt_hash="ab12")


def fickle(precedents=PUSHED):
    environment = Environment(
        Toolset.from_definitions(TOOLS, name="room"),
        dynamics=Dynamics.parse("tools: {look: {effect: opaque}, push: {effect: opaque}}"),
        precedents=precedents,
        model=Fickle(),
    )
    return Session(environment, environment.world())


def restored(session, state):
    """The session in a world that was read from a snapshot."""
    world = session.environment.world("restored")
    world.commit(State.from_json(json.loads(json.dumps(state.to_json()))))
    return Session(session.environment, world)


def test_a_read_asked_again_is_answered_the_same_and_says_so():
    room = fickle()
    first = room("look", at="sky")
    room("look", at="floor")
    again = room("look", at="sky")
    assert again.result.content == first.result.content
    assert "answered so before" in again.reason
    assert room.value("look", at="floor") != first.result.value()


def test_what_is_asked_again_changes_nothing():
    room = fickle()
    room("look", at="sky")
    before = room.world.state
    room("look", at="sky")
    assert room.world.state is before


def test_a_write_opens_the_answer_again():
    room = fickle()
    first = room.value("look", at="sky")
    room("push", what="door")
    assert room.value("look", at="sky") != first


def test_the_order_of_arguments_does_not_matter_and_their_values_do():
    tools = [tool("look", {"at": TEXT, "with": TEXT}, annotations={"readOnlyHint": True})]
    environment = Environment(
        Toolset.from_definitions(tools, name="room"),
        dynamics=Dynamics.parse("tools: {look: {effect: opaque}}"),
        precedents=[observed("look", {"at": "x"}, "y")],
        model=Fickle(),
    )
    room = Session(environment, environment.world())
    first = room.value("look", **{"at": "sky", "with": "glass"})
    assert room.value("look", **{"with": "glass", "at": "sky"}) == first
    assert room.value("look", **{"with": "sky", "at": "glass"}) != first


def test_forks_and_snapshots_carry_what_was_answered_and_other_worlds_do_not():
    room = fickle()
    first = room.value("look", at="sky")
    fork = room.fork()
    assert fork.value("look", at="sky") == first
    assert restored(room, room.world.state).value("look", at="sky") == first
    fork("push", what="door")
    assert fork.value("look", at="sky") != first
    assert room.value("look", at="sky") == first
    assert Session(room.environment, room.environment.world("other")).value("look", at="sky") != first


def test_the_model_and_its_prompt_stand_in_the_label_of_the_second_answer_too():
    room = fickle()
    first, again = (room("look", at="sky").result.meta[KEY] for _ in range(2))
    assert {name: again[name] for name in ("layer", "model", "prompt_hash", "confidence")} == {
        name: first[name] for name in ("layer", "model", "prompt_hash", "confidence")
    }


def test_what_the_real_environment_answered_since_is_not_hidden_by_what_was_rehearsed_before():
    room = fickle()
    first = room.value("look", at="sky")
    for call, answer in [
        (ToolCall("look", {"at": "floor"}), ToolResult.text("a carpet")),
        (LOOK, ToolResult.text("no sky here", is_error=True)),
    ]:
        state = room.environment.observe(room.world.state, call, answer)
        assert answered_again(LOOK, state) is None
    room.world.commit(state)
    assert room.value("look", at="sky") != first


def test_where_nothing_was_recorded_nothing_is_remembered():
    room = fickle(precedents=())
    before = room.world.state
    assert room.value("look", at="sky") != room.value("look", at="sky")
    assert room.world.state is before


def test_what_is_remembered_stays_bounded_however_much_is_asked():
    state = State()
    answer = Rehearsal(ToolResult.text("x" * 9_000), state, "schema", confidence=0.1)
    for number in range(3_000):
        state = with_answer(ToolCall("look", {"at": f"place {number}"}), answer, state)
    assert len(state.history) <= 257
    assert len(json.dumps(state.to_json())) < 3_000_000


def test_calls_whose_answers_are_kept_in_one_place_are_told_apart():
    state = with_answer(LOOK, Rehearsal(ToolResult.text("blue"), State(), "schema"), State())
    others = [ToolCall("look", {"at": f"place {number}"}) for number in range(3_000)]
    assert not any(answered_again(call, state) for call in others)
    replaced = [with_answer(call, Rehearsal(ToolResult.text("x"), state, "schema"), state) for call in others]
    assert any(answered_again(LOOK, one) is None for one in replaced)


@pytest.mark.parametrize(
    "result",
    [
        ToolResult.text("x" * 30_000),
        ToolResult.json({"x": ["y" * 100] * 300}, structured=True),
        replace(ToolResult.text("x"), fault={"code": -32603, "message": "broken"}),
    ],
    ids=["long text", "long data", "no result"],
)
def test_what_is_too_long_or_no_result_is_not_remembered(result):
    state = State()
    assert with_answer(LOOK, Rehearsal(result, state, "schema"), state) is state


def test_data_that_is_null_is_told_from_none():
    for result in (ToolResult.text("null"), ToolResult(({"type": "text", "text": "null"},), None)):
        state = with_answer(LOOK, Rehearsal(result, State(), "schema"), State())
        assert answered_again(LOOK, state).result == result


def test_what_was_looked_for_and_never_seen_is_still_told():
    unseen = frozenset({("things", "sky"), ("places", None)})
    error = ToolResult.text("not found", is_error=True)
    state = with_answer(LOOK, Rehearsal(error, State(), "dynamics", "not_found", 0.8, unseen=unseen), State())
    again = answered_again(LOOK, state)
    assert (again.unseen, again.outcome, again.result.is_error) == (unseen, "not_found", True)


def kept():
    """A state that remembers an answer, the name under which it does, and what it remembers."""
    state = with_answer(LOOK, Rehearsal(ToolResult.text("blue"), State(), "model", confidence=0.5), State())
    [name] = state.history
    return state, name, json.loads(state.history[name])


def test_a_snapshot_cannot_bring_a_label_of_ours():
    state, name, row = kept()
    row["content"] = [{"type": "text", "text": "blue", "_meta": {KEY: {"kind": "observed"}, "other": 1}}]
    again = answered_again(LOOK, state.replace(history=state.history.set(name, json.dumps(row))))
    assert again.result.content == ({"type": "text", "text": "blue", "_meta": {"other": 1}},)


@pytest.mark.parametrize(
    "text", ["", "[" * 100_000, "[" * 19_000, '{"call":' * 20_000, "null", "{}", "[1]", '"x"', "\ud800", "x" * 10**6]
)
def test_a_snapshot_that_holds_something_else_there_is_passed_over(text):
    state, name, _ = kept()
    assert answered_again(LOOK, state.replace(history=state.history.set(name, text))) is None


@settings(max_examples=200, deadline=None)
@given(changed=st.dictionaries(st.sampled_from(sorted(kept()[2])), ANYTHING, min_size=1, max_size=3))
def test_whatever_a_snapshot_holds_the_answer_is_a_rehearsal_or_none(changed):
    state, name, row = kept()
    again = answered_again(LOOK, state.replace(history=state.history.set(name, json.dumps({**row, **changed}))))
    if again is not None:
        assert again.layer in get_args(Layer)
        assert again.outcome == "success" or again.outcome in get_args(get_args(Outcome)[1])
        assert 0 <= again.confidence <= 1
        assert isinstance(again.result.is_error, bool)
        assert all(isinstance(block, dict) for block in again.result.content)
        assert not again.result.meta
        assert {"call", "at"}.isdisjoint(changed) or (
            changed.get("call", row["call"]),
            changed.get("at", row["at"]),
        ) == (
            row["call"],
            row["at"],
        )


@pytest.mark.parametrize("held", ["x", "-1", "1" * 5_000, "²"])
def test_a_count_of_what_was_seen_that_is_none_begins_anew(held):
    state, _, _ = kept()
    broken = state.replace(history=state.history.set("rehearse.again", held))
    assert answered_again(LOOK, broken) is not None
    assert answered_again(LOOK, forgotten(broken)) is None
