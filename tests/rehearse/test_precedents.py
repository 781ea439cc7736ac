import json
import re
import subprocess
import sys
from random import Random

import pytest
from notes_toolset import TEXT, Session, observed, tool
from things_desk import PEOPLE, TOOLS, Desk, desk_environment, made_up_call, open_desk, recorded, rules

from envace_sdk.evidence.label import KEY
from envace_sdk.jsonschema import compile_schema
from envace_sdk.rehearse import Rehearsal
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.dynamics import Dynamics


@pytest.fixture(scope="module")
def recordings():
    return recorded()


@pytest.fixture(scope="module")
def environment(recordings):
    return desk_environment(recordings)


@pytest.fixture
def desk(environment):
    return Session(environment, environment.world())


def test_what_no_rule_explains_is_answered_in_the_form_of_its_recordings(desk):
    made = desk("add_thing", name="canoe", room="attic")
    assert made.layer == "precedent"
    assert made.result.value().items() >= {"name": "canoe", "room": "attic", "with": None}.items()
    assert desk.value("greet", name="Zoe") == "Hello Zoe, welcome back to the desk"


def test_an_argument_that_is_left_out_gives_what_is_usual_then(desk):
    assert desk.value("add_thing", name="kettle")["room"] == "hall"


def test_keys_are_minted_in_the_recorded_form_and_never_twice(desk, recordings):
    made = [desk.value("add_thing", name="tent")["thing_id"] for _ in range(12)]
    assert len(set(made)) == 12
    assert all(re.fullmatch(r"T-[0-9a-f]{6}", key) for key in made)
    assert {f.result.value()["thing_id"] for f in recordings if f.call.name == "add_thing"}.isdisjoint(made)


def test_what_was_created_can_be_read_and_is_as_later_calls_left_it(desk):
    made = desk.value("add_thing", name="sledge", room="cellar")
    key = made["thing_id"]
    assert desk.value("get_thing", thing_id=key) == made
    assert desk.value("lend_thing", thing_id=key, to="Dee") == {"lent": key, "with": "Dee"}
    assert desk.value("get_thing", thing_id=key) == {**made, "with": "Dee"}
    desk.value("take_back", thing_id=key)
    assert desk.value("get_thing", thing_id=key) == made


def test_what_is_missing_is_refused_in_the_recorded_words(desk):
    for name, more in [("get_thing", {}), ("lend_thing", {"to": "Bo"}), ("take_back", {})]:
        rehearsal = desk(name, thing_id="T-000000", **more)
        assert rehearsal.result.is_error
        assert rehearsal.result.first_text == "Nothing is known of 'T-000000'"


def test_what_was_deleted_is_missing_from_then_on(desk):
    key = desk.value("add_thing", name="tent")["thing_id"]
    assert desk.value("drop_thing", thing_id=key) == {"dropped": key}
    assert desk("get_thing", thing_id=key).result.first_text == f"Nothing is known of '{key}'"


def test_an_error_that_hangs_on_what_happened_before_is_told_with_what_did(desk):
    key = desk.value("add_thing", name="ladder")["thing_id"]
    desk.value("lend_thing", thing_id=key, to="Ada")
    refused = desk("lend_thing", thing_id=key, to="Bo").result
    assert refused.is_error
    assert refused.first_text == f"{key} is with Ada already"


def test_equal_reads_are_equal_and_another_world_may_differ(environment):
    answers = []
    for seed in (0, 0, 1):
        session = Session(environment, environment.world(seed=seed))
        session("add_thing", name="tent")
        reads = [session("list_things").result.content for _ in range(3)]
        assert reads[0] == reads[1] == reads[2]
        answers.append(session.value("add_thing", name="tent")["thing_id"])
    assert answers[0] == answers[1] != answers[2]


def test_held_out_episodes_are_answered_mostly_as_they_were_and_as_surely_as_the_label_says(environment):
    sure, right, statuses = [], [], {True: [], False: []}
    for episode in range(12):
        random = Random(f"held out/{episode}")
        real, ours = Desk(random), Session(environment, environment.world())
        names = {}
        for _ in range(20):
            name, arguments = made_up_call(random, real)
            value, is_error = real(name, arguments)
            rehearsal = ours(name, **{k: names.get(v, v) for k, v in arguments.items()})
            told = rehearsal.result
            if name == "add_thing" and not told.is_error:
                names[value["thing_id"]] = told.value()["thing_id"]
            wanted = json.dumps(value)
            for true, made in names.items():
                wanted = wanted.replace(true, made)
            statuses[is_error].append(told.is_error == is_error)
            right.append(told.is_error == is_error and told.value() == json.loads(wanted))
            if rehearsal.confidence >= 0.9:
                sure.append(right[-1])
    assert sum(statuses[True]) / len(statuses[True]) > 0.85
    assert sum(statuses[False]) / len(statuses[False]) > 0.85
    assert sum(right) / len(right) > 0.65  # the lists are beyond what single precedents can tell
    assert len(sure) > 20
    assert sum(sure) / len(sure) >= 0.9


def test_the_label_names_the_precedent(desk):
    evidence = desk("greet", name="Ada").result.meta[KEY]
    assert evidence["layer"] == "precedent"
    assert "recording 'day " in evidence["reason"]


def test_one_episode_proves_nothing(recordings):
    desk = open_desk([f for f in recordings if f.episode == "day 0"])
    assert desk("greet", name="Zoe").confidence < 0.5


def test_a_tool_without_recordings_is_answered_by_the_schema_alone(recordings):
    desk = open_desk([f for f in recordings if f.call.name != "greet"])
    assert desk("greet", name="Zoe").layer == "schema"


def test_a_read_that_is_not_answered_by_precedent_leaves_the_world_as_it_is():
    desk = open_desk(tools=[tool("greet", {"name": TEXT}, annotations={"readOnlyHint": True})])
    before = desk.world.state
    desk("greet", name="Ada")
    assert desk.world.state is before


def test_answers_are_completed_to_the_output_schema(recordings):
    shape = {
        "type": "object",
        "properties": {"name": TEXT, "thing_id": TEXT, "colour": {"enum": ["red", "blue"]}},
        "required": ["name", "colour"],
    }
    tools = [{**t, "outputSchema": shape} if t["name"] == "add_thing" else t for t in TOOLS]
    rehearsal = open_desk(recordings, tools=tools)("add_thing", name="canoe")
    assert compile_schema(shape).is_valid(rehearsal.result.structured)
    assert rehearsal.result.structured["name"] == "canoe"
    assert json.loads(rehearsal.result.first_text) == rehearsal.result.structured
    assert rehearsal.confidence <= 0.2


def test_json_is_written_as_the_server_writes_it():
    def said(episode, name):
        return observed("look", {"name": name}, json.dumps({"name": name, "size": 3}, indent=2), episode)

    tools = [tool("look", {"name": TEXT})]
    fixtures = [said("a", "Ann"), said("b", "Ben"), said("c", "Cid")]
    desk = open_desk(fixtures, tools=tools, dynamics=Dynamics.parse("tools: {look: {effect: opaque}}"))
    assert desk("look", name="Dora").result.first_text == json.dumps({"name": "Dora", "size": 3}, indent=2)


def test_points_in_time_move_with_the_worlds_clock():
    tools = [tool("ring", {"who": TEXT})]
    fixtures = [
        observed("ring", {"who": who}, {"rang": who, "at": f"2024-05-0{day}T10:00:00.{day}25Z"}, f"day {day}")
        for day, who in enumerate(PEOPLE, start=1)
    ]
    desk = open_desk(fixtures, tools=tools, dynamics=Dynamics.parse("tools: {ring: {effect: opaque}}"))
    assert desk.value("ring", who="Eve") == {"rang": "Eve", "at": "2026-01-01T09:00:00.000Z"}


def test_secrets_are_not_remembered(environment):
    session = Session(environment, environment.world())
    session("greet", name="Authorization: Bearer sk-ant-REDACTED-abcdefghij")
    assert "sk-ant" not in json.dumps(session.world.state.to_json())


def test_a_world_that_was_saved_goes_on_where_it_was(environment):
    session = Session(environment, environment.world())
    key = session.value("add_thing", name="canoe")["thing_id"]
    restored = environment.world()
    restored.restore(type(restored.snapshot()).from_json(json.loads(json.dumps(session.world.state.to_json()))))
    assert Session(environment, restored).value("get_thing", thing_id=key)["name"] == "canoe"


def test_a_snapshot_with_a_nonsensical_past_is_borne(environment):
    session = Session(environment, environment.world())
    rows = {"~": "4", "~0": "{", "~1": "[]", "~2": '["greet", 1, 2, 3, 4]', "~3": '["x","k",false,"",{},7]'}
    state = session.world.state
    session.world.restore(state.replace(history=state.history.update(rows)))
    assert not session("greet", name="Ada").result.is_error


class Guess:
    """A model that answers everything."""

    async def rehearse(self, call, context):
        return Rehearsal(ToolResult.text("guess"), context.state, "model", confidence=0.6)


def test_the_very_same_call_goes_before_a_model_and_a_similar_one_after_it(recordings):
    desk = open_desk(recordings, model=Guess())
    assert desk("greet", name="Ada").result.first_text.startswith("Hello Ada")
    assert desk("greet", name="Zoe").result.first_text == "guess"


def test_a_rule_that_does_worse_than_the_recordings_gives_way_to_them(recordings):
    rude = rules(greet={"effect": "compute", "returns": {"text": "Go away"}})
    rehearsal = open_desk(recordings, dynamics=rude)("greet", name="Zoe")
    assert (rehearsal.layer, rehearsal.result.first_text) == ("precedent", "Hello Zoe, welcome back to the desk")


def test_a_rule_that_the_recordings_bear_out_is_kept_whatever_was_recorded(recordings):
    right = rules(
        greet={
            "effect": "compute",
            "returns": {"text": "Hello {args.name}, welcome back to the desk"},
            "confidence": 0.6,
        }
    )
    for known in ({"precedents": recordings}, {"fixtures": recordings}):
        assert open_desk(dynamics=right, **known)("greet", name="Zoe").layer == "dynamics"


def test_what_the_world_knows_of_a_thing_overrides_its_precedent():
    peek = [
        observed(
            "peek", {"thing_id": f"T-{n}"}, {"thing": {"thing_id": f"T-{n}", "name": "tent", "age": 3}}, f"day {n}"
        )
        for n in range(4)
    ]
    environment = desk_environment(
        peek,
        tools=[*TOOLS, tool("peek", {"thing_id": TEXT})],
        dynamics=rules({"things": {"key": "thing_id", "noun": "thing"}}, peek={"effect": "opaque"}),
    )
    session = Session(environment, environment.world())
    session.world.restore(session.world.state.put("things", "T-9", {"thing_id": "T-9", "name": "yurt"}))
    assert session.value("peek", thing_id="T-9") == {"thing": {"thing_id": "T-9", "name": "yurt", "age": 3}}


def test_a_thing_that_an_open_collection_has_not_seen_is_as_its_precedents_and_there_from_then_on():
    seen = [
        observed("peek", {"thing_id": f"T-{n}"}, {"thing_id": f"T-{n}", "name": "tent", "age": n}, f"day {n}")
        for n in range(4)
    ]
    environment = desk_environment(
        seen,
        tools=[tool("peek", {"thing_id": TEXT}), tool("rename", {"thing_id": TEXT, "name": TEXT})],
        dynamics=Dynamics.parse(
            "collections: {things: {key: thing_id, open: true}}\n"
            "tools:\n"
            "  peek: {effect: read, collection: things, key: args.thing_id}\n"
            "  rename: {effect: update, collection: things, key: args.thing_id, take: [name]}\n"
        ),
    )
    session = Session(environment, environment.world())
    first = session("peek", thing_id="T-7")
    assert first.layer == "precedent"
    assert first.result.value().keys() == {"thing_id", "name", "age"}
    renamed = session("rename", thing_id="T-7", name="yurt")
    assert renamed.layer == "dynamics"
    assert session.value("peek", thing_id="T-7") == {**first.result.value(), "name": "yurt"}


SCRIPT = """
import json, sys
sys.path[:0] = sys.argv[1:]
from random import Random
from things_desk import Desk, made_up_call, open_desk, recorded
session, random = open_desk(recorded(episodes=8)), Random(5)
desk, told = Desk(random), []
for _ in range(60):
    name, arguments = made_up_call(random, desk)
    desk(name, arguments)
    rehearsal = session(name, **arguments)
    told.append([rehearsal.result.content, rehearsal.confidence, rehearsal.reason])
print(json.dumps(told))
"""


@pytest.mark.slow
def test_the_same_recordings_and_calls_give_the_same_bytes_in_any_process():
    said = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, *sys.path],
            env={"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(said) == 1
