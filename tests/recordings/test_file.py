"""The file: what is written is read back, whatever happened to its end, and older versions are read too."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import FixtureError
from envace_sdk.recordings import Client, Event, Exchange, Notice, Session, Writer, no_redaction, read_recording

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), json_values, max_size=3)
events = st.one_of(
    st.builds(Event, st.just("notice"), st.just(0.5), st.just("notifications/message"), objects, wide=st.booleans()),
    st.builds(Event, st.just("ask"), st.just(0.5), st.just("elicitation/create"), objects, answer=objects),
    st.builds(Event, st.just("ask"), st.just(0.5), st.just("roots/list"), objects, error=objects),
    st.builds(Event, st.just("disconnect"), st.just(0.25)),
)
exchanges = st.builds(
    Exchange,
    session=st.text(min_size=1),
    method=st.text(min_size=1),
    params=objects,
    result=objects,
    at=st.just(1.5),
    took=st.just(0.25),
    client=st.builds(Client, objects, st.none() | st.just("info"), st.booleans()),
    events=st.lists(events, max_size=3).map(tuple),
    resumes=st.none() | objects.map(lambda responses: {"responses": responses, "state": "s"}),
)


def exchange(session="a", name="get", result=None, **more):
    return Exchange(session, "tools/call", {"name": name, "arguments": {}}, result or {"content": []}, **more)


def write(path, *lines):
    with Writer(path, redact=no_redaction) as writer:
        for line in lines:
            writer.write(line.to_json())


@given(exchange=exchanges)
def test_an_exchange_is_read_back_as_it_was_written(tmp_path_factory, exchange):
    path = tmp_path_factory.mktemp("r") / "r.jsonl"
    write(path, exchange)
    assert read_recording(path).exchanges == (exchange,)


def test_sessions_are_told_of_once_with_all_that_was_said(tmp_path):
    path = tmp_path / "r.jsonl"
    write(
        path,
        Session("a", "2026-01-01T00:00:00Z", "2025-11-25", "stdio"),
        exchange("a"),
        Session("a", "", "", "", {"name": "x"}, {"tools": {}}, "be kind"),
    )
    [session] = read_recording(path).sessions
    assert session == Session(
        "a", "2026-01-01T00:00:00Z", "2025-11-25", "stdio", {"name": "x"}, {"tools": {}}, "be kind"
    )


def test_a_notice_outside_every_request_belongs_to_the_one_that_ended_before_it(tmp_path):
    path = tmp_path / "r.jsonl"
    write(
        path,
        Notice("a", "early"),
        exchange("a"),
        exchange("b"),
        Notice("a", "notifications/tools/list_changed", {}, 2.0),
    )
    recording = read_recording(path)
    assert [notice.method for notice in recording.notices] == ["early"]
    assert [event.method for event in recording.exchanges[0].events] == ["notifications/tools/list_changed"]
    assert recording.exchanges[1].events == ()


@pytest.mark.parametrize("cut", [1, 5, 40, 200])
def test_a_line_that_was_cut_off_is_left_out_and_taken_away_by_the_next_writer(tmp_path, cut):
    path = tmp_path / "r.jsonl"
    write(path, exchange("a", result={"content": [{"type": "text", "text": "whole"}]}))
    before = path.read_bytes()
    write(path, exchange("a", name="second", result={"text": "x" * 300}))
    path.write_bytes(path.read_bytes()[:-cut])
    recording = read_recording(path)
    assert len(recording.exchanges) == (2 if cut == 1 else 1)  # only the line break is missing: nothing is lost
    write(path, exchange("a", name="third"))
    names = [one.params["name"] for one in read_recording(path).exchanges]
    assert names[0] == "get"
    assert names[-1] == "third"
    assert path.read_bytes().startswith(before)


@pytest.mark.parametrize("size", [0, 1, 10, 60])
def test_a_file_whose_header_was_cut_off_is_begun_anew(tmp_path, size):
    path = tmp_path / "r.jsonl"
    write(path)
    path.write_bytes(path.read_bytes()[:size])
    assert read_recording(path).exchanges == ()
    write(path, exchange())
    assert len(read_recording(path).exchanges) == 1


@pytest.mark.parametrize("content", [b"# notes\n", b"no line break", b'{"tool": "t", "result": 1}\n'])
def test_a_file_that_is_no_recording_is_not_added_to(tmp_path, content):
    path = tmp_path / "notes.md"
    path.write_bytes(content)
    with pytest.raises(FixtureError, match="is there already"):
        Writer(path)
    assert path.read_bytes() == content


def test_a_later_format_version_asks_for_an_upgrade(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"kind": "header", "format": "envace-recording", "version": 99}\n')
    with pytest.raises(FixtureError, match=r"r\.jsonl:1: format version 99 is newer"):
        read_recording(path)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[1]", "expected an object"),
        ('{"kind": "song"}', "kind: expected header, session, exchange or notice"),
        ('{"kind": "exchange", "session": "a", "method": "m"}', "either a result or an error"),
        ('{"kind": "exchange", "session": "a", "method": "m", "result": []}', "result: expected an object"),
        ('{"kind": "exchange", "session": "a", "result": {}}', "method: expected text"),
        ('{"kind": "exchange", "session": "a", "method": "m", "result": {}, "events": [{}]}', "events: expected"),
        ('{"kind": "exchange", "session": "a", "method": "m", "result": {}, "at": "x"}', "at: expected a number"),
        ("{", "not JSON"),
    ],
)
def test_a_wrong_line_is_named_with_its_number_and_field(tmp_path, line, says):
    path = tmp_path / "r.jsonl"
    write(path)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(FixtureError) as caught:
        read_recording(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert says in str(caught.value)


def test_files_without_a_header_are_read_as_the_first_version(tmp_path):
    path = tmp_path / "fixtures.jsonl"
    lines = [
        {"tool": "get", "arguments": {"id": "7"}, "result": {"n": 1}},
        {"tool": "get", "result": "gone", "is_error": True},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    recording = read_recording(path)
    assert recording.header.version == 1
    assert recording.exchanges[0].params == {"name": "get", "arguments": {"id": "7"}}
    assert recording.exchanges[0].result["structuredContent"] == {"n": 1}
    assert recording.exchanges[1].result == {"content": [{"type": "text", "text": "gone"}], "isError": True}


def test_the_pages_of_a_list_are_put_together_and_the_last_complete_walk_counts(tmp_path):
    def page(session, items, cursor=None, after=None):
        params = {} if cursor is None else {"cursor": cursor}
        result = {"tools": [{"name": name} for name in items]} | ({} if after is None else {"nextCursor": after})
        return Exchange(session, "tools/list", params, result)

    path = tmp_path / "r.jsonl"
    write(path, page("a", "p", after="2"), page("a", "q", "2"), page("b", "r", after="2"))
    assert [tool["name"] for tool in read_recording(path).listing("tools/list", "tools")] == ["p", "q"]
    assert read_recording(path).listing("prompts/list", "prompts") is None
