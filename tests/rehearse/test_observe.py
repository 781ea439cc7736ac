import pytest
from notes_toolset import observed, open_session

from envace_sdk.errors import UnknownToolError
from envace_sdk.tools.model import ToolCall, ToolResult

MILK = {"note_id": "N-100", "title": "Milk", "colour": "red"}


def learn(session, name, arguments, result, *, is_error=False):
    fixture = observed(name, arguments, result, is_error=is_error)
    state = session.environment.observe(session.world.state, fixture.call, fixture.result)
    session.world.commit(state)


def test_a_create_that_was_observed_brings_its_entity_under_its_real_key():
    session = open_session()
    learn(session, "add_note", {"title": "Tea"}, {"note_id": "N-55", "title": "Tea", "colour": "green"})
    note = session.value("read_note", note_id="N-55")
    assert (note["title"], note["colour"]) == ("Tea", "green")
    assert session.value("list_notes")["total"] == 1


def test_an_observed_read_corrects_what_the_world_holds():
    session = open_session(start={"notes": [MILK]})
    learn(session, "read_note", {"note_id": "N-100"}, {**MILK, "title": "Oat milk"})
    assert session.value("read_note", note_id="N-100")["title"] == "Oat milk"


def test_an_observed_delete_takes_the_entity_away():
    session = open_session(start={"notes": [MILK]})
    learn(session, "drop_note", {"note_id": "N-100"}, {"note_id": "N-100", "deleted": True})
    assert session("read_note", note_id="N-100").result.is_error


def test_an_observed_error_changes_nothing():
    session = open_session(start={"notes": [MILK]})
    before = session.world.state
    learn(session, "drop_note", {"note_id": "N-100"}, "locked", is_error=True)
    assert session.world.state is before


def test_recordings_hold_after_their_prefix_was_observed():
    renamed = {**MILK, "title": "Oat milk"}
    fixtures = [
        observed("read_note", {"note_id": "N-100"}, MILK, position=0),
        observed("retitle_note", {"note_id": "N-100", "title": "Oat milk"}, renamed, position=1),
        observed("read_note", {"note_id": "N-100"}, renamed, position=2),
    ]
    session = open_session(fixtures=fixtures)
    learn(session, "retitle_note", {"note_id": "N-100", "title": "Oat milk"}, renamed)
    rehearsal = session("read_note", note_id="N-100")
    assert (rehearsal.layer, rehearsal.result.value()) == ("fixture", renamed)


def test_a_tool_that_does_not_exist_is_named():
    session = open_session()
    with pytest.raises(UnknownToolError):
        session.environment.observe(session.world.state, ToolCall("nothing"), ToolResult.text("x"))
