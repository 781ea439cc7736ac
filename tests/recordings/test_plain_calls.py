"""Calls, one a line, as people write them: what is wrong is named by file, line and field, and the rest is kept."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import FixtureError
from envace_sdk.recordings import Recording, read_recording

GOOD = {"episode": "a", "tool": "get", "arguments": {"id": 1}, "result": {"n": 1}, "is_error": False}


def written(tmp_path, *lines, end="\n"):
    path = tmp_path / "calls.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + end, encoding="utf-8")
    return path


WRONG = [
    ("{", "", "not JSON"),
    ("nonsense", "", "not JSON"),
    ('{"tool": "get", "tool"', "", "not JSON"),
    ("[1]", "", "expected an object"),
    ("7", "", "expected an object"),
    ({"arguments": {}, "result": 1}, "tool", "expected the tool's name"),
    ({"tool": "", "result": 1}, "tool", "expected the tool's name"),
    ({"tool": ["get"], "result": 1}, "tool", "expected the tool's name"),
    ({"tool": "get", "arguments": [1], "result": 1}, "arguments", "expected an object"),
    ({"tool": "get", "arguments": None, "result": 1}, "arguments", "expected an object"),
    ({"tool": "get", "arguments": "id=1", "result": 1}, "arguments", "it is text, not JSON"),
    ({"tool": "get", "arguments": "[1]", "result": 1}, "arguments", "JSON text of one"),
    ({"tool": "get", "arguments": {}}, "result", "missing"),
    ({"tool": "get", "result": 1, "is_error": 1}, "is_error", "expected true or false"),
    ({"tool": "get", "result": 1, "episode": 1}, "episode", "expected a string"),
    ({"tool": "get", "result": 1, "is_errror": True}, "", "unknown field 'is_errror'"),
    ({"tool": "get", "result": {"content": [1]}}, "result.content", "expected a list of content blocks"),
    ('{"tool": "get", "arguments": {"x": [1, NaN]}, "result": 1}', "arguments.x[1]", "NaN is no JSON value"),
    ('{"tool": "get", "result": -Infinity}', "result", "-Infinity is no JSON value"),
    ('{"tool": "get", "result": {"x": 1e999}}', "result.x", "beyond all floats"),
    ('{"tool": "get", "arguments": "{\\"x\\": NaN}", "result": 1}', "arguments", "NaN is no JSON value"),
    ('{"tool": "get", "result": ' + "[" * 300 + "]" * 300 + "}", "", "nested deeper than 200 levels"),
    ('{"tool": "get", "result": ' + "[" * 100_000, "", "nested deeper than 200 levels"),
    ('{"tool": "get", "result": ' + "9" * 5000 + "}", "", "not JSON"),
]


@pytest.mark.parametrize(("line", "field", "message"), WRONG, ids=[f"{m} {n}" for n, (_, _, m) in enumerate(WRONG)])
def test_a_wrong_line_is_left_out_and_named_and_the_others_are_kept(tmp_path, line, field, message):
    path = written(tmp_path, GOOD, line, {**GOOD, "arguments": {"id": 2}})
    recording = Recording.load(path)
    [finding] = recording.findings
    assert (finding.file, finding.line, finding.field, finding.severity) == (str(path), 2, field, "error")
    assert message in finding.message
    assert [call.arguments for call in recording] == [{"id": 1}, {"id": 2}]
    with pytest.raises(FixtureError) as caught:
        Recording.load(path, strict=True)
    assert str(caught.value) == str(finding)


@pytest.mark.parametrize(("line", "field", "message"), WRONG, ids=[f"{m} {n}" for n, (_, _, m) in enumerate(WRONG)])
def test_a_wrong_first_line_does_not_hide_what_the_file_is(tmp_path, line, field, message):
    recording = Recording.load(written(tmp_path, line, GOOD))
    assert [(finding.line, finding.field) for finding in recording.findings] == [(1, field)]
    assert len(recording) == 1


def test_a_last_line_that_was_cut_off_is_named(tmp_path):
    recording = Recording.load(written(tmp_path, GOOD, json.dumps(GOOD)[:-5], end=""))
    assert [finding.line for finding in recording.findings] == [2]
    assert len(recording) == 1


def test_bytes_that_are_no_text_are_named_with_their_place(tmp_path):
    path = tmp_path / "calls.jsonl"
    path.write_bytes(json.dumps(GOOD).encode() + b'\n{"tool": "\xff"}\n')
    [finding] = Recording.load(path).findings
    assert str(finding) == f"{path}:2: not UTF-8: byte 11 of the line"


def test_a_byte_order_mark_line_ends_of_windows_and_empty_lines_are_no_mistakes(tmp_path):
    path = tmp_path / "calls.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode() + b"\r\n\r\n" + json.dumps(GOOD).encode() + b"\r\n")
    assert len(Recording.load(path, strict=True)) == 2


def test_arguments_may_be_json_text_of_an_object(tmp_path):
    [call] = Recording.load(written(tmp_path, {**GOOD, "arguments": '{"id": 7}'}), strict=True)
    assert call.arguments == {"id": 7}


def test_calls_may_stand_in_one_list_over_several_lines(tmp_path):
    path = tmp_path / "calls.json"
    path.write_text(json.dumps([GOOD, {"tool": "get"}, {**GOOD, "tool": "put"}], indent=2))
    recording = Recording.load(path)
    assert [call.tool for call in recording] == ["get", "put"]
    assert [(finding.line, finding.field) for finding in recording.findings] == [(1, "[1].result")]


def test_a_list_that_was_cut_off_keeps_what_is_whole(tmp_path):
    path = tmp_path / "calls.json"
    path.write_text(json.dumps([GOOD, {**GOOD, "tool": "put"}, GOOD], indent=2)[:-30])
    recording = Recording.load(path)
    assert [call.tool for call in recording] == ["get", "put"]
    [finding] = [finding for finding in recording.findings if finding.severity == "error"]
    assert finding.message == "not JSON: the list is broken here"
    assert finding.line > 10


def test_episodes_that_take_turns_are_kept_apart_and_told_of(tmp_path):
    recording = Recording.load(written(tmp_path, GOOD, {**GOOD, "episode": "b"}, {**GOOD, "arguments": {"id": 2}}))
    assert {name: len(calls) for name, calls in recording.episodes.items()} == {"a": 2, "b": 1}
    [finding] = recording.findings
    assert (finding.line, finding.field, finding.severity) == (3, "episode", "warning")


def test_a_line_that_is_there_twice_is_kept_and_told_of(tmp_path):
    recording = Recording.load(written(tmp_path, GOOD, GOOD))
    assert len(recording) == 2
    [finding] = recording.findings
    assert finding.severity == "warning"
    assert finding.line == 2
    assert "the call of line 1 again, and answered alike" in finding.message


def test_a_file_that_was_written_twice_is_told_of(tmp_path):
    lines = [GOOD, {**GOOD, "tool": "put"}, {**GOOD, "tool": "cut"}]
    [finding] = Recording.load(written(tmp_path, *lines, *lines)).findings
    assert "lines 4 to 6 say again what lines 1 to 3 say" in finding.message


def test_answers_that_contradict_are_told_of_once_for_each_tool(tmp_path):
    lines = [{**GOOD, "result": {"n": n}} for n in range(4)]
    [finding] = Recording.load(written(tmp_path, *lines)).findings
    assert (finding.line, finding.field, finding.severity) == (2, "result", "warning")
    assert "answered otherwise; so are 3 of 3" in finding.message


def test_what_is_refused_the_second_time_is_no_contradiction(tmp_path):
    again = {**GOOD, "result": "done already", "is_error": True}
    assert Recording.load(written(tmp_path, GOOD, again)).findings == ()


def test_calls_are_kept_among_spans(tmp_path):
    path = written(tmp_path, {"resourceSpans": []}, GOOD, {"hello": 1})
    recording = Recording.load(path)
    assert [call.tool for call in recording] == ["get"]
    [finding] = recording.findings
    assert finding.line == 3


def test_of_very_many_findings_the_rest_is_counted(tmp_path):
    recording = Recording.load(written(tmp_path, GOOD, *["{"] * 800))
    assert len(recording.findings) == 501
    assert recording.findings[-1].message == "300 more like these"


def test_a_recording_of_a_later_version_is_refused_strict_or_not(tmp_path):
    path = written(tmp_path, {"kind": "header", "format": "envace-recording", "version": 99})
    with pytest.raises(FixtureError, match="upgrade"):
        Recording.load(path)


def test_a_recording_that_lost_its_header_keeps_its_exchanges(tmp_path):
    exchange = {"kind": "exchange", "session": "s", "method": "tools/call", "params": {"name": "get"}, "result": {}}
    recording = Recording.load(written(tmp_path, '{"kind": "header", "form', exchange, {**exchange, "session": 5}))
    assert [call.tool for call in recording] == ["get"]
    assert [(finding.line, finding.field) for finding in recording.findings] == [(1, ""), (2, ""), (3, "session")]


def test_an_unfinished_last_line_of_a_recorder_is_left_out_strict_or_not(tmp_path):
    header = {"kind": "header", "format": "envace-recording", "version": 2}
    path = written(tmp_path, header, '{"kind": "exch', end="")
    for strict in (True, False):
        file = read_recording(path, strict=strict)
        assert file.torn
        assert [(finding.line, finding.severity) for finding in file.findings] == [(2, "warning")]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)
good_lines = st.fixed_dictionaries(
    {"tool": st.text(min_size=1), "result": st.builds(lambda value: {"value": value}, json_values)},
    optional={
        "episode": st.text(),
        "is_error": st.booleans(),
        "arguments": st.dictionaries(st.text(), json_values, max_size=3)
        | st.dictionaries(st.text(), json_values, max_size=3).map(json.dumps),
    },
)
ALIKE = [
    {"tool": 1},
    {"tool": "x", "result": 1, "more": 1},
    {"kind": "exchange"},
    {"kind": "song"},
    {"kind": ["exchange"]},
    {"role": ["user"], "type": {}},
    {"role": "user", "content": "hi"},
    {"role": "tool", "tool_call_id": "1", "content": "hi"},
    {"resourceSpans": [{"scopeSpans": [{"spans": [{"name": 1, "attributes": [{"key": "a"}]}]}]}]},
    {"run_type": "tool", "id": "1"},
    {"type": "tool_call", "name": "x", "args": "{"},
]
garbage = st.one_of(
    st.binary(max_size=40).map(lambda data: data.replace(b"\n", b"").replace(b"\r", b"")),
    st.sampled_from([b"{", b"[", b"}", b"]", b"[[", b'{"tool":', b'"', b"nan", b"NaN", b"null", b"\x00", b"," * 3]),
    json_values.map(lambda value: json.dumps(value).encode()),
    st.sampled_from(ALIKE).map(lambda value: json.dumps(value).encode()),
    good_lines.map(lambda line: json.dumps(line).encode()[:-3]),
)


@given(lines=st.lists(good_lines | garbage, max_size=8), end=st.sampled_from([b"", b"\n"]))
def test_whatever_lines_there_are_reading_them_ends_and_no_good_one_is_lost(tmp_path_factory, lines, end):
    path = tmp_path_factory.mktemp("r") / "calls.jsonl"
    path.write_bytes(b"\n".join(x if isinstance(x, bytes) else json.dumps(x).encode() for x in lines) + end)
    recording = Recording.load(path)
    good = [line for line in lines if isinstance(line, dict)]
    kept = [(call.tool, call.arguments) for call in recording if call.tool != "x"]
    wanted = [(line["tool"], read(line.get("arguments", {}))) for line in good if line["tool"] != "x"]
    assert kept == wanted
    for finding in recording.findings:
        assert 0 <= finding.line <= len(lines)
        assert str(finding).startswith(str(path))


def read(arguments):
    return json.loads(arguments) if isinstance(arguments, str) else arguments
