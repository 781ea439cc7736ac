import json

import pytest
from hypothesis import given
from tool_strategies import JSON

from envace_sdk.errors import ToolsetError
from envace_sdk.tools import Toolset, export

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
MCP = {"name": "weather", "description": "Tells the weather.", "inputSchema": SCHEMA}
CHAT = {"type": "function", "function": {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}}
FLAT = {"type": "function", "name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}
ANTHROPIC = {"name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA}
FORMATS = {"mcp": MCP, "openai": CHAT, "openai-responses": FLAT, "anthropic": ANTHROPIC}


def only_tool(document):
    toolset = Toolset.from_document(document, name="x")
    assert not toolset.quarantined
    [tool] = toolset
    return tool


@pytest.mark.parametrize("written", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda tool: [tool],
        lambda tool: tool,
        lambda tool: {"model": "m", "tools": [tool]},
        lambda tool: {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool], "ttlMs": 0}},
        lambda tool: {"result": {"tools": [tool]}},
    ],
    ids=["list", "one tool", "request", "JSON-RPC result", "bare result"],
)
def test_every_format_is_recognised_in_every_wrapping(written, wrap):
    tool = only_tool(wrap(written))
    assert (tool.name, tool.description, tool.input_schema) == ("weather", "Tells the weather.", SCHEMA)


def test_the_old_functions_of_openai_are_recognised():
    assert only_tool({"functions": [{"name": "weather", "parameters": SCHEMA}]}).input_schema == SCHEMA


def test_formats_may_be_mixed_in_one_list():
    tools = [{**MCP, "name": "a"}, {**ANTHROPIC, "name": "b"}, {**FLAT, "name": "c"}]
    assert [tool.name for tool in Toolset.from_document(tools, name="x")] == ["a", "b", "c"]


def test_mcp_definitions_are_the_very_objects_that_were_loaded():
    definition = {**MCP, "x-vendor": {"b": 1, "a": [None]}}
    assert only_tool([definition]).definition is definition


@pytest.mark.parametrize("parameters", [None, {}, {"properties": {}}])
def test_a_missing_schema_or_type_is_that_of_an_object_for_openai(parameters):
    schema = only_tool([{"type": "function", "name": "f", "parameters": parameters}]).input_schema
    assert schema == {"type": "object", "properties": {}}


@pytest.mark.parametrize("tool", [{"type": "web_search"}, {"type": "web_search_20250305", "name": "web_search"}])
def test_a_tool_that_the_provider_runs_is_quarantined_and_called_what_it_is(tool):
    toolset = Toolset.from_document({"tools": [tool, MCP]}, name="x")
    assert toolset.quarantined == (tool,)
    assert next(finding.rule for finding in toolset.findings if finding.severity == "error") == "hosted-tool"


def test_a_page_that_is_not_the_last_is_said_to_be_partial():
    toolset = Toolset.from_document({"tools": [MCP], "nextCursor": "2"}, name="x")
    assert [(finding.tool, finding.rule) for finding in toolset.findings] == [("*", "partial")]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}, "Method not found"),
        ({"tools": {}}, "/tools: expected a list"),
        ({"result": {"tools": None}}, "/tools: expected a list"),
        ({"a": 1}, "expected an MCP tools/list result"),
        ({}, "expected an MCP tools/list result"),
        (5, "expected an MCP tools/list result"),
        (None, "expected an MCP tools/list result"),
    ],
)
def test_a_document_that_holds_no_tools_is_refused_with_what_was_expected(document, said):
    with pytest.raises(ToolsetError, match=said):
        Toolset.from_document(document, name="x")


def test_an_empty_list_is_an_empty_toolset():
    assert len(Toolset.from_document({"tools": []}, name="x")) == 0


@pytest.mark.parametrize("to", ["openai", "openai-responses", "anthropic"])
def test_an_mcp_definition_is_written_in_other_formats(to):
    exported, losses = export(MCP, to)
    assert exported == FORMATS[to]
    assert losses == []


@pytest.mark.parametrize(
    ("form", "written"),
    [
        ("openai", {**CHAT, "function": {**CHAT["function"], "strict": True}, "x": 1}),
        ("openai-responses", {**FLAT, "strict": True}),
        ("anthropic", {**ANTHROPIC, "type": "custom", "cache_control": {"type": "ephemeral"}}),
    ],
)
def test_there_and_back_loses_nothing(form, written):
    exported, losses = export(only_tool([written]).definition, form)
    assert exported == written
    assert losses == []


def test_strictness_survives_between_the_two_formats_of_openai():
    exported, losses = export(only_tool([{**FLAT, "strict": True}]).definition, "openai")
    assert exported == {"type": "function", "function": {**CHAT["function"], "strict": True}}
    assert losses == []


def test_what_has_no_place_in_the_other_format_is_named():
    definition = {**MCP, "name": "a.b", "title": "T", "outputSchema": SCHEMA, "_meta": {"v": 1}, "icons": None}
    exported, losses = export(definition, "openai")
    assert set(exported["function"]) == {"name", "description", "parameters"}
    assert {(loss.tool, loss.pointer, loss.rule) for loss in losses} == {
        ("a.b", "/name", "name-refused"),
        ("a.b", "/title", "lost"),
        ("a.b", "/outputSchema", "lost"),
        ("a.b", "/_meta", "lost"),
    }


def test_mcp_to_mcp_is_the_definition_itself():
    definition = {**MCP, "x-vendor": 1}
    assert export(definition, "mcp") == (definition, [])


@given(JSON)
def test_any_document_is_read_or_refused(document):
    try:
        toolset = Toolset.from_document(document, name="x")
    except ToolsetError:
        return
    assert len(toolset) + len(toolset.quarantined) == len(toolset.definitions)
    for tool in toolset:
        for form in FORMATS:
            json.dumps(export(tool.definition, form)[0])
