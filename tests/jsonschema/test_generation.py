"""Instances of schemas: valid, always the same for the same seed, small, and none where there is none."""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
import yaml

from envace_sdk.errors import SchemaError, UnsatisfiableError
from envace_sdk.jsonschema import compile_schema, generate

CLOCK = datetime(2026, 1, 1, 9, tzinfo=UTC)
HERE = Path(__file__).parent
FIXTURE = HERE / "seven_schemas.json"
SEVEN: dict[str, Any] = json.loads(FIXTURE.read_text(encoding="utf-8"))


def make(schema: Any, seed: int = 0, **keywords: Any) -> Any:
    return generate(schema, random=Random(seed), clock=CLOCK, **keywords)


def judges(schema: Any) -> list[Callable[[Any], bool]]:
    """Ours, and that of clients with formats checked; and jsonschema-rs with formats, where it takes the schema."""
    client = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    found = [compile_schema(schema).is_valid, client(schema, format_checker=client.FORMAT_CHECKER).is_valid]
    with contextlib.suppress(ValueError):
        found.append(jsonschema_rs.validator_for(schema, validate_formats=True).is_valid)
    return found


@pytest.mark.parametrize("name", SEVEN)
def test_fifty_of_fifty_instances_are_valid_by_both_judges_formats_included(name: str) -> None:
    schema, tests = SEVEN[name], judges(SEVEN[name])
    values = [make(schema, seed) for seed in range(50)]
    assert len(tests) == 3
    assert [value for value in values if not all(test(value) for test in tests)] == []
    assert len({json.dumps(value) for value in values}) > 30


def test_an_instance_takes_about_a_millisecond() -> None:
    times = []
    for schema in SEVEN.values():
        make(schema)
        for seed in range(20):
            start = time.process_time()
            make(schema, seed)
            times.append(time.process_time() - start)
    # A third of this on an idle machine: see benchmarks/generate.py.
    assert statistics.median(times) < 0.003


def test_the_same_seed_gives_the_same_bytes_in_any_process() -> None:
    code = (
        "import json, sys\nfrom datetime import UTC, datetime\nfrom random import Random\n"
        "from envace_sdk.jsonschema import generate\n"
        "clock = datetime(2026, 1, 1, 9, tzinfo=UTC)\n"
        "schemas = json.load(open(sys.argv[1], encoding='utf-8')).values()\n"
        "print(json.dumps([generate(s, random=Random(i), clock=clock) for s in schemas for i in range(8)]))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code, str(FIXTURE)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    here = json.dumps([make(schema, seed) for schema in SEVEN.values() for seed in range(8)])
    assert outputs == {here.encode() + b"\n"}


def test_what_was_generated_before_does_not_matter() -> None:
    first = [json.dumps(make(schema, 3)) for schema in SEVEN.values()]
    for seed in range(20):
        for schema in SEVEN.values():
            make(schema, seed)
    assert [json.dumps(make(schema, 3)) for schema in SEVEN.values()] == first


def test_the_schema_and_the_global_random_state_are_left_alone() -> None:
    import random

    before, state = json.dumps(SEVEN), random.getstate()
    for schema in SEVEN.values():
        make(schema)
    assert json.dumps(SEVEN) == before
    assert random.getstate() == state


SATISFIABLE: dict[str, Any] = {
    **yaml.safe_load(HERE.joinpath("satisfiable.yaml").read_text(encoding="utf-8")),
    "ten anyOf": {"allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(10)]},
    "a lone surrogate": {"enum": ["\ud800x"]},
}


@pytest.mark.parametrize("name", SATISFIABLE)
def test_whatever_is_combined_an_instance_is_found(name: str) -> None:
    schema = SATISFIABLE[name]
    tests = judges(schema)
    for seed in range(8):
        start = time.process_time()
        value = make(schema, seed)
        assert time.process_time() - start < 2
        assert all(test(value) for test in tests), json.dumps(value)[:300]


@pytest.mark.parametrize("pattern", [r"^\p{Lu}\p{L}+$", r"^(?P<a>[ab])(?P=a)\Z", r"^[\w-.]{3}$"])
def test_patterns_that_only_one_judge_reads_are_met_all_the_same(pattern: str) -> None:
    schema = {"type": "string", "pattern": pattern}
    assert all(compile_schema(schema).is_valid(make(schema, seed)) for seed in range(10))


def deep(levels: int) -> Any:
    schema: Any = {"type": "integer"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


def test_eighty_levels_are_reached_where_they_must_be() -> None:
    assert compile_schema(deep(80)).is_valid(make(deep(80)))


def doubling(levels: int) -> Any:
    """Two values at the first level, four at the second, and so on."""
    definitions: dict[str, Any] = {f"a{levels}": {"type": "integer"}}
    for level in range(levels):
        inner = {"$ref": f"#/$defs/a{level + 1}"}
        definitions[f"a{level}"] = {"type": "object", "required": ["x", "y"], "properties": {"x": inner, "y": inner}}
    return {"$ref": "#/$defs/a0", "$defs": definitions}


def puzzle(count: int) -> Any:
    """Of any two booleans, one must be true and one false."""
    names = [f"x{index}" for index in range(count)]
    rules = [
        {"anyOf": [{"properties": {name: {"const": value}}} for name in pair]}
        for value in (True, False)
        for pair in combinations(names, 2)
    ]
    return {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in names},
        "required": names,
        "allOf": rules,
    }


UNSATISFIABLE: dict[str, Any] = {
    **yaml.safe_load(HERE.joinpath("unsatisfiable.yaml").read_text(encoding="utf-8")),
    "a billion values": doubling(30),
    "a puzzle without solution": puzzle(12),
}


@pytest.mark.parametrize("name", UNSATISFIABLE)
def test_where_there_is_no_instance_that_is_said_soon(name: str) -> None:
    start = time.process_time()
    with pytest.raises(UnsatisfiableError, match="no instance of the schema was found"):
        make(UNSATISFIABLE[name])
    assert time.process_time() - start < 3  # a third of that on an idle machine


def test_the_refusal_names_the_place_and_the_reason() -> None:
    tags = {"type": "array", "items": {"enum": ["a"]}, "minItems": 2, "uniqueItems": True}
    order = {"type": "object", "required": ["tags"], "properties": {"tags": tags}}
    schema = {"type": "object", "required": ["order"], "properties": {"order": order}}
    with pytest.raises(UnsatisfiableError, match=r"at /order/tags"):
        make(schema)
    with pytest.raises(UnsatisfiableError, match="minLength 5 is above maxLength 3"):
        make({"type": "string", "minLength": 5, "maxLength": 3})


def test_a_bad_schema_is_a_schema_error() -> None:
    with pytest.raises(SchemaError, match="not a type"):
        make({"type": "nothing"})


@pytest.mark.parametrize("name", ["a tree", "an alias of JSON itself", "a legal self-reference"])
def test_recursive_schemas_yield_small_trees(name: str) -> None:
    sizes = [len(json.dumps(make(SATISFIABLE[name], seed))) for seed in range(50)]
    assert max(sizes) < 3000
    assert len(set(sizes)) > 1


def test_optional_properties_are_mostly_there() -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in ("a", "b", "c", "d")}}
    sizes = [len(make(schema, seed)) for seed in range(50)]
    assert 2.5 < statistics.mean(sizes) < 4


def test_properties_come_in_the_order_of_the_schema() -> None:
    value = make({"type": "object", "properties": {"z": {}, "a": {"enum": [1]}, "m": {}}, "required": ["a", "m", "z"]})
    assert list(value) == ["z", "a", "m"]


def test_threads_generate_side_by_side() -> None:
    from concurrent.futures import ThreadPoolExecutor

    cases = [(schema, seed) for schema in SEVEN.values() for seed in range(6)]
    alone = [json.dumps(make(*case)) for case in cases]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda case: json.dumps(make(*case)), cases)) == alone
