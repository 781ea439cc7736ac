import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.faults import malform
from envace_sdk.json import UNSET
from envace_sdk.jsonschema import compile_schema
from envace_sdk.tools.model import Tool, ToolResult

SCHEMAS = [
    {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    {"type": "object", "properties": {"items": {"type": "array"}, "total": {"type": "number"}}},
    {"type": "object", "minProperties": 1},
    {"type": "array", "items": {"type": "string"}},
    {"anyOf": [{"type": "object"}, {"type": "null"}]},
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def tool(output=None):
    definition = {"name": "t", "inputSchema": {"type": "object"}}
    return Tool(definition if output is None else {**definition, "outputSchema": output})


@pytest.mark.parametrize("schema", SCHEMAS)
@given(value=JSON)
@settings(max_examples=30, deadline=None)
def test_a_broken_answer_is_never_valid_and_always_json(schema, value):
    result = malform(ToolResult.json(value, structured=True), tool(schema), None)
    assert not compile_schema(schema).is_valid(result.structured)
    assert json.loads(result.first_text) == result.structured


def test_as_little_as_possible_is_changed():
    result = malform(ToolResult.json({"a": 1, "n": 2}, structured=True), tool(SCHEMAS[0]), "schema")
    assert result.structured == {"a": 1, "n": [2]}


@pytest.mark.parametrize("output", [None, True, {}])
@pytest.mark.parametrize("breaks", [None, "schema", "protocol"])
def test_the_protocol_is_broken_where_no_schema_can_be(output, breaks):
    result = malform(ToolResult.text("hello"), tool(output), breaks)
    assert not isinstance(result.wire["content"], list)
    assert result.structured is UNSET


def test_an_error_result_breaks_the_protocol():
    result = malform(ToolResult.text("no", is_error=True), tool(SCHEMAS[0]), "schema")
    assert result.wire == {"content": {"type": "text", "text": "no"}, "isError": True}


@given(value=JSON)
def test_cut_json_cannot_be_parsed(value):
    result = malform(ToolResult.json(value, structured=False), tool(), "json")
    with pytest.raises(ValueError):
        json.loads(result.first_text)
