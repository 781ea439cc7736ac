import copy

import pytest
from hypothesis import given
from tool_shapes import OBJECT, tool
from tool_strategies import TOOLS

from envace_sdk.tools import ERAS, Toolset, project
from envace_sdk.tools.eras import is_modern

LEGACY = ERAS[:-1]


def test_revisions_are_modern_from_2026_07_28_on():
    assert [era for era in ERAS if is_modern(era)] == ["2026-07-28"]
    assert is_modern("2027-01-01")


@pytest.mark.parametrize("era", ERAS)
def test_what_every_era_carries_is_left_alone_vendor_keys_included(era):
    definition = tool(
        {**OBJECT, "default": None, "x-vendor": [1]},
        title="T",
        outputSchema={**OBJECT, "required": ["a"]},
        annotations={"readOnlyHint": True, "x-vendor": None},
        _meta={"a": None},
        **{"x-vendor": None},
    )
    assert project(definition, era) == definition


@pytest.mark.parametrize(
    "schema", [{}, {"type": "array"}, {"$ref": "#/$defs/a"}, {"anyOf": [OBJECT]}, {"type": ["object", "null"]}]
)
def test_an_output_that_may_be_no_object_is_served_from_2026_07_28_on(schema):
    definition = tool(outputSchema=schema)
    assert project(definition, "2026-07-28") == definition
    assert all("outputSchema" not in project(definition, era) for era in LEGACY)


def test_execution_is_served_up_to_2025_11_25():
    definition = tool(execution={"taskSupport": "optional"})
    assert "execution" not in project(definition, "2026-07-28")
    assert all(project(definition, era) == definition for era in LEGACY)


def test_required_that_is_no_list_is_served_from_2026_07_28_on():
    definition = tool({**OBJECT, "$schema": "http://json-schema.org/draft-03/schema#", "required": False})
    assert project(definition, "2026-07-28") == definition
    assert all("required" not in project(definition, era)["inputSchema"] for era in LEGACY)


@pytest.mark.parametrize("era", ERAS)
def test_null_is_served_as_nothing_where_mcp_knows_no_null(era):
    definition = tool(
        {**OBJECT, "$schema": None},
        title=None,
        description=None,
        outputSchema=None,
        annotations={"title": None, "readOnlyHint": None, "destructiveHint": True},
        icons=[{"src": "a", "mimeType": None, "sizes": None, "theme": None}],
        _meta=None,
    )
    assert project(definition, era) == tool(OBJECT, annotations={"destructiveHint": True}, icons=[{"src": "a"}])


@given(TOOLS)
def test_projecting_changes_nothing_in_place_and_nothing_the_second_time(definition):
    for served in Toolset.from_definitions([definition], name="x"):
        before = copy.deepcopy(served.definition)
        for era in ERAS:
            carried = project(served.definition, era)
            assert served.definition == before
            assert project(carried, era) == carried
            assert carried.keys() <= before.keys()
