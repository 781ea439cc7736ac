import json

import pytest
from envace_sdk.mcp_servers.request_ids import request_id
from hypothesis import given, settings
from hypothesis import strategies as st

TEXT = st.text(st.characters(codec="utf-8"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.just("id") | st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=40)
@given(st.integers() | TEXT, st.dictionaries(st.text(), JSON), st.dictionaries(st.text(), JSON), st.booleans())
def test_the_id_is_found_wherever_it_stands(number, before, after, ascii_only):
    message = {name: value for name, value in before.items() if name != "id"} | {"id": number}
    message |= {name: value for name, value in after.items() if name != "id"}
    text = json.dumps(message, ensure_ascii=ascii_only)
    assert request_id(text.encode("utf-8", "surrogatepass")) == number


@given(JSON)
def test_any_json_has_the_id_that_a_parser_sees_or_none(value):
    line = json.dumps(value).encode()
    known = value.get("id") if isinstance(value, dict) else None
    try:
        str(known).encode()
    except UnicodeEncodeError:
        known = None
    assert request_id(line) == (known if type(known) in (int, str) else None)


@given(st.binary())
def test_any_bytes_have_an_id_or_none(line):
    assert request_id(line) is None or isinstance(request_id(line), int | str)


@pytest.mark.parametrize(
    "line",
    [b"", b'"id": 7', b'["id", 7]', b'{"x": "\\"id\\": 7"}', b'{"x": {"id": 7}}', b'{"id": 1.0}', b'{"id": "\\ud800"}'],
)
def test_what_is_no_id_is_not_taken_for_one(line):
    assert request_id(line) is None


@pytest.mark.parametrize("part", [b"{", b'"', b'\\"', b"\\", b"x"])
def test_a_long_line_takes_no_long_time(part):
    assert request_id(b'{"a":"' + part * 3_000_000) is None
    assert request_id(b"{" + part * 3_000_000) is None
