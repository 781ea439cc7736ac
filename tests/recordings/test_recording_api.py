"""`Recording`: built in code, looked through, saved and loaded."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import envace_sdk
from envace_sdk.errors import FixtureError
from envace_sdk.recordings import (
    REDACTED,
    Event,
    Exchange,
    Notice,
    Recording,
    Session,
    Writer,
    no_redaction,
    read_recording,
)
from envace_sdk.recordings.migrations import migrate_call, plain_result
from envace_sdk.tools.recordings import Recorded

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
blocks = st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=5)}, optional={"extra": json_values})
wire_results = st.fixed_dictionaries(
    {"content": st.lists(blocks, max_size=2)},
    optional={"structuredContent": json_values, "isError": st.booleans(), "more": json_values},
)
results = wire_results | json_values.filter(lambda value: not (isinstance(value, dict) and "content" in value))
calls = st.tuples(
    st.text(min_size=1),
    st.dictionaries(st.text(), json_values, max_size=3),
    results,
    st.booleans(),
    st.text(min_size=1),
)


def shop():
    recording = Recording()
    recording.add("place", {"item": "tent"}, {"id": "A1"}).add("get", {"id": "A1"}, {"id": "A1", "item": "tent"})
    recording.add("get", {"id": "A9"}, "no such order", is_error=True, episode="second")
    return recording


def test_calls_are_added_in_order_and_found_by_episode():
    recording = shop()
    assert len(recording) == 3
    assert [call.tool for call in recording] == ["place", "get", "get"]
    assert {name: [call.result for call in calls] for name, calls in recording.episodes.items()} == {
        "default": [{"id": "A1"}, {"id": "A1", "item": "tent"}],
        "second": ["no such order"],
    }
    assert recording.episodes["second"][0].is_error
    assert repr(recording) == "<Recording of 3 calls in 2 episodes>"
    assert envace_sdk.Recording is Recording


def test_what_was_added_can_be_looked_up_without_a_file():
    fixtures = Recorded.of(shop().files).fixtures
    assert [(fixture.call.name, fixture.episode, fixture.position) for fixture in fixtures] == [
        ("place", "default", 0),
        ("get", "default", 1),
        ("get", "second", 0),
    ]


def test_a_call_that_was_added_does_not_change_with_what_it_was_made_of():
    arguments = {"ids": [1]}
    recording = Recording().add("get", arguments, "x")
    arguments["ids"].append(2)
    assert recording.calls[0].arguments == {"ids": [1]}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (("", {}, 1), "tool: expected"),
        (("get", {"x": float("nan")}, 1), "get: arguments and result must be JSON"),
        (("get", {"x": {1, 2}}, 1), "get: arguments and result must be JSON"),
        (("get", {}, {"content": ["x"]}), r"result\.content"),
    ],
)
def test_what_is_no_call_is_not_added(call, says):
    recording = Recording()
    with pytest.raises(FixtureError, match=says):
        recording.add(*call)
    assert len(recording) == 0


@given(added=st.lists(calls, max_size=5), form=st.sampled_from(["plain", "native"]))
def test_what_is_saved_is_loaded_again_as_the_same(tmp_path_factory, added, form):
    recording = Recording()
    for tool, arguments, result, is_error, episode in added:
        recording.add(tool, arguments, result, is_error=is_error, episode=episode)
    path = tmp_path_factory.mktemp("r") / "r.jsonl"
    recording.save(path, form=form, redact=no_redaction)
    again = Recording.load(path, strict=True)
    assert again.episodes == recording.episodes
    assert json.dumps([call.to_json() for call in again]) == json.dumps([call.to_json() for call in recording])


@given(wire=wire_results)
def test_the_plain_form_of_a_result_is_read_back_as_that_result(wire):
    result, is_error = plain_result(wire)
    line = {"tool": "t", "result": result, "is_error": is_error}
    assert migrate_call(line)["result"] == {**wire, "isError": wire.get("isError", False)}


def test_a_result_that_says_no_more_than_a_value_or_a_text_is_that():
    assert plain_result({"content": [{"type": "text", "text": "hi"}]}) == ("hi", False)
    assert plain_result({"content": [{"type": "text", "text": "no"}], "isError": True}) == ("no", True)
    value = {"content": [{"type": "text", "text": '{"a": 1}'}], "structuredContent": {"a": 1}, "_meta": {"x": 1}}
    assert plain_result(value) == ({"a": 1}, False)
    image = {"content": [{"type": "image", "data": "", "mimeType": "image/png"}]}
    assert plain_result(image) == (image, False)


def test_episodes_of_the_same_name_in_several_files_stay_apart(tmp_path):
    for name in ("a", "b"):
        Recording().add("get", {"id": name}, name).save(tmp_path / f"{name}.jsonl")
    recording = Recording.load([tmp_path / "a.jsonl", str(tmp_path / "b.jsonl")])
    assert {name: calls[0].result for name, calls in recording.episodes.items()} == {"default": "a", "b/default": "b"}
    recording.save(tmp_path / "both.jsonl")
    assert list(Recording.load(tmp_path / "both.jsonl").episodes) == ["default", "b/default"]


def test_a_loaded_recording_can_be_added_to(tmp_path):
    shop().save(tmp_path / "r.jsonl")
    recording = Recording.load(tmp_path / "r.jsonl").add("get", {"id": "A2"}, "none", episode="second")
    assert [call.result for call in recording.episodes["second"]] == ["no such order", "none"]
    recording.save(tmp_path / "native.jsonl", form="native")
    assert Recording.load(tmp_path / "native.jsonl").episodes == recording.episodes


def test_secrets_are_taken_out_when_a_recording_is_saved(tmp_path):
    recording = Recording().add("login", {"user": "ann", "password": "hunter2"}, {"token": "t-1"})
    recording.save(tmp_path / "r.jsonl")
    [call] = Recording.load(tmp_path / "r.jsonl")
    assert call.arguments == {"user": "ann", "password": REDACTED}
    assert call.result == {"token": REDACTED}
    assert "hunter2" not in (tmp_path / "r.jsonl").read_text()
    assert "t-1" not in (tmp_path / "r.jsonl").read_text()


def test_saving_replaces_the_file_only_when_all_of_it_is_written(tmp_path):
    path = tmp_path / "r.jsonl"
    shop().save(path)
    before = path.read_bytes()

    def fails(value):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        shop().save(path, redact=fails)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["r.jsonl"]


def recorded(path):
    """As a recorder writes it: a list, a call that asked something in between, a notice, an error of the protocol."""
    asked = {"resultType": "input_required", "inputRequests": {"q": {"method": "elicitation/create", "params": {}}}}
    with Writer(path, redact=no_redaction, ignore=("trace_id",)) as writer:
        for line in (
            Session("s", "2026-01-01T00:00:00Z", "2026-07-28", "stdio", {"name": "x"}),
            Exchange("s", "tools/list", {}, {"tools": []}),
            Exchange("s", "tools/call", {"name": "book", "arguments": {"n": 1}}, asked, position=1),
            Exchange(
                "s",
                "tools/call",
                {"name": "book", "arguments": {"n": 1}},
                {"content": [{"type": "text", "text": "booked"}]},
                resumes={"responses": {"q": {"action": "accept"}}},
                events=(Event("notice", 0.5, "notifications/message", {"level": "info"}),),
                position=2,
            ),
            Exchange("s", "tools/call", {"name": "nope"}, error={"code": -32602, "message": "Unknown tool: nope"}),
            Notice("s", "notifications/tools/list_changed", {}, 2.0),
        ):
            writer.write(line.to_json())


def test_of_a_recorder_s_file_the_finished_calls_are_seen(tmp_path):
    recorded(tmp_path / "r.jsonl")
    calls = Recording.load(tmp_path / "r.jsonl", strict=True).episodes["s"]
    assert [(call.tool, call.result, call.is_error) for call in calls] == [
        ("book", "booked", False),
        ("nope", "Unknown tool: nope", True),
    ]


def test_the_native_form_keeps_all_that_a_recorder_wrote(tmp_path):
    recorded(tmp_path / "r.jsonl")
    Recording.load(tmp_path / "r.jsonl").save(tmp_path / "again.jsonl", form="native")
    one, other = read_recording(tmp_path / "r.jsonl"), read_recording(tmp_path / "again.jsonl")
    assert other.exchanges == one.exchanges
    assert other.sessions == one.sessions
    assert other.notices == one.notices
    assert other.header.ignore == one.header.ignore


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path):
    with pytest.raises(FixtureError, match=r"nowhere\.jsonl: cannot be read"):
        Recording.load(tmp_path / "nowhere.jsonl")
    (tmp_path / "file").write_text("")
    with pytest.raises(FixtureError, match=r"r\.jsonl: cannot be written"):
        shop().save(tmp_path / "file" / "r.jsonl")
