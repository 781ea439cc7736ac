import asyncio
import json

import pytest
from notes_toolset import observed, open_session, tool

from envace_sdk.errors import ModelError
from envace_sdk.models import Completion, ScriptedModel
from envace_sdk.rehearse import ModelRehearser
from envace_sdk.rehearse.history import earlier, remembered
from envace_sdk.rehearse.nearest import Nearest
from envace_sdk.roles import RESPONSE
from envace_sdk.tools.model import ToolCall, ToolResult

SHELF = {"name": "north", "room": "cellar", "capacity": 4}
NOTES = {"notes": [{"note_id": "A", "title": "milk"}], "shelves": [{"name": "east", "room": "attic", "capacity": 7}]}


def says(value, *, error=False):
    return f"{RESPONSE[0]}{json.dumps({'error' if error else 'result': value})}{RESPONSE[1]}"


def session(*answers, **options):
    model = ScriptedModel(list(answers) if len(answers) != 1 or not callable(answers[0]) else answers[0], name="m")
    return model, open_session(model=ModelRehearser(model), **options)


def test_what_no_rule_answers_the_model_does_and_the_label_says_so():
    model, world = session(says({"temperature": 21, "wind_speed": 3}))
    rehearsal = world("forecast", city="Graz")
    assert rehearsal.layer == "model"
    assert rehearsal.result.value() == {"temperature": 21, "wind_speed": 3}
    evidence = rehearsal.result.meta["dev.envace/evidence"]
    assert (evidence["kind"], evidence["layer"], evidence["model"]) == ("rehearsed", "model", "m")
    assert len(evidence["prompt_hash"]) == 64
    assert "Graz" in model.requests[0].messages[-1].content


def test_where_a_rule_answers_the_model_is_not_asked():
    model, world = session(start=NOTES)
    assert world("read_note", note_id="A").layer == "dynamics"
    assert model.requests == []


def test_equal_calls_have_equal_answers_and_the_model_is_asked_once():
    look = tool("forecast", {"city": {"type": "string"}}, ["city"], annotations={"readOnlyHint": True})
    model, world = session(says({"temperature": 21}), tools=[look])
    assert world("forecast", city="Graz").result == world("forecast", city="Graz").result
    assert len(model.requests) == 1


def test_what_the_model_shows_enters_the_world():
    model, world = session(says(SHELF))
    assert world("look_at_shelf", name="north").layer == "model"
    assert world("look_at_shelf", name="north").layer == "dynamics"
    assert world.value("look_at_shelf", name="north") == SHELF
    assert len(model.requests) == 1


def test_what_the_world_knows_overrides_what_the_model_says():
    lookup = tool("describe", {"what": {"type": "string"}}, ["what"], annotations={"readOnlyHint": True})
    wrong = {"shelf": {"name": "east", "room": "cellar", "capacity": 7}}
    _, world = session(says(wrong), start=NOTES, tools=[lookup])
    rehearsal = world("describe", what="east")
    assert rehearsal.result.value() == {"shelf": {"name": "east", "room": "attic", "capacity": 7}}
    assert "otherwise" in rehearsal.reason


def test_a_tool_that_may_change_things_may_show_them_changed():
    move = tool("move_things", {"what": {"type": "string"}}, ["what"])
    moved = {"shelf": {"name": "east", "room": "cellar", "capacity": 7}}
    _, world = session(says(moved), start=NOTES, tools=[move, *[tool("look_at_shelf", {"name": {"type": "string"}})]])
    assert world("move_things", what="east").result.value() == moved
    assert world.value("look_at_shelf", name="east")["room"] == "cellar"


def test_an_error_that_the_model_expects_is_labelled_with_its_confidence():
    spoken = Completion(says("Permission denied: city is closed.", error=True), (1, 2), (-0.1, -0.3))
    _, world = session(spoken)
    rehearsal = world("forecast", city="Graz")
    assert (rehearsal.result.is_error, rehearsal.layer, rehearsal.outcome) == (True, "model", "permission_error")
    assert rehearsal.confidence == pytest.approx(0.8187, abs=1e-3)


@pytest.mark.parametrize(
    "text",
    [
        "It is sunny.",
        "<response>{",
        says({"a": 1}) + " and more",
        Completion(says({"a": 1}), finish_reason="length"),
        Completion("", finish_reason="error", error="too long"),
    ],
)
def test_text_that_is_no_response_passes_to_the_schema_layer(text):
    _, world = session(text)
    assert world("forecast", city="Graz").layer == "schema"


def test_a_result_that_breaks_the_output_schema_passes_too():
    _, world = session(says({"name": "north", "room": 3}))
    assert world("look_at_shelf", name="north").layer == "schema"


def test_a_model_that_cannot_be_reached_passes_and_is_asked_again():
    def down(request):
        raise ModelError("no route to host")

    model, world = session(down)
    assert world("forecast", city="Graz").layer == "schema"
    assert world("forecast", city="Graz").layer == "schema"
    assert len(model.requests) == 2


def test_a_rule_that_says_that_the_call_succeeds_is_not_contradicted():
    rules = """
collections: {}
tools:
  forecast: {effect: compute, requires: [{that: args.city != 'Atlantis', error: No such city.}]}
"""
    model, world = session(says("closed", error=True), dynamics=rules, tools=[tool("forecast", {"city": {}}, ["city"])])
    refused = world("forecast", city="Atlantis")
    assert (refused.result.first_text, refused.layer) == ("No such city.", "dynamics")
    assert model.requests == []
    assert world("forecast", city="Graz").layer == "schema"
    assert "error" not in json.dumps(model.requests[0].schema)


def test_the_prompt_tells_of_the_nearest_recordings_the_entities_and_what_was_done():
    seen = [
        observed("forecast", {"city": "Grenoble"}, {"temperature": 9}, "b"),
        observed("forecast", {"city": "Grazer Feld"}, {"temperature": 19}, "c"),
    ]
    city = tool("forecast", {"city": {"type": "string"}, "shelf": {"type": "string"}}, ["city"])
    add = tool("add_note", {"title": {"type": "string"}}, ["title"])
    model, world = session(lambda _: "nothing", fixtures=seen, start=NOTES, tools=[city, add])
    world("add_note", title="buy salt")
    world("forecast", city="Graz", shelf="east")
    prompt = "\n".join(message.content for message in model.requests[-1].messages)
    assert prompt.index("Grenoble") < prompt.index("Grazer Feld")
    assert "attic" in prompt
    assert "buy salt" in prompt


def test_reading_is_not_remembered_and_changing_is():
    _, world = session(lambda _: "nothing", start=NOTES)
    world("read_note", note_id="A")
    assert earlier(world.world.state) == []
    world("add_note", title="tea")
    ((call, result),) = earlier(world.fork().world.state)
    assert (call.name, result.value()["title"]) == ("add_note", "tea")


def test_only_so_much_is_remembered():
    state = open_session().world.state
    for number in range(100):
        state = remembered(state, ToolCall("t", {"n": number}), ToolResult.text("ok"))
    assert [call.arguments["n"] for call, _ in earlier(state)] == list(range(76, 100))
    assert remembered(state, ToolCall("t", {"n": "x" * 5000}), ToolResult.text("ok")) is state


def test_without_a_model_nothing_is_remembered():
    world = open_session()
    world("add_note", title="tea")
    assert "rehearse.calls" not in world.world.state.history


def test_nearest_prefers_equal_values_over_similar_ones_and_shows_an_error_where_there_is_one():
    seen = [
        observed("t", {"id": "A-11", "kind": "x"}, {"n": 1}),
        observed("t", {"id": "A-12", "kind": "y"}, {"n": 2}),
        observed("t", {"id": "A-19", "kind": "x"}, {"n": 3}),
        observed("t", {"id": "none"}, "not found", is_error=True),
        observed("other", {"id": "A-12"}, {"n": 4}),
    ]
    found = Nearest(seen).find(ToolCall("t", {"id": "A-12", "kind": "x"}), 3)
    assert [f.result.value() for f in found] == [{"n": 1}, {"n": 3}, "not found"]
    assert Nearest(seen).find(ToolCall("unknown", {}), 3) == ()
    assert Nearest(seen).find(ToolCall("t", {}), 0) == ()


def test_answers_that_are_remembered_are_bounded():
    rehearser = ModelRehearser(ScriptedModel(lambda _: says({"t": 1})))
    world = open_session(model=rehearser)
    layer = world.environment._ladder._layers[-2]
    for number in range(1100):
        world("forecast", city=str(number))
    assert len(layer._answers) == 1024


def test_a_rehearser_of_ones_own_is_taken_as_it_is():
    class Fixed:
        async def rehearse(self, call, context):
            return None

    world = open_session(model=Fixed())
    assert world("forecast", city="Graz").layer == "schema"


def test_hundred_calls_at_once_are_answered_each_by_itself():
    def echo(request):
        return says({"asked": request.messages[-1].content.split('"')[-2]})

    _, world = session(echo)

    async def all_at_once():
        calls = [ToolCall("forecast", {"city": f"c{n}"}) for n in range(100)]
        return await asyncio.gather(*(world.environment.rehearse(call, world.world.state) for call in calls))

    assert [r.result.value()["asked"] for r in asyncio.run(all_at_once())] == [f"c{n}" for n in range(100)]
