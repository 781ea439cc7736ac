import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_texts import JSON, MESSAGES

from envace_sdk.errors import MalformedResponseError
from envace_sdk.jsonschema import compile_schema
from envace_sdk.roles import parse_response, render_response, response_schema
from envace_sdk.tools.model import Tool, ToolResult
from envace_sdk.tools.shipped import shipped
from envace_sdk.tools.toolset import Toolset

FREE = Tool({"name": "f", "inputSchema": {"type": "object"}})
TREE = Tool(
    {
        "name": "tree",
        "inputSchema": {"type": "object"},
        "outputSchema": {
            "type": "object",
            "properties": {"name": {"$ref": "#/$defs/Name"}, "inner": {"type": "array", "items": {"$ref": "#"}}},
            "required": ["name"],
            "additionalProperties": False,
            "$defs": {"Name": {"type": "string", "minLength": 1}},
        },
    }
)


@given(value=JSON)
def test_a_rendered_result_is_read_back(value):
    result = ToolResult.text(value) if isinstance(value, str) else ToolResult.json(value, structured=False)
    read = parse_response(render_response(result), FREE)
    assert not read.is_error
    assert read.value() == result.value()


@given(message=st.text(min_size=1))
def test_a_rendered_error_is_read_back(message):
    read = parse_response(render_response(ToolResult.text(message, is_error=True)), FREE)
    assert read.is_error
    assert read.first_text == message


def test_a_result_that_speaks_of_errors_is_no_error():
    result = ToolResult.json({"error": "none"}, structured=False)
    assert parse_response(render_response(result), FREE) == result


def test_what_has_an_output_schema_gets_structured_content():
    read = parse_response('<response>{"result": {"name": "a", "inner": [{"name": "b"}]}}</response>', TREE)
    assert read.structured == {"name": "a", "inner": [{"name": "b"}]}


def test_a_thought_before_the_response_is_passed_over():
    text = '<think>It is {"result": 2}.</think>\n<response> {"result": 1} </response>\n'
    assert parse_response(text, FREE).value() == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "does not begin"),
        ('{"result": 1}', "does not begin"),
        ('Sure! <response>{"result": 1}</response>', "does not begin"),
        ('<response>{"result": 1}', "not followed by </response>"),
        ('<response>{"result": 1}</response> Done.', "text after the response"),
        ('<response>{"result": 1', "cut off"),
        ("<response>1</response>", "should begin"),
        ("<response>[1]</response>", "one member"),
        ("<response>{}</response>", "one member"),
        ('<response>{"result": 1, "error": "x"}</response>', "one member"),
        ('<response>{"error": ""}</response>', "error is not a text"),
        ('<response>{"error": {"code": 4}}</response>', "error is not a text"),
        ('<response>{"result": NaN}</response>', "no NaN"),
        ('<response>{"result": 1, "result": 2}</response>', "twice"),
    ],
)
def test_what_is_no_response_is_an_error_that_says_why(text, reason):
    with pytest.raises(MalformedResponseError, match=reason):
        parse_response(text, FREE)


def test_a_result_that_breaks_the_output_schema_is_an_error_that_names_the_place():
    with pytest.raises(MalformedResponseError, match="/inner/0/name"):
        parse_response('<response>{"result": {"name": "a", "inner": [{"name": ""}]}}</response>', TREE)


def test_a_constrained_text_may_come_without_its_tag_where_that_is_allowed():
    assert parse_response('{"result": 1}', FREE, bare=True).value() == 1
    assert parse_response('<response>{"result": 1}</response>', FREE, bare=True).value() == 1
    with pytest.raises(MalformedResponseError, match="text after"):
        parse_response('{"result": 1}</response>', FREE, bare=True)


@given(text=MESSAGES.map(lambda text: f"<response>{text}</response>") | st.text())
def test_any_text_is_a_response_or_refused(text):
    with contextlib.suppress(MalformedResponseError):
        parse_response(text, FREE, bare=True)


@pytest.mark.parametrize("folder", shipped().values(), ids=shipped())
def test_the_schema_of_a_response_takes_what_the_output_schema_takes(folder):
    for tool in Toolset.load(folder):
        compiled = compile_schema(response_schema(tool))
        assert compiled.is_valid({"error": "no"})
        assert not compiled.is_valid({"error": ""})
        assert not compiled.is_valid({"result": {"no such member": 1}})
        assert not compile_schema(response_schema(tool, errors=False)).is_valid({"error": "no"})


def test_references_of_an_output_schema_to_itself_still_lead_there():
    compiled = compile_schema(response_schema(TREE))
    assert compiled.is_valid({"result": {"name": "a", "inner": [{"name": "b"}]}})
    assert not compiled.is_valid({"result": {"name": "a", "inner": [{"name": ""}]}})
    assert not compiled.is_valid({"result": {"name": "a", "inner": [{"name": "b", "x": 1}]}})
    before = json.dumps(TREE.definition)
    response_schema(TREE)
    assert json.dumps(TREE.definition) == before
