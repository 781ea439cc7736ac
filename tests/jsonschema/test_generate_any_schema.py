"""Whatever the schema, if it has an instance at all, a valid one is generated.

Each schema is composed around a witness, a value that it is known to allow: so it is satisfiable by construction.
"""

from __future__ import annotations

import contextlib
import json
import re
from datetime import UTC, datetime
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from envace_sdk.errors import UnsatisfiableError
from envace_sdk.jsonschema import compile_schema, complete, generate

CLOCK = datetime(2026, 1, 1, 9, tzinfo=UTC)
PERCENT = st.integers(0, 99)
NAMES = ("id", "name", "email", "tags", "created_at", "a", "b", "x-1", "price")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-50, 1000),
    st.sampled_from([0.5, 2.25, -1.5, 19.75]),
    st.text(alphabet="abcXYZ019 -_é", max_size=8),
)
witnesses = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)),
    max_leaves=8,
)
DRAFTS = {
    "2020": "https://json-schema.org/draft/2020-12/schema",
    "7": "http://json-schema.org/draft-07/schema#",
}


def type_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return "null" if value is None else names[type(value)]


def failing(value: Any) -> st.SearchStrategy[Any]:
    """Schemas that the witness does not meet."""
    kind = type_of(value)
    others = [name for name in ("null", "boolean", "string", "array", "object") if name != kind]
    options: list[Any] = [{"type": other} for other in others] + [False, {"const": "something else"}]
    if isinstance(value, dict):
        options += [{"required": ["not there"]}, {"minProperties": len(value) + 1}]
        options += [{"properties": {name: False}} for name in value]
    if isinstance(value, list):
        options += [{"minItems": len(value) + 1}, {"contains": {"const": "something else"}}]
    if isinstance(value, str):
        options += [{"minLength": len(value) + 1}, {"pattern": "^something else$"}]
    if isinstance(value, int | float) and not isinstance(value, bool):
        options += [{"minimum": value + 1}, {"exclusiveMaximum": value}]
    return st.sampled_from(options)


class Composer:
    """Draws schemas that allow a given value."""

    def __init__(self, draw: st.DrawFn, draft: str) -> None:
        self.draw, self.draft = draw, draft
        self.definitions: dict[str, Any] = {}

    def flip(self, share: float = 0.5) -> bool:
        return self.draw(PERCENT) < share * 100

    def schema(self, value: Any, depth: int = 0) -> Any:
        if depth > 4 or not self.flip(0.95):
            return True
        schema: dict[str, Any] = {}
        if self.flip(0.8):
            kind = type_of(value)
            also = self.draw(st.sampled_from(["null", "boolean", "string", "object"]))
            schema["type"] = kind if self.flip(0.8) or also == kind else [kind, also]
        if self.flip(0.06):
            schema["const"] = value
        elif self.flip(0.08):
            schema["enum"] = [self.draw(scalars), value]
        self.by_kind(schema, value, depth)
        for _ in range(self.draw(st.sampled_from([0, 0, 0, 1, 1, 2]))):
            self.combine(schema, value, depth)
        if self.flip(0.1):
            name = f"d{len(self.definitions)}"
            self.definitions[name] = schema
            return {"$ref": f"#/$defs/{name}"}
        return schema

    def combine(self, schema: dict[str, Any], value: Any, depth: int) -> None:
        other, more = self.draw(failing(value)), self.schema(value, depth + 1)
        match self.draw(st.sampled_from(["allOf", "anyOf", "oneOf", "not", "if", "else"])):
            case "allOf":
                schema.setdefault("allOf", []).append(more)
            case "anyOf" if "anyOf" not in schema:
                schema["anyOf"] = [other, more] if self.flip() else [more, other]
            case "oneOf" if "oneOf" not in schema:
                schema["oneOf"] = [other, more] if self.flip() else [more, other]
            case "not" if "not" not in schema:
                schema["not"] = other
            case "if" if "if" not in schema:
                schema |= {"if": self.schema(value, depth + 2), "then": more, "else": other}
            case "else" if "if" not in schema:
                schema |= {"if": other, "then": self.draw(failing(value)), "else": more}

    def by_kind(self, schema: dict[str, Any], value: Any, depth: int) -> None:
        if isinstance(value, str):
            self.string(schema, value)
        elif isinstance(value, dict):
            self.object(schema, value, depth)
        elif isinstance(value, list):
            self.array(schema, value, depth)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self.number(schema, value)

    def string(self, schema: dict[str, Any], value: str) -> None:
        if self.flip(0.4):
            schema["minLength"] = self.draw(st.integers(0, len(value)))
        if self.flip(0.4):
            schema["maxLength"] = len(value) + self.draw(st.integers(0, 3))
        if self.flip(0.3):
            shown = re.escape(value[:2]).replace("\\ ", " ")
            schema["pattern"] = self.draw(
                st.sampled_from(
                    [f"^{shown}", "^[a-zA-Z0-9 \\-_é]*$", f"(?={shown})", "^.*$", f"^(?!zz).{{{len(value)}}}$"]
                )
            )

    def number(self, schema: dict[str, Any], value: float) -> None:
        if self.flip(0.4):
            schema["minimum"] = value - self.draw(st.sampled_from([0, 1, 10]))
        if self.flip(0.4):
            schema["exclusiveMaximum"] = value + self.draw(st.sampled_from([0.25, 1, 10]))
        if self.flip(0.3):
            schema["multipleOf"] = self.draw(
                st.sampled_from([step for step in (0.25, 1, 2, 5) if value % step == 0] or [0.25])
            )

    def object(self, schema: dict[str, Any], value: dict[str, Any], depth: int) -> None:
        named = [name for name in value if self.flip(0.7)]
        schema["properties"] = {name: self.schema(value[name], depth + 1) for name in named}
        for name in NAMES:
            if name not in value and self.flip(0.2):
                schema["properties"][name] = self.draw(st.sampled_from([False, True, {"type": "integer"}]))
        if self.flip(0.7):
            schema["required"] = [name for name in value if self.flip(0.7)]
        rest = [name for name in value if name not in named]
        if not rest and self.flip():
            schema[self.draw(st.sampled_from(["additionalProperties", "unevaluatedProperties"]))] = False
        elif len(rest) == 1 and self.flip():
            schema["additionalProperties"] = self.schema(value[rest[0]], depth + 1)
        elif rest and self.flip(0.3):
            schema["patternProperties"] = {
                f"^{re.escape(rest[0])}$".replace("\\-", "-"): self.schema(value[rest[0]], depth + 1)
            }
        if self.flip(0.2):
            schema["minProperties"] = self.draw(st.integers(0, len(value)))
        if self.flip(0.2):
            schema["maxProperties"] = len(value) + self.draw(st.integers(0, 2))
        if self.flip(0.15):
            schema["propertyNames"] = self.draw(
                st.sampled_from([{"maxLength": 10}, {"pattern": "^[a-z_0-9-]+$"}, {"enum": list(NAMES)}])
            )
        if value and self.flip(0.2):
            first, last = next(iter(value)), list(value)[-1]
            keyword = "dependentRequired" if self.draft == "2020" else "dependencies"
            schema[keyword] = {first: [last], "never": ["not there"]}
        if value and self.flip(0.15):
            keyword = "dependentSchemas" if self.draft == "2020" else "dependencies"
            schema.setdefault(keyword, {})[list(value)[-1]] = self.schema(value, depth + 2)

    def array(self, schema: dict[str, Any], value: list[Any], depth: int) -> None:
        if self.flip(0.4) and value:
            count = self.draw(st.integers(1, len(value)))
            prefix = [self.schema(item, depth + 1) for item in value[:count]]
            closed = count == len(value) and self.flip()
            if self.draft == "2020":
                schema["prefixItems"] = prefix
                if closed:
                    schema[self.draw(st.sampled_from(["items", "unevaluatedItems"]))] = False
            else:
                schema["items"] = prefix
                if closed:
                    schema["additionalItems"] = False
        elif value and all(item == value[0] and type(item) is type(value[0]) for item in value):
            schema["items"] = self.schema(value[0], depth + 1)
        if self.flip(0.3):
            schema["minItems"] = self.draw(st.integers(0, len(value)))
        if self.flip(0.3):
            schema["maxItems"] = len(value) + self.draw(st.integers(0, 2))
        if value and self.flip(0.25):
            schema["contains"] = self.schema(value[-1], depth + 1)
            if self.draft == "2020" and self.flip(0.3):
                schema["maxContains"] = len(value)
        if self.flip(0.2):
            schema["uniqueItems"] = True


@st.composite
def satisfiable(draw: st.DrawFn) -> tuple[Any, Any]:
    """A schema, and a value that it allows."""
    draft = draw(st.sampled_from(list(DRAFTS)))
    witness = draw(witnesses)
    composer = Composer(draw, draft)
    schema = composer.schema(witness)
    if composer.definitions:
        schema = {"allOf": [schema], "$defs": composer.definitions}
    if isinstance(schema, dict):
        schema["$schema"] = DRAFTS[draft]
    return schema, witness


def client_judge(schema: Any) -> Any:
    validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return validator(schema, format_checker=validator.FORMAT_CHECKER)


def valid_by_both(schema: Any, value: Any) -> bool:
    return compile_schema(schema).is_valid(value) and client_judge(schema).is_valid(value)


def text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(satisfiable(), st.integers(0, 2**32))
def test_every_satisfiable_schema_gets_valid_instances_always_the_same_by_seed(
    case: tuple[Any, Any], seed: int
) -> None:
    schema, witness = case
    assume(valid_by_both(schema, witness))
    value = generate(schema, random=Random(seed), clock=CLOCK)
    assert valid_by_both(schema, value), text(value)
    assert text(generate(schema, random=Random(seed), clock=CLOCK)) == text(value)


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(satisfiable(), st.integers(0, 2**32))
def test_a_satisfiable_schema_gets_a_valid_instance(case: tuple[Any, Any], seed: int) -> None:
    schema, witness = case
    assume(valid_by_both(schema, witness))
    assert valid_by_both(schema, generate(schema, random=Random(seed), clock=CLOCK))


@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(satisfiable(), witnesses, st.integers(0, 2**32))
def test_any_value_is_completed_to_a_valid_one_and_a_valid_one_is_left_alone(
    case: tuple[Any, Any], known: Any, seed: int
) -> None:
    schema, witness = case
    assume(valid_by_both(schema, witness))
    assert complete(schema, witness, random=Random(seed), clock=CLOCK) is witness
    value = complete(schema, known, random=Random(seed), clock=CLOCK)
    assert compile_schema(schema).is_valid(value), text(value)


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(satisfiable(), satisfiable(), st.integers(0, 2**32))
def test_a_schema_that_may_be_unsatisfiable_gets_a_valid_instance_or_a_clear_refusal(
    one: tuple[Any, Any], other: tuple[Any, Any], seed: int
) -> None:
    schema = {"allOf": [as_resource(one[0], "one"), as_resource(other[0], "other")]}
    with contextlib.suppress(UnsatisfiableError):
        assert compile_schema(schema).is_valid(generate(schema, random=Random(seed), clock=CLOCK))


def as_resource(schema: Any, name: str) -> Any:
    return {**schema, "$id": f"https://example.com/{name}"} if isinstance(schema, dict) else schema
