import json

import pytest
from notes_toolset import TEXT, TOOLS, Session, open_session, tool

from envace_sdk.errors import UnknownToolError
from envace_sdk.evidence.label import KEY
from envace_sdk.rehearse import Environment, Rehearsal
from envace_sdk.tools.model import ToolResult


def test_an_unknown_tool_is_an_error_of_the_caller():
    session = open_session()
    with pytest.raises(UnknownToolError, match="Unknown tool: fly"):
        session("fly")


def test_arguments_that_break_the_schema_are_refused_by_rule_with_pointer_and_keyword():
    session = open_session()
    before = session.world.state
    rehearsal = session("add_note", title=7)
    assert rehearsal.layer == "arguments"
    assert rehearsal.outcome == "validation_error"
    assert rehearsal.result.is_error
    assert "/title" in rehearsal.result.first_text
    assert "type" in rehearsal.result.first_text
    assert session.world.state is before


def test_create_get_update_list_delete_get_hangs_together():
    session = open_session()
    made = session.value("add_note", title="Milk")
    assert made["note_id"] == "N-1"
    assert session.value("read_note", note_id="N-1") == made
    assert session.value("retitle_note", note_id="N-1", title="Oat milk")["title"] == "Oat milk"
    session.value("add_note", title="Bread")
    assert session.value("list_notes", title="oat")["notes"] == [{**made, "title": "Oat milk"}]
    assert session.value("list_notes")["total"] == 2
    session.value("drop_note", note_id="N-1")
    gone = session("read_note", note_id="N-1")
    assert gone.result.is_error
    assert gone.outcome == "not_found"
    assert "N-1" in gone.result.first_text


def test_every_answer_is_labelled_as_rehearsed_with_its_layer():
    session = open_session()
    session("add_note", title="Milk")
    for name, arguments, layer in [
        ("read_note", {"note_id": "N-1"}, "dynamics"),
        ("read_note", {}, "arguments"),
        ("look_at_shelf", {"name": "A"}, "schema"),
        ("forecast", {"city": "Oslo"}, "schema"),
    ]:
        evidence = session(name, **arguments).result.meta[KEY]
        assert evidence["kind"] == "rehearsed"
        assert evidence["layer"] == layer
        assert evidence["toolset"] == "notes"
        assert evidence["world"] == "default"


def test_a_write_moves_version_and_clock_and_a_read_moves_neither():
    session = open_session()
    start = session.world.state
    session("list_notes")
    assert session.world.state is start
    session("add_note", title="Milk")
    after = session.world.state
    assert after.version == start.version + 1
    assert after.clock > start.clock
    session("read_note", note_id="N-1")
    session("read_note", note_id="N-9")
    assert session.world.state is after


def test_equal_reads_are_byte_equal():
    session = open_session()
    session("add_note", title="Milk")
    for name, arguments in [("list_notes", {}), ("look_at_shelf", {"name": "A"}), ("forecast", {"city": "Oslo"})]:
        first, second = (session(name, **arguments).result for _ in range(2))
        assert first.content == second.content


def test_an_entity_read_from_an_open_collection_is_invented_once_and_remembered():
    session = open_session()
    shelf = session.value("look_at_shelf", name="A")
    assert shelf["name"] == "A"
    assert shelf["capacity"] >= 1
    assert session.value("look_at_shelf", name="A") == shelf
    assert shelf in session.value("list_shelves", room=shelf["room"])["shelves"]


def test_a_search_among_nothing_known_invents_what_it_asks_for():
    session = open_session()
    found = session.value("list_shelves", room="cellar")["shelves"]
    assert found
    assert all(shelf["room"] == "cellar" for shelf in found)
    assert session.value("look_at_shelf", name=found[0]["name"])["room"] == "cellar"


def test_a_tool_without_rule_or_schema_answers_what_its_description_says():
    session = open_session()
    answer = session.value("forecast", city="Oslo")
    assert {"temperature", "wind_speed"} <= answer.keys()
    assert session.value("forecast", city="Rome") != answer


def test_forks_part_ways_and_the_original_does_not_notice():
    session = open_session()
    session("add_note", title="Milk")
    fork = session.fork()
    fork("retitle_note", note_id="N-1", title="Beer")
    fork("add_note", title="Crisps")
    assert session.value("list_notes")["total"] == 1
    assert session.value("read_note", note_id="N-1")["title"] == "Milk"
    assert fork.value("list_notes")["total"] == 2


def test_the_same_seed_and_calls_give_the_same_bytes_and_another_seed_does_not():
    def play(seed):
        session = open_session(seed=seed)
        calls = [("add_note", {"title": "Milk"}), ("look_at_shelf", {"name": "A"}), ("list_shelves", {})]
        return json.dumps([session(name, **arguments).result.content for name, arguments in calls])

    assert play(1) == play(1)
    assert play(1) != play(2)


def test_completing_an_answer_to_its_schema_adds_to_the_entity_for_good():
    shape = {
        "type": "object",
        "properties": {"note_id": TEXT, "title": TEXT, "colour": {"enum": ["red", "green"]}},
        "required": ["note_id", "title", "colour"],
        "additionalProperties": False,
    }
    session = open_session(
        tools=[
            tool("add_note", {"title": TEXT}, ["title"]),
            tool("read_note", {"note_id": TEXT}, ["note_id"], shape),
            tool("list_notes", {"title": TEXT}),
        ],
    )
    session("add_note", title="Milk")
    colour = session.value("read_note", note_id="N-1")["colour"]
    assert colour in {"red", "green"}
    assert session.value("list_notes")["notes"][0]["colour"] == colour


class Oracle:
    """Stands in the place of a learned model: it answers one tool."""

    async def rehearse(self, call, context):
        if call.name != "forecast":
            return None
        value = {"temperature": 31, "notes": [{"note_id": "N-77", "title": "Sun cream"}]}
        return Rehearsal(
            ToolResult.json(value, structured=False), context.state, "model", confidence=0.7, model="oracle"
        )


def test_a_model_answers_what_rules_leave_open_and_its_entities_enter_the_world():
    session = open_session(model=Oracle())
    rehearsal = session("forecast", city="Oslo")
    assert rehearsal.result.meta[KEY] | {"layer": "model", "model": "oracle"} == rehearsal.result.meta[KEY]
    assert session.value("read_note", note_id="N-77")["title"] == "Sun cream"
    assert session("add_note", title="Milk").layer == "dynamics"


def test_lists_and_objects_of_the_call_stand_in_the_answer_under_the_same_name():
    things = {"type": "array", "items": {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}}
    output = {"type": "object", "properties": {"things": things, "note": TEXT}, "required": ["things", "note"]}
    session = open_session(tools=[tool("import_things", {"things": things}, ["things"], output)], dynamics="tools: {}")
    answer = session.value("import_things", things=[{"name": "cup"}, {"name": "pan"}])
    assert answer["things"] == [{"name": "cup"}, {"name": "pan"}]
    assert answer["note"]


def test_tools_that_a_dynamics_file_does_not_mention_are_inferred(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    rule = "retitle_note: {effect: update, collection: notes, key: args.note_id, set: {title: \"'X'\"}}"
    (tmp_path / "dynamics.yaml").write_text(f"collections: {{notes: {{key: note_id}}}}\ntools:\n  {rule}\n")
    environment = Environment.load(tmp_path)
    session = Session(environment, environment.world())
    made = session.value("add_note", title="Milk")
    assert session.value("retitle_note", note_id=made["note_id"], title="Bread")["title"] == "X"
    assert session.value("read_note", note_id=made["note_id"])["title"] == "X"
