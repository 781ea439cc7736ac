"""Compiling schemas, judging values, and saying what is wrong with them."""

from __future__ import annotations

import contextlib
import json
import math
import time
from types import MappingProxyType
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.errors import SchemaError
from envace_sdk.jsonschema import Dialect, compile_schema, dialect, explain

D4 = "http://json-schema.org/draft-04/schema#"
D7 = "http://json-schema.org/draft-07/schema#"
ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order": {
            "type": "object",
            "properties": {
                "id": {"type": ["integer", "string"]},
                "qty": {"type": "integer", "minimum": 1},
                "note": {"type": "string", "maxLength": 5},
            },
            "required": ["id"],
            "additionalProperties": False,
        }
    },
}
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text(alphabet="\ud800a\udfff", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def told(schema: Any, value: Any) -> str:
    return explain(compile_schema(schema).violations(value))


def test_a_violation_names_the_place_the_rule_what_was_expected_and_what_was_got() -> None:
    (violation,) = compile_schema(ORDER).violations({"order": {"id": 1, "qty": "three"}})
    assert str(violation) == "/order/qty: expected integer ≥ 1, got string 'three' (type)"
    assert (violation.pointer, violation.rule) == ("/order/qty", "type")
    assert (violation.expected, violation.got) == ("integer ≥ 1", "string 'three'")
    assert violation.schema_pointer == "/properties/order/properties/qty/type"


def test_a_valid_value_has_no_violations() -> None:
    validator = compile_schema(ORDER)
    assert validator.is_valid({"order": {"id": 1, "qty": 2}})
    assert validator.violations({"order": {"id": 1, "qty": 2}}) == []


@pytest.mark.parametrize(
    ("schema", "value", "expected", "got", "rule"),
    [
        (ORDER, {"order": {}}, "property 'id'", "an empty object", "required"),
        (ORDER, {"order": {"id": 1, "qyt": 1}}, "no property 'qyt' (did you mean 'qty'?)", "object with 'id' and 'qyt'",
         "additionalProperties"),
        (ORDER, {"order": {"id": 1, "note": "abcdef"}}, "string of at most 5 characters", "string 'abcdef' (of 6)",
         "maxLength"),
        ({"enum": ["open", "closed"]}, "shut", "one of 'open' or 'closed'", "string 'shut'", "enum"),
        ({"const": {"a": 1}}, 2, '{"a": 1}', "integer 2", "const"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 5, "string or null", "integer 5", "anyOf"),
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, "property 'a' or property 'b'", "an empty object",
         "anyOf"),
        ({"oneOf": [True, {"type": "integer"}]}, 1, "a match of exactly one alternative", "integer 1, which matches 2",
         "oneOf"),
        ({"not": {"type": "string"}}, "x", "anything but string", "string 'x'", "not"),
        ({"properties": {"a/b~": False}}, {"a/b~": 1}, "no value here", "integer 1", "false"),
        ({"uniqueItems": True}, [1, 1.0], "items that all differ", "array of 2", "uniqueItems"),
        ({"contains": {"type": "integer"}, "minContains": 2}, ["a"], "at least 2 items that are integer", "array of 1",
         "minContains"),
        ({"prefixItems": [True], "items": False}, [1, 2], "no value here", "integer 2", "false"),
        ({"propertyNames": {"maxLength": 2}}, {"abc": 1}, "property names that are value of at most 2 characters",
         "property 'abc'", "propertyNames"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "property 'b'", "object with 'a'", "dependentRequired"),
        ({"unevaluatedProperties": False}, {"a": 1}, "no property 'a'", "object with 'a'", "unevaluatedProperties"),
        ({"type": "number"}, math.nan, "number", "number NaN", "type"),
    ],
)  # fmt: skip
def test_errors_explain_themselves(schema: Any, value: Any, expected: str, got: str, rule: str) -> None:
    (violation,) = compile_schema(schema).violations(value)
    assert (violation.expected, violation.got, violation.rule) == (expected, got, rule)


def test_a_pointer_escapes_what_it_must() -> None:
    assert told({"properties": {"a/b~": False}}, {"a/b~": 1}).startswith("/a~1b~0: ")


def test_an_alternative_that_is_clearly_meant_answers_for_all() -> None:
    customer = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
    assert told({"anyOf": [customer, {"type": "null"}]}, {"id": "x"}) == "/id: expected integer, got string 'x' (type)"
    tagged = [{"properties": {"kind": {"const": kind}}, "required": ["kind", kind]} for kind in ("card", "bank")]
    assert told({"oneOf": tagged}, {"kind": "card"}).startswith("(root): expected property 'card'")
    assert (
        told({"oneOf": tagged}, {"kind": "cash"})
        == "/kind: expected one of 'card' or 'bank', got string 'cash' (oneOf)"
    )


def test_violations_are_bounded_in_number_and_length() -> None:
    validator = compile_schema({"items": {"type": "integer"}})
    found = validator.violations(["x" * 200] * 500)
    assert len(found) == 20
    assert len(validator.violations(["x"] * 50, limit=3)) == 3
    assert all(len(str(violation)) < 300 for violation in found)
    assert explain(found, limit=2).endswith("; and 18 more")


def test_a_huge_invalid_value_is_explained_quickly() -> None:
    start = time.perf_counter()
    assert compile_schema({"items": {"type": "integer"}}).violations(["x"] * 300_000)
    assert time.perf_counter() - start < 2


def test_formats_are_annotations_in_every_draft() -> None:
    for schema in (
        {"format": "email"},
        {"$schema": D7, "format": "email"},
        {"$schema": D7, "contentMediaType": "application/json"},
    ):
        assert compile_schema(schema).is_valid("{not an email")


@pytest.mark.parametrize(
    ("schema", "path", "reason"),
    [
        ({"properties": {"a": {"type": "foo"}}}, "/properties/a/type", "'foo' is not a type"),
        ({"required": False}, "/required", "false is not of type"),
        ({"properties": None}, "/properties", "null is not of type"),
        ({"minimum": math.inf}, "/minimum", "not of type"),
        ({"pattern": "("}, "/pattern", "not a regular expression"),
        ({"patternProperties": {"[": True}}, "/patternProperties/[", "not a regular expression"),
        ({"properties": {"a": {"$ref": "#/$defs/none"}}}, "/properties/a/$ref", "which is not there"),
        ({"items": {"$ref": "https://example.com/item.json"}}, "/items/$ref", "references are never fetched"),
        ({"$ref": "file:///etc/passwd"}, "/$ref", "references are never fetched"),
        ({"$ref": "#nowhere"}, "/$ref", "nowhere"),
        ([1], "", "not array"),
        (None, "", "not null"),
        ({"const": {1, 2}}, "", "set"),
        (nested(400), "", ""),
        ({"allOf": nested(100_000)}, "", "nested"),
    ],
)
def test_a_bad_schema_is_refused_with_place_and_reason(schema: Any, path: str, reason: str) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema, where="search/inputSchema")
    assert str(caught.value).startswith(f"search/inputSchema{path}: ")
    assert reason in str(caught.value)


def test_a_schema_nested_too_deeply_is_refused() -> None:
    schema: Any = True
    for _ in range(1000):
        schema = {"items": schema}
    with pytest.raises(SchemaError, match="nested too deeply"):
        compile_schema(schema)


def test_a_reference_to_a_meta_schema_is_no_remote_reference() -> None:
    for schema in ({"$ref": D7}, {"$ref": "https://json-schema.org/draft/2020-12/schema"}):
        assert compile_schema(schema).is_valid({"type": "string"})
        assert not compile_schema(schema).is_valid({"type": "foo"})


def test_the_dialect_is_what_schema_names_and_else_2020_12() -> None:
    assert dialect({}) is dialect(True) is dialect({"$schema": "https://example.com/mine"}) is Dialect.DRAFT_2020
    assert dialect({"$schema": D7}) is dialect({"$schema": D7.rstrip("#")}) is Dialect.DRAFT_7
    assert compile_schema({"$schema": D4, "minimum": 1, "exclusiveMinimum": True}).is_valid(1) is False
    assert (
        compile_schema({"$schema": D7, "items": [{"type": "integer"}], "additionalItems": False}).is_valid([1, 2])
        is False
    )
    assert compile_schema({"$schema": D7, "$ref": "#/definitions/a", "maximum": 0, "definitions": {"a": {}}}).is_valid(
        5
    )
    assert compile_schema({"$schema": "https://example.com/mine", "type": "integer"}).is_valid("x") is False
    old = {"$schema": "http://json-schema.org/draft-03/schema#", "properties": {"a": {"required": True}}}
    assert told(old, {}) == "/a: expected property 'a', got nothing (required)"


@pytest.mark.parametrize("pattern", [r"^a\Z", r"^[\w-.]+$", r"(?P<x>a)(?P=x)?$", "(?i)A", "^(?:a{1000}){1000}$|^a$"])
def test_python_patterns_are_judged_too(pattern: str) -> None:
    validator = compile_schema({"pattern": pattern, "patternProperties": {r"^[\w-.]+$": {"type": "integer"}}})
    assert validator.is_valid("a")
    assert not validator.is_valid("!")
    assert not validator.is_valid({"a": "x"})


@pytest.mark.parametrize("pattern", ["^(a+)+$", r"^(a+)+\Z", r"^(a|a)*\Z", "^((a+)+)\\1$", "(?=(a+)+$)b"])
def test_no_pattern_takes_forever(pattern: str) -> None:
    start = time.perf_counter()
    with contextlib.suppress(SchemaError):
        validator = compile_schema({"pattern": pattern, "patternProperties": {pattern: True}})
        validator.is_valid("a" * 5000 + "b")
        validator.violations({"a" * 5000 + "b": 1})
    assert time.perf_counter() - start < 2


def test_references_that_multiply_beyond_all_bounds_are_refused() -> None:
    def doubling(levels: int, times: int) -> Any:
        inner = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * times} for n in range(levels)}
        return {"$ref": "#/$defs/a0", "$defs": {**inner, f"a{levels}": {"type": "integer"}}}

    start = time.perf_counter()
    with pytest.raises(SchemaError, match="multiply"):
        compile_schema(doubling(60, 2))
    assert time.perf_counter() - start < 2
    assert compile_schema(doubling(60, 1)).is_valid(5)
    assert compile_schema(doubling(12, 2)).is_valid(5)


def test_values_that_no_wire_can_carry_get_a_clear_answer() -> None:
    anything, text = compile_schema({"type": "object"}), compile_schema({"type": "string", "maxLength": 1})
    assert "object with the integer key 1" in told({"properties": {}, "additionalProperties": False}, {1: 2})
    assert "a Python set" in told({"type": "string"}, {1})
    assert "a Python object" in told({"items": {"type": "string"}}, [object()])
    assert anything.is_valid({"a": 2**70})
    assert text.is_valid("\ud800")
    assert not text.is_valid("\ud800\udfff")
    assert compile_schema({"enum": ["\ud800"]}).is_valid("\ud800")
    assert not compile_schema({"enum": ["\ud800"]}).is_valid("\ud801")
    assert compile_schema({"required": ["\ud800"], "properties": {"\ud800": {"type": "integer"}}}).is_valid(
        {"\ud800": 1}
    )
    assert compile_schema({"type": "integer", "maximum": 2**70}).is_valid(2**70)
    assert not compile_schema({"type": "integer", "maximum": 2**70}).is_valid(2**70 + 1)


def test_a_value_of_any_depth_neither_crashes_nor_hangs() -> None:
    recursive = compile_schema({"type": "array", "items": {"$ref": "#"}})
    assert recursive.is_valid(nested(500))
    assert not recursive.is_valid(nested(200_000))
    assert told(recursive.schema, nested(200_000)) == (
        "(root): expected fewer levels of nesting, got a value too deep to judge (depth)"
    )
    assert compile_schema({"type": "array"}).is_valid(nested(200_000))
    for schema in ({"const": [1]}, {"uniqueItems": True}, {"type": "string"}):
        compile_schema(schema).violations([nested(5000), nested(5000)])


def test_equal_schemas_share_a_validator_which_later_changes_do_not_touch() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    validator = compile_schema(schema)
    assert compile_schema(json.loads(json.dumps(schema))) is validator
    schema["properties"]["a"]["type"] = "string"  # type: ignore[index]
    assert not validator.is_valid({"a": "x"})
    assert compile_schema(schema).is_valid({"a": "x"})
    assert compile_schema(MappingProxyType({"type": "integer"})).is_valid(1)


def test_true_and_one_are_different_schemas_and_values() -> None:
    assert compile_schema({"const": 1}).is_valid(1.0)
    assert not compile_schema({"const": 1}).is_valid(True)
    assert compile_schema({"const": True}).is_valid(True)
    assert not compile_schema({"const": True}).is_valid(1)


@settings(max_examples=150, deadline=None)
@given(ANY_JSON)
def test_any_value_gets_an_answer_and_an_invalid_one_a_reason(value: Any) -> None:
    for schema in (
        {"type": "object", "required": ["a"]},
        {"items": {"type": "integer"}, "uniqueItems": True},
        {"enum": [1]},
    ):
        validator = compile_schema(schema)
        valid = validator.is_valid(value)
        assert bool(validator.violations(value)) != valid
        assert all(str(violation) for violation in validator.violations(value))


@settings(max_examples=150, deadline=None)
@given(ANY_JSON)
def test_any_value_as_a_schema_is_compiled_or_refused(schema: Any) -> None:
    with contextlib.suppress(SchemaError):
        assert compile_schema(schema).is_valid(schema) in {True, False}


SCHEMAS = [
    {"type": ["string", "null"], "minLength": 2},
    {
        "type": "object",
        "properties": {"a": {"type": "integer"}},
        "required": ["a"],
        "additionalProperties": {"type": "null"},
    },
    {"items": {"anyOf": [{"type": "integer"}, {"maxLength": 1}]}, "contains": {"type": "integer"}},
    {"oneOf": [{"type": "number"}, {"type": "integer"}, {"type": "object", "minProperties": 1}]},
    {"if": {"type": "string"}, "then": {"pattern": "^a"}, "else": {"not": {"type": "array"}}},
    {"$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}}}, "$ref": "#/$defs/t"},
]


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(SCHEMAS),
    st.recursive(
        st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=3),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        max_leaves=6,
    ),
)
def test_the_verdict_is_that_of_the_judge_that_clients_use(schema: Any, value: Any) -> None:
    assert compile_schema(schema).is_valid(value) == jsonschema.Draft202012Validator(schema).is_valid(value)
