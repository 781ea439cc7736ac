"""Schemas that ask for enormous numbers and texts: an instance, or a refusal, at once."""

import time
from datetime import UTC, datetime
from random import Random

import pytest

from envace_sdk.errors import ExpressionError, UnsatisfiableError
from envace_sdk.jsonschema import compile_schema, generate
from envace_sdk.world.expressions import Scope, compile_expression
from envace_sdk.world.state import State

CLOCK = datetime(2026, 1, 1, tzinfo=UTC)
HUGE = ["^((a{100}){100}){100}$", "(a{1000}){1000}", "^(?:(?:[ab]{200}|c{300}){200})$", "^(x(?:y{500}){500})+$"]


def made(schema):
    return generate(schema, random=Random(1), clock=CLOCK)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "minimum": 10**400},
        {"type": "integer", "maximum": -(10**400)},
        {"type": "integer", "minimum": 10**400, "maximum": 10**400 + 3},
        {"type": "integer", "exclusiveMinimum": 10**400, "multipleOf": 7},
        {"type": "integer", "minimum": -(10**400), "maximum": 10**400},
        {"type": "number", "minimum": 10**400},
        {"type": "number", "minimum": 10**400, "multipleOf": 0.5},
        {"type": "number", "maximum": 10**400, "multipleOf": 0.1},
        {"type": "number", "maximum": -(10**400), "multipleOf": 0.3},
    ],
    ids=lambda schema: " ".join(schema),
)
def test_bounds_beyond_all_floats_are_met_or_refused(schema):
    try:
        value = made(schema)
    except UnsatisfiableError:
        assert schema["type"] == "number"
        return
    assert compile_schema(schema).is_valid(value)


@pytest.mark.parametrize("pattern", HUGE)
def test_a_pattern_whose_shortest_text_is_enormous_is_refused_at_once(pattern):
    began = time.process_time()
    with pytest.raises(UnsatisfiableError):
        made({"type": "string", "pattern": pattern})
    with pytest.raises(ExpressionError):
        compile_expression(f"pattern('{pattern}')")(Scope({}, State()))
    assert time.process_time() - began < 5


def test_a_long_text_within_the_bound_is_still_written():
    assert len(made({"type": "string", "pattern": "^(a{50}){50}$"})) == 2500


@pytest.mark.parametrize("bound", range(-3, 4))
@pytest.mark.parametrize("step", [1, 2, 0.5])
def test_a_bound_that_is_excluded_leaves_what_lies_beyond_it(bound, step):
    for schema in ({"exclusiveMaximum": bound}, {"exclusiveMinimum": bound}):
        schema |= {"type": "number", "multipleOf": step}
        assert compile_schema(schema).is_valid(made(schema))
