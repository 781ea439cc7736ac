import pytest
from hypothesis import given
from tool_strategies import JSON

from envace_sdk.studio.schemaform import fields, typed_arguments

SCHEMA = {
    "type": "object",
    "required": ["id"],
    "properties": {
        "note": {"type": ["string", "null"]},
        "id": {"type": "string", "description": "whose"},
        "amount": {"type": "number", "default": 3},
        "wrapped": {"type": "boolean"},
        "size": {"enum": ["S", 7, None]},
        "tags": {"type": "array"},
        "card": {"anyOf": [{"type": "string", "maxLength": 9}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "string"}, {"type": "number"}]},
    },
}


def test_required_properties_come_first_and_each_has_the_field_of_its_type():
    assert [(one.name, one.kind) for one in fields(SCHEMA)] == [
        ("id", "text"),
        ("note", "text"),
        ("amount", "number"),
        ("wrapped", "choice"),
        ("size", "choice"),
        ("tags", "json"),
        ("card", "text"),
        ("either", "json"),
    ]


def test_what_is_typed_becomes_values_of_its_type_and_what_is_empty_is_left_out():
    form = {
        "arg.id": "7",
        "arg.amount": "2.5",
        "arg.wrapped": "true",
        "arg.size": "7",
        "arg.tags": '["a"]',
        "arg.note": "",
    }
    assert typed_arguments(SCHEMA, form) == {"id": "7", "amount": 2.5, "wrapped": True, "size": 7, "tags": ["a"]}


def test_a_number_that_is_none_is_left_to_the_tool_to_refuse():
    assert typed_arguments(SCHEMA, {"arg.amount": "much"}) == {"amount": "much"}


@pytest.mark.parametrize("text", ["[", "[" * 100_000, "nonsense"])
def test_json_that_is_none_is_refused_by_name(text):
    with pytest.raises(ValueError, match="tags"):
        typed_arguments(SCHEMA, {"arg.tags": text})


@given(JSON)
def test_any_json_in_place_of_a_schema_makes_a_form_or_none(value):
    schema = {"type": "object", "required": value, "properties": {"a": value, "b": {"enum": value, "type": value}}}
    for each in (schema, {"properties": value}):
        assert len(fields(each)) <= 60
