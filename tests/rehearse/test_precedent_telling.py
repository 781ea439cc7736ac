"""How a precedent is told again, what a world remembers, and what any recording may hold."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from notes_toolset import TEXT, Session, observed, tool
from things_desk import Desk, desk_environment, made_up_call, recorded

from envace_sdk.recordings.format import Event as Notice
from envace_sdk.rehearse import Environment
from envace_sdk.rehearse.agreement import Agreement
from envace_sdk.rehearse.precedents.events import Event
from envace_sdk.rehearse.precedents.journal import noted, read_journal
from envace_sdk.rehearse.precedents.retell import substituted, with_value
from envace_sdk.rehearse.precedents.scene import REMEMBERED
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

OPAQUE = Dynamics.parse("tools: {show: {effect: opaque}, put: {effect: opaque}}")
SHOW = tool("show", {"name": TEXT})


def session_on(fixtures, tools=(SHOW,), dynamics=OPAQUE, **options):
    environment = Environment(
        Toolset.from_definitions(list(tools), name="any"), dynamics=dynamics, precedents=fixtures, **options
    )
    return Session(environment, environment.world())


def said(name, result, episode):
    return Fixture(ToolCall("show", {"name": name}), result, episode)


def test_all_pairs_are_replaced_at_once_and_as_whole_words():
    assert substituted("a b ab 1 12", {"a": "b", "b": "a", "1": "2"}) == "b a ab 2 12"


def test_pictures_stay_and_every_text_is_told_for_the_call():
    def shown(name):
        text = {"type": "text", "text": f"This is {name} the cat"}
        return ToolResult((text, {"type": "image", "data": "AA==", "mimeType": "image/png"}, dict(text)))

    session = session_on([said(name, shown(name), name) for name in ("Mimi", "Felix", "Tom")])
    texts = session("show", name="Rosa").result.content
    assert [block.get("text", block["type"]) for block in texts] == [
        "This is Rosa the cat",
        "image",
        "This is Rosa the cat",
    ]


def test_structured_content_and_words_say_the_same():
    def shown(name):
        return ToolResult(({"type": "text", "text": f"Found {name}."},), {"found": name})

    session = session_on([said(name, shown(name), name) for name in ("Mimi", "Felix", "Tom")])
    result = session("show", name="Rosa").result
    assert (result.structured, result.first_text) == ({"found": "Rosa"}, "Found Rosa.")


def test_an_error_of_the_protocol_stays_one():
    def refused(name):
        fault = {"code": -32602, "message": f"No cat is called {name}"}
        return ToolResult(({"type": "text", "text": fault["message"]},), is_error=True, fault=fault)

    session = session_on([said(name, refused(name), name) for name in ("Mimi", "Felix", "Tom")])
    result = session("show", name="Rosa").result
    assert result.is_error
    assert result.fault == {"code": -32602, "message": "No cat is called Rosa"}


def test_other_data_is_written_in_the_style_of_the_first():
    result = ToolResult.text(json.dumps({"a": 1}, indent=4))
    assert with_value(result, {"b": [2]}).first_text == json.dumps({"b": [2]}, indent=4)


def keep(state, n, value="fine"):
    event = Event("put", {"n": n}, None, is_error=False)
    return noted(state, event, ToolResult.text(value), lambda value: value)


def test_a_world_remembers_so_many_calls_and_no_more():
    state = State()
    for n in range(REMEMBERED + 10):
        state = keep(state, n)
    assert [event.arguments["n"] for event in read_journal(state)] == list(range(10, REMEMBERED + 10))
    assert len(state.history) == REMEMBERED + 1


def test_a_long_answer_is_remembered_as_given_but_not_in_full():
    (event,) = read_journal(keep(State(), 1, "x" * 100_000))
    assert event.arguments == {"n": 1}
    assert event.result is None


def test_episodes_that_begin_otherwise_agree_less():
    same = [("at start", observed("show", {}, "a", str(n))) for n in range(4)]
    assert Agreement(same).share("show") == 1.0
    assert Agreement([*same, ("at start", observed("show", {}, "b", "9"))]).share("show") < 1.0
    alone = [("at start", observed("show", {}, "a", "1")), ("at start", observed("show", {}, "b", "1"))]
    assert Agreement(alone).share("show") == 1.0


def test_a_recording_of_a_session_that_began_otherwise_is_trusted_no_more_than_it_was_right():
    fixtures = [observed("show", {"name": "x"}, f"it is {n % 2}", f"day {n}") for n in range(8)]
    environment = Environment(Toolset.from_definitions([SHOW], name="any"), dynamics=OPAQUE, fixtures=fixtures)
    assert Session(environment, environment.world())("show", name="x").confidence < 0.9


def test_reads_by_rule_do_not_change_a_world_that_remembers():
    notes = Dynamics.parse(
        "collections: {notes: {key: id}}\n"
        "tools: {show: {effect: opaque}, peek: {effect: read, collection: notes, key: args.id}}"
    )
    fixtures = [said(name, ToolResult.text(f"Hi {name}"), name) for name in ("Mimi", "Felix", "Tom")]
    session = session_on(fixtures, [SHOW, tool("peek", {"id": TEXT})], notes)
    session.world.restore(session.world.state.put("notes", "n1", {"id": "n1"}))
    before = session.world.state
    assert session("peek", id="n1").layer == "dynamics"
    assert session.world.state is before
    session("show", name="Rosa")
    assert session.world.state is not before


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=6), children, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(st.sampled_from(["a", "b", "c"]), json_values, max_size=3)
calls = st.tuples(st.sampled_from(["show", "put"]), arguments)
recordings = st.lists(st.tuples(st.sampled_from("xyz"), calls, json_values, st.booleans()), max_size=12)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(recordings, st.lists(calls, min_size=1, max_size=6))
def test_whatever_was_recorded_calls_are_answered_and_always_alike(rows, asked):
    fixtures = [
        Fixture(
            ToolCall(name, given_values),
            ToolResult.text(value, is_error=is_error)
            if isinstance(value, str)
            else ToolResult.json(value, structured=False),
            episode,
            position,
        )
        for position, (episode, (name, given_values), value, is_error) in enumerate(rows)
    ]
    tools = [tool("show"), tool("put")]
    told = []
    for _ in range(2):
        session = session_on(fixtures, tools)
        answers = [session(name, **given_values) for name, given_values in asked]
        told.append([(a.result.content, a.result.is_error, a.confidence, a.reason) for a in answers])
        for answer in answers:
            assert 0 <= answer.confidence <= 1
    assert told[0] == told[1]


def test_arguments_that_are_answered_do_not_stay_the_callers():
    fixtures = [
        Fixture(ToolCall("show", {"tags": tags}), ToolResult.json({"tags": tags}, structured=True), str(tags))
        for tags in (["a", "b"], ["c", "d"], ["e", "f"])
    ]
    session = session_on(fixtures, [tool("show", {"tags": {"type": "array"}})])
    tags = ["x", "y"]
    result = session("show", tags=tags).result
    tags.append("z")
    assert result.structured == {"tags": ["x", "y"]}


def test_deeply_nested_recordings_are_left_out():
    deep = json.loads("[" * 900 + "]" * 900)
    fixtures = [Fixture(ToolCall("show", {"name": "x", "deep": deep}), ToolResult.text("hi"), str(n)) for n in range(3)]
    assert session_on(fixtures)("show", name="y").result.first_text


@pytest.mark.slow
def test_ten_thousand_recorded_calls_are_answered_from_in_two_milliseconds():
    from random import Random
    from time import process_time

    environment = desk_environment(recorded(episodes=250, calls=40))
    session, random = Session(environment, environment.world()), Random(3)
    desk, times = Desk(random), []

    async def play():
        for _ in range(300):
            name, given_values = made_up_call(random, desk)
            desk(name, given_values)
            begun = process_time()
            await session.environment.call(session.world, ToolCall(name, given_values))
            times.append(process_time() - begun)

    asyncio.run(play())
    assert sum(times[:50]) < 20  # learning is part of the first calls
    assert sorted(times[50:])[125] < 0.004


def test_a_precedent_that_is_the_recorded_answer_itself_comes_with_what_the_server_sent_meanwhile():
    sent = (Notice("notice", 0.0, "notifications/progress", {"progress": 1}),)
    fixtures = [
        replace(observed("show", {"name": "a"}, {"shown": "a"}, episode=episode), notices=sent) for episode in "xy"
    ]
    environment = Environment(Toolset.from_definitions([SHOW], name="any"), dynamics=OPAQUE, fixtures=fixtures)
    session = Session(environment, environment.world())
    session("show", name="a")
    again = session("show", name="a")
    assert again.layer == "precedent"
    assert again.fixture.notices == sent
