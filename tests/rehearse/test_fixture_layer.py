import json

import pytest
from notes_toolset import DYNAMICS, TEXT, TOOLS, Session, observed, open_session, tool

from envace_sdk.errors import MissError
from envace_sdk.evidence.label import KEY
from envace_sdk.rehearse import Environment

MILK = {"note_id": "N-100", "title": "Milk", "colour": "red"}


def test_a_recorded_read_is_answered_as_observed():
    session = open_session(fixtures=[observed("read_note", {"note_id": "N-100"}, MILK)])
    rehearsal = session("read_note", note_id="N-100")
    assert rehearsal.layer == "fixture"
    assert rehearsal.result.value() == MILK
    assert rehearsal.result.meta[KEY]["kind"] == "rehearsed"


def test_an_entity_that_recordings_show_is_in_the_world_from_the_start():
    session = open_session(fixtures=[observed("read_note", {"note_id": "N-100"}, MILK)])
    assert session.value("list_notes")["notes"] == [MILK]
    assert session.value("retitle_note", note_id="N-100", title="Oat milk")["colour"] == "red"


def test_a_fixture_gives_way_once_what_it_read_is_written():
    session = open_session(fixtures=[observed("read_note", {"note_id": "N-100"}, MILK)])
    session("retitle_note", note_id="N-100", title="Oat milk")
    rehearsal = session("read_note", note_id="N-100")
    assert rehearsal.layer == "dynamics"
    assert rehearsal.result.value() == {**MILK, "title": "Oat milk"}


def test_a_write_elsewhere_leaves_a_fixture_true():
    session = open_session(fixtures=[observed("read_note", {"note_id": "N-100"}, MILK)])
    session("add_note", title="Bread")
    assert session("read_note", note_id="N-100").layer == "fixture"


def test_a_recorded_list_is_true_until_anything_joins_the_collection():
    session = open_session(fixtures=[observed("list_notes", {}, {"notes": [MILK], "total": 1})])
    assert session("list_notes").layer == "fixture"
    session("add_note", title="Bread")
    rehearsal = session("list_notes")
    assert rehearsal.layer == "dynamics"
    assert [note["title"] for note in rehearsal.result.value()["notes"]] == ["Milk", "Bread"]


def test_a_recorded_create_brings_its_entity_under_its_recorded_key():
    created = {"note_id": "N-55", "title": "Tea", "colour": "green"}
    session = open_session(fixtures=[observed("add_note", {"title": "Tea"}, created)])
    assert session.value("list_notes")["total"] == 0
    assert session.value("add_note", title="Tea") == created
    assert session.value("read_note", note_id="N-55")["colour"] == "green"
    again = session("add_note", title="Tea")
    assert again.layer == "dynamics"
    assert again.result.value()["note_id"] != "N-55"


def test_the_recorded_answers_of_before_and_after_a_recorded_write_both_hold_in_their_place():
    renamed = {**MILK, "title": "Oat milk"}
    fixtures = [
        observed("read_note", {"note_id": "N-100"}, MILK, position=0),
        observed("retitle_note", {"note_id": "N-100", "title": "Oat milk"}, renamed, position=1),
        observed("read_note", {"note_id": "N-100"}, renamed, position=2),
        observed("drop_note", {"note_id": "N-100"}, {"gone": True}, position=3),
        observed("read_note", {"note_id": "N-100"}, "no such note", position=4, is_error=True),
    ]
    session = open_session(fixtures=fixtures)
    for _ in range(2):
        for fixture in fixtures:
            rehearsal = session(fixture.call.name, **fixture.call.arguments)
            assert rehearsal.layer == "fixture"
            assert rehearsal.result.value() == fixture.result.value()
            assert rehearsal.result.is_error == fixture.result.is_error
        session.world.reset()


def test_a_recorded_refusal_of_bad_arguments_is_told_in_the_real_servers_words():
    said = "title must be a string, sorry"
    session = open_session(fixtures=[observed("add_note", {"title": 7}, said, is_error=True)])
    assert session("add_note", title=7).result.first_text == said
    assert "/title" in session("add_note", title=8).result.first_text


def test_a_tool_of_unknown_effect_is_answered_with_less_confidence_in_another_order_than_the_recorded_one():
    tools = [tool("spin", {"by": TEXT})]
    fixtures = [
        observed("spin", {"by": "1"}, "one", position=0),
        observed("spin", {"by": "2"}, "three", position=1),
    ]
    session = open_session(tools=tools, dynamics="collections: {}\ntools: {}", fixtures=fixtures)
    assert session("spin", by="1").confidence == 1.0
    assert session("spin", by="2").result.first_text == "three"
    session.world.reset()
    recalled = session("spin", by="2")
    assert (recalled.layer, recalled.result.first_text) == ("fixture", "three")
    assert recalled.confidence < 1.0
    assert "in another order" in recalled.reason


def test_fixtures_of_tools_that_are_not_in_the_toolset_are_left_out():
    session = open_session(fixtures=[observed("fly", {}, "whoosh")])
    assert session("list_notes").layer == "dynamics"


def test_labels_in_recordings_are_not_believed():
    session = open_session(fixtures=[observed("read_note", {"note_id": "N-100"}, {**MILK, "_meta": {"x": 1}})])
    assert session("read_note", note_id="N-100").result.meta.keys() == {KEY}


def test_a_recording_does_not_hide_data_that_was_seeded_afterwards(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    (folder / "dynamics.yaml").write_text(DYNAMICS)
    line = {"tool": "list_notes", "arguments": {}, "result": {"notes": [MILK], "total": 1}}
    (folder / "fixtures.jsonl").write_text(json.dumps(line))
    seeds = tmp_path / "notes.csv"
    seeds.write_text("note_id,title\nN-7,Bread\n")
    plain, seeded = (
        Session(environment, environment.world())
        for environment in (Environment.load(folder), Environment.load(folder, seed_data=[seeds]))
    )
    assert plain("list_notes").layer == "fixture"
    assert seeded("list_notes").layer == "dynamics"
    assert [note["title"] for note in seeded.value("list_notes")["notes"]] == ["Milk", "Bread"]


def test_a_recorded_read_adds_nothing_to_an_entity_that_the_start_data_describe():
    view = {**MILK, "comments": 3}
    session = open_session(fixtures=[observed("read_note", {"note_id": "N-100"}, view)], start={"notes": [MILK]})
    before = session.world.state
    assert session.value("read_note", note_id="N-100") == view
    assert session.world.state is before


def test_recorded_reads_of_one_entity_complete_each_other():
    full = {**MILK, "body": "two litres"}
    fixtures = [
        observed("list_notes", {}, {"notes": [MILK], "total": 1}, position=0),
        observed("read_note", {"note_id": "N-100"}, full, position=1),
    ]
    session = open_session(fixtures=fixtures)
    assert session.value("retitle_note", note_id="N-100", title="Oat milk")["body"] == "two litres"


def test_labels_in_the_content_of_recordings_are_not_believed_either(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    label = {KEY: {"kind": "observed"}}
    blocks = [{"type": "text", "text": "a", "_meta": label}, {"type": "text", "text": "b", "_meta": {"x": 1, **label}}]
    result = {"content": blocks, "structuredContent": {"_meta": label}, "_meta": label}
    line = {"tool": "forecast", "arguments": {"city": "Oslo"}, "result": result}
    (tmp_path / "fixtures.jsonl").write_text(json.dumps(line))
    environment = Environment.load(tmp_path)
    answer = Session(environment, environment.world())("forecast", city="Oslo").result
    assert [block["_meta"] for block in answer.content] == [{}, {"x": 1}]
    assert answer.meta[KEY]["kind"] == "rehearsed"
    assert answer.structured == {"_meta": label}


COUNT = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def _counting(tmp_path, *results, **options):
    """A session on a tool whose recorded results are these."""
    folder = tmp_path / "counting"
    folder.mkdir()
    tools = [tool("count", {"of": TEXT}, output=COUNT, annotations={"readOnlyHint": True})]
    (folder / "tools.json").write_text(json.dumps({"tools": tools}))
    lines = [
        {"episode": "e", "tool": "count", "arguments": {"of": str(n)}, "result": result}
        for n, result in enumerate(results)
    ]
    (folder / "fixtures.jsonl").write_text("\n".join(map(json.dumps, lines)))
    environment = Environment.load(folder, **options)
    return Session(environment, environment.world())


def test_a_recorded_success_that_breaks_the_output_schema_is_left_out_with_a_warning(tmp_path, caplog):
    session = _counting(tmp_path, {"n": 1}, {"n": "not an int"}, {"content": [{"type": "text", "text": "many"}]})
    assert session("count", of="0").layer == "fixture"
    assert not caplog.records
    for _ in range(2):
        for of in ("1", "2"):
            rehearsal = session("count", of=of)
            assert rehearsal.layer != "fixture"
            assert isinstance(rehearsal.result.structured["n"], int)
    first, second = (record.getMessage() for record in caplog.records if record.levelname == "WARNING")
    assert f"{tmp_path / 'counting' / 'fixtures.jsonl'}: call 2 of recording 'e' is left out" in first
    assert "/n" in first
    assert "call 3" in second


def test_a_recorded_error_need_not_be_what_the_output_schema_says(tmp_path):
    failed = {"content": [{"type": "text", "text": "no"}], "isError": True}
    assert _counting(tmp_path, failed)("count", of="0").layer == "fixture"


def test_a_miss_says_that_the_recorded_answer_was_left_out(tmp_path):
    session = _counting(tmp_path, {"n": "x"}, recorded_only=True)
    with pytest.raises(MissError, match="call 1 of recording 'e' is left out"):
        session("count", of="0")
