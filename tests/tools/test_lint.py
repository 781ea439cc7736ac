import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_shapes import BROKEN, COMMON, OBJECT, SERVED, tool
from tool_strategies import JSON, TOOLS

from envace_sdk.tools import Toolset, lint
from envace_sdk.tools.jsonness import MAX_DEPTH


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.id)
def test_a_tool_no_client_could_be_given_is_quarantined_with_the_place_the_rule_and_the_mend(case):
    good = {**tool(description="good"), "name": "good"}
    toolset = Toolset.from_definitions([good, case.definition], name="x")
    assert [served.name for served in toolset] == ["good"]
    assert len(toolset.quarantined) == 1
    assert toolset.quarantined[0] is case.definition
    [first, *_] = [finding for finding in toolset.findings if finding.severity == "error"]
    assert (first.pointer, first.rule) == (case.pointer, case.rule)
    assert first.tool == (case.definition["name"] if _has_name(case.definition) else "#1")
    assert first.message
    assert first.mend


def _has_name(definition):
    return isinstance(definition, dict) and isinstance(definition.get("name"), str)


@pytest.mark.parametrize("case", SERVED, ids=lambda case: case.id)
def test_a_legal_tool_is_served_as_it_is_with_warnings_about_who_trips_on_it(case):
    before = json.dumps(case.definition)
    toolset = Toolset.from_definitions([case.definition], name="x")
    assert [served.definition for served in toolset] == [case.definition]
    assert json.dumps(toolset.tools[0].definition) == before
    assert not [finding for finding in toolset.findings if finding.severity == "error"]
    assert {finding.rule for finding in toolset.findings} - COMMON == case.rules


def test_every_fault_of_a_tool_is_said_at_once():
    bad = tool({"type": "object", "properties": {"a": {"$ref": "#/gone"}}}, annotations={"readOnlyHint": 1}, icons=7)
    rules = {finding.rule for finding in lint([bad])}
    assert rules == {"annotations", "icons", "dangling-ref"}


def test_the_second_of_two_tools_with_one_name_is_quarantined():
    first, second = tool(description="first"), tool(description="second")
    toolset = Toolset.from_definitions([first, second, {**first, "name": "u"}], name="x")
    assert [served.name for served in toolset] == ["t", "u"]
    assert toolset["t"].description == "first"
    assert toolset.quarantined == (second,)
    assert [(f.tool, f.rule) for f in toolset.findings if f.severity == "error"] == [("t", "duplicate")]


def test_a_quarantined_tool_does_not_take_a_name_from_a_good_one():
    toolset = Toolset.from_definitions([tool({}), tool(description="good")], name="x")
    assert toolset["t"].description == "good"


def test_a_warning_speaks_once_a_tool_however_often_it_applies():
    schema = {"type": "object", "properties": {name: {} for name in "abc"}}
    assert [finding.pointer for finding in lint([tool(schema)]) if finding.rule == "untyped-property"] == [
        "/inputSchema/properties/a"
    ]


def test_pointers_escape_what_json_pointers_escape():
    schema = {"type": "object", "properties": {"a/b~c": {"$ref": "#/gone"}}}
    assert lint([tool(schema)])[0].pointer == "/inputSchema/properties/a~1b~0c/$ref"


def test_what_could_play_tricks_on_a_terminal_is_escaped_when_a_finding_is_shown():
    schema = {"type": "object", "properties": {"p\x9b": {"$ref": "#/\x07"}}}
    [finding, *_] = lint([{"name": "a\x1b[2J\nb", "inputSchema": schema}])
    assert finding.tool == "a\x1b[2J\nb"
    assert str(finding).isprintable()
    assert str(finding).startswith("error: a\\x1b[2J\\nb/inputSchema/properties/p\\x9b/$ref: #/\\x07 leads to nothing")


def test_the_deepest_definition_that_is_served_and_the_first_that_is_not():
    def definition(depth):
        value = 1
        for _ in range(depth - 2):
            value = [value]
        return tool(_meta={"a": value}, description="d")

    assert lint([definition(MAX_DEPTH)]) == []
    assert [finding.rule for finding in lint([definition(MAX_DEPTH + 1)])] == ["too-deep"]


def test_a_definition_that_contains_itself_is_told_and_not_walked_for_ever():
    definition = tool()
    definition["_meta"] = {"self": definition}
    assert [finding.rule for finding in lint([definition])] == ["too-deep"]
    wide = [1]
    for _ in range(60):
        wide = [wide, wide]
    assert [finding.rule for finding in lint([tool(_meta={"a": wide})])] == ["too-large"]


def test_a_long_chain_of_references_costs_no_more_than_its_length():
    links = 5_000
    definitions = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(links)} | {f"d{links}": {"type": "string"}}
    found = lint([tool({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions})])
    assert "recursive" not in {finding.rule for finding in found}


def test_a_catalogue_that_is_larger_than_clients_read_at_once_is_said_to_be():
    large = [{**tool(OBJECT, description="x" * 400_000), "name": f"t{n}"} for n in range(3)]
    [finding] = lint(large)
    assert (finding.tool, finding.rule, finding.severity) == ("*", "catalogue-size", "warning")


def test_a_finding_reads_as_one_line_and_converts_to_json():
    [finding, *_] = lint([tool({})])
    assert str(finding).startswith("error: t/inputSchema: the root has no")
    assert finding.to_json() == {
        "tool": "t",
        "pointer": "/inputSchema",
        "rule": "input-type",
        "message": finding.message,
        "mend": finding.mend,
        "severity": "error",
    }


@given(st.lists(TOOLS | JSON, max_size=4))
def test_every_definition_is_served_or_quarantined_with_a_finding_and_nothing_raises(definitions):
    toolset = Toolset.from_definitions(definitions, name="x")
    assert len(toolset) + len(toolset.quarantined) == len(definitions) == len(toolset.definitions)
    errors = [finding for finding in toolset.findings if finding.severity == "error"]
    assert bool(errors) == bool(toolset.quarantined)
    assert all(finding.message and finding.mend and finding.tool for finding in toolset.findings)
    assert lint(definitions) == list(toolset.findings)
