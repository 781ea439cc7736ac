import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import FixtureError
from envace_sdk.json import UNSET
from envace_sdk.tools.recordings import Recorded, load_fixtures

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)


def write(tmp_path, *lines):
    path = tmp_path / "fixtures.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_lines_of_one_episode_are_numbered_in_the_order_observed(tmp_path):
    path = write(
        tmp_path,
        {"episode": "a", "tool": "get", "arguments": {"id": 1}, "result": {"id": 1}},
        "",
        {"episode": "b", "tool": "get", "result": "plain"},
        {"episode": "a", "tool": "get", "arguments": {"id": 2}, "result": "no such thing", "is_error": True},
    )
    a1, b1, a2 = load_fixtures(path)
    assert [(f.episode, f.position) for f in (a1, b1, a2)] == [("a", 0), ("b", 0), ("a", 1)]
    assert a1.result.structured == {"id": 1}
    assert json.loads(a1.result.first_text) == {"id": 1}
    assert b1.result.first_text == "plain"
    assert a2.result.is_error


def test_an_mcp_result_is_kept_as_it_was_observed_less_its_metadata(tmp_path):
    wire = {
        "content": [{"type": "text", "text": "hi", "x-vendor": 1}],
        "structuredContent": None,
        "_meta": {"dev.envace/evidence": {"kind": "observed"}},
    }
    [fixture] = load_fixtures(write(tmp_path, {"tool": "t", "result": wire}))
    assert fixture.result.content == ({"type": "text", "text": "hi", "x-vendor": 1},)
    assert fixture.result.structured is None
    assert fixture.result.meta == {}


def test_an_error_has_no_structured_content(tmp_path):
    [fixture] = load_fixtures(write(tmp_path, {"tool": "t", "result": {"code": 4}, "is_error": True}))
    assert fixture.result.structured is UNSET
    assert fixture.result.value() == {"code": 4}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "not JSON"),
        ("[1]", "expected an object"),
        ({"tool": "t"}, "result: missing"),
        ({"result": 1}, "tool: expected"),
        ({"tool": "t", "result": 1, "arguments": []}, "arguments: expected an object"),
        ({"tool": "t", "result": 1, "is_error": "no"}, "is_error: expected true or false"),
        ({"tool": "t", "result": 1, "episode": 3}, "episode: expected a string"),
        ({"tool": "t", "result": 1, "isError": True}, "unknown field 'isError'"),
        ({"tool": "t", "result": {"content": ["text"]}}, "result.content: expected a list of content blocks"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_wrong_line_is_named_with_its_file_number_and_field(tmp_path, line, says):
    path = write(tmp_path, {"tool": "fine", "result": 1}, line)
    with pytest.raises(FixtureError) as caught:
        load_fixtures(path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert says in str(caught.value)


def test_a_wrong_line_can_be_left_out_and_is_then_told_of(tmp_path):
    path = write(tmp_path, {"tool": "fine", "result": 1}, {"tool": "t"}, {"tool": "fine", "result": 2})
    assert [fixture.result.value() for fixture in load_fixtures(path, strict=False)] == [1, 2]
    recorded = Recorded.load([path], strict=False)
    assert [fixture.position for fixture in recorded.fixtures] == [0, 1]
    assert [str(finding) for finding in recorded.recordings[0].findings] == [f"{path}:2: result: missing"]


@given(tool=st.text(min_size=1), arguments=st.dictionaries(st.text(), json_values), result=json_values)
def test_any_call_and_plain_result_is_read_back_unchanged(tmp_path_factory, tool, arguments, result):
    path = write(tmp_path_factory.mktemp("f"), {"tool": tool, "arguments": arguments, "result": {"value": result}})
    [fixture] = load_fixtures(path)
    assert fixture.call.name == tool
    assert fixture.call.arguments == arguments
    assert fixture.result.value() == {"value": result}
