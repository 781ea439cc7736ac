"""Drift between two catalogues: what breaks callers, and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_strategies import TOOLS

from envace_sdk.tools.compare import compare


def tool(properties=None, required=(), output=None, name="get", **more):
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    return {"name": name, "inputSchema": schema, **({"outputSchema": output} if output is not None else {}), **more}


def output(properties, required=()):
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize(
    ("before", "after", "pointer"),
    [
        (tool({"a": TEXT}), tool({}), "/inputSchema/properties/a"),
        (tool({"a": TEXT}), tool({"a": TEXT}, ["a"]), "/inputSchema/required"),
        (tool({"a": TEXT}), tool({"a": WHOLE}), "/inputSchema/properties/a/type"),
        (tool({"a": {"type": ["string", "null"]}}), tool({"a": TEXT}), "/inputSchema/properties/a/type"),
        (tool({"a": {}}), tool({"a": TEXT}), "/inputSchema/properties/a/type"),
        (tool({"a": {"enum": [1, 2]}}), tool({"a": {"enum": [1]}}), "/inputSchema/properties/a/enum"),
        (tool({"a": {"enum": [1]}}), tool({"a": {"const": 1}}), "/inputSchema/properties/a/const"),
        (tool({"a": {"maximum": 9}}), tool({"a": {"maximum": 5}}), "/inputSchema/properties/a/maximum"),
        (tool({"a": {}}), tool({"a": {"minLength": 1}}), "/inputSchema/properties/a/minLength"),
        (tool({"a": {"pattern": "x"}}), tool({"a": {"pattern": "y"}}), "/inputSchema/properties/a/pattern"),
        (tool({"a": {"items": TEXT}}), tool({"a": {"items": WHOLE}}), "/inputSchema/properties/a/items/type"),
        (tool({"a/b": True}), tool({"a/b": False}), "/inputSchema/properties/a~1b"),
        (tool(output=output({"a": TEXT})), tool(output=output({})), "/outputSchema/properties/a"),
        (tool(output=output({"a": TEXT}, ["a"])), tool(output=output({"a": TEXT})), "/outputSchema/required"),
        (tool(output=output({"a": TEXT})), tool(output=output({"a": {}})), "/outputSchema/properties/a/type"),
        (
            tool(output=output({"a": {"enum": [1]}})),
            tool(output=output({"a": {"enum": [1, 2]}})),
            "/outputSchema/properties/a/enum",
        ),
        (tool(output=output({})), tool(), "/outputSchema"),
        (tool(annotations={"readOnlyHint": True}), tool(), "/annotations/readOnlyHint"),
        (tool(), tool(annotations={"destructiveHint": True}), "/annotations/destructiveHint"),
    ],
)
def test_what_breaks_callers_is_named_where_it_is(before, after, pointer):
    assert [(one.pointer, one.is_breaking) for one in compare([before], [after]) if one.is_breaking] == [
        (pointer, True)
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (tool({}), tool({"a": TEXT})),
        (tool({"a": TEXT}, ["a"]), tool({"a": TEXT})),
        (tool({"a": WHOLE}), tool({"a": {"type": "number"}})),
        (tool({"a": {"enum": [1]}}), tool({"a": {"enum": [1, 2]}})),
        (tool({"a": {"maximum": 5}}), tool({"a": {"maximum": 9}})),
        (tool({"a": {"minLength": 1}}), tool({"a": {}})),
        (tool({"a": {"description": "x"}}), tool({"a": {"description": "y"}})),
        (tool(output=output({})), tool(output=output({"a": TEXT}, ["a"]))),
        (tool(output=output({"a": {}})), tool(output=output({"a": TEXT}))),
        (tool(), tool(output=output({}))),
        (tool(description="x"), tool(description="y")),
        (tool(**{"x-vendor": 1}), tool()),
    ],
)
def test_what_callers_can_live_with_is_told_and_breaks_nothing(before, after):
    found = compare([before], [after])
    assert found
    assert not any(one.is_breaking for one in found)


def test_tools_come_and_go_and_breaking_changes_stand_first():
    before = [tool(name="a"), tool(name="b"), tool(name="c")]
    after = [tool(name="c"), tool(name="d"), tool(name="a")]
    assert [str(one) for one in compare(before, after)] == [
        "BREAKING  b: the tool is gone",
        "change  d: the tool is new",
        "change  *: the order of the tools is another",
    ]


@given(st.lists(TOOLS, max_size=4))
def test_a_catalogue_does_not_differ_from_itself_and_oddities_are_borne(catalogue):
    assert compare(catalogue, catalogue) == []
    compare(catalogue, [])
    compare([], catalogue)
    compare(catalogue, catalogue[1:])


def test_a_schema_that_refers_to_itself_in_depth_is_compared_in_bounded_time():
    deep = other = TEXT
    for _ in range(500):
        deep, other = {"items": deep}, {"items": other, "minItems": 1}
    compare([tool({"a": deep})], [tool({"a": other})])
