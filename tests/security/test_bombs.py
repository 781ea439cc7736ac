"""Small texts that stand for a lot of work: patterns, schemas, tables and comments cost what they are long."""

import importlib
import itertools
import pkgutil
import re
import resource
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from random import Random

import pytest
from cost import cost

import envace_sdk
from envace_sdk.errors import SchemaError, TaskError, UnsatisfiableError
from envace_sdk.jsonschema import compile_schema, generate
from envace_sdk.jsonschema.bounds import LONG_PATTERN
from envace_sdk.jsonschema.values.described import alike, described_values
from envace_sdk.redaction import SecretRedactor
from envace_sdk.tasks import load_tasks
from envace_sdk.tools.documents import without_comments
from envace_sdk.world.files import read_file

CLOCK = datetime(2026, 1, 1, tzinfo=UTC)


class OutOfTime(BaseException):
    pass


@contextmanager
def at_most(seconds):
    """Ends the block when it has used that much of the processor."""

    def over(*_):
        raise OutOfTime

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    except OutOfTime:
        pytest.fail(f"not done after {seconds} s of the processor")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def own_patterns():
    """All regular expressions that modules of the package keep, by the name of one place that does."""
    found = {}
    for module in pkgutil.walk_packages(envace_sdk.__path__, "envace_sdk."):
        if "migrations" in module.name or module.name.endswith("__main__"):
            continue
        with suppress(ImportError):
            for name, value in vars(importlib.import_module(module.name)).items():
                held = value if isinstance(value, list | tuple) else value.values() if isinstance(value, dict) else ()
                for one in (value, *held):
                    if isinstance(one, re.Pattern):
                        found.setdefault(one, f"{module.name}.{name}")
    return found


def texts_against(pattern, size):
    """Texts of the characters and words that a pattern looks for, over and over, and then something else."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    characters = sorted({*re.findall(r"[^\\()\[\]?+*|^$]", source), *' a0"\\/.-_:\n@{<,A['})
    words = re.findall(r'[A-Za-z"/<>:@_{-]{2,}', source)[:4]
    pairs = (a + b for a, b in itertools.product(characters[:20], ' a0"\\-'))
    for unit in (*characters, *words, *(f"{word} " for word in words), *pairs):
        text = unit * (size // len(unit)) + "\x00!"
        yield text if isinstance(pattern.pattern, str) else text.encode("latin-1", "ignore")


def test_no_expression_of_our_own_takes_forever():
    patterns = own_patterns()
    assert len(patterns) > 100
    for pattern, place in patterns.items():
        for text in texts_against(pattern, 200):
            with at_most(2):
                for _ in pattern.finditer(text):
                    pass
                pattern.fullmatch(text)
        assert place


def test_an_example_in_a_description_is_looked_at_in_no_time():
    [example] = described_values(f"the id, e.g. '{'a' * 58}!'")
    with at_most(2):
        assert alike(example, Random(1)) == example
    assert re.fullmatch(r"ORD-\d{4}", alike("ORD-1001", Random(1)))


@pytest.mark.parametrize(
    "text",
    ['":' + "\\" * 300_000, "eyJ-" * 60_000, '\\"a\\":' * 40_000, "-----BEGIN " + "A " * 100_000, "://a:" * 50_000],
    ids=["backslashes", "tokens", "escaped names", "keys", "passwords"],
)
def test_looking_for_secrets_takes_no_longer_than_the_text_is(text):
    with at_most(5):
        SecretRedactor()(text)


@pytest.mark.parametrize(
    "text",
    ['"' + '\\"' * 300_000, "/* " * 200_000, '"' * 300_001, "//" * 300_000, ", " * 300_000],
    ids=["text", "comment", "quotes", "lines", "commas"],
)
def test_comments_and_texts_that_never_end_are_read_once(text):
    with at_most(5):
        without_comments(text)


def test_comments_are_taken_out_and_texts_are_not():
    assert without_comments('{"a": "/* b */ // c", /* d */ "e": 1, // f\n}') == '{"a": "/* b */ // c",  "e": 1 \n}'
    assert without_comments('{"a": 1 /* never ends') == '{"a": 1 /* never ends'


def test_a_table_of_many_columns_is_read_in_no_time(tmp_path):
    (tmp_path / "s.csv").write_text(",".join(map(str, range(100_000))) + "\n")
    with at_most(5):
        assert len(read_file(tmp_path / "s.csv").header) == 100_000


def test_a_member_given_twice_among_many_is_found_in_no_time(tmp_path):
    members = [f'"{n}": 1' for n in range(100_000)]
    (tmp_path / "t.jsonl").write_text(f"{{{', '.join([*members, members[-1]])}}}")
    with at_most(5), pytest.raises(TaskError, match="given twice"):
        load_tasks(tmp_path / "t.jsonl")


def test_a_pattern_longer_than_any_that_is_meant_is_refused():
    long = {"properties": {"a": {"type": "string", "pattern": "(a|b)" * LONG_PATTERN}}}
    with pytest.raises(SchemaError, match="at most 10,000 are matched"):
        compile_schema(long)
    with pytest.raises(SchemaError, match="at most 10,000 are matched"):
        compile_schema({"patternProperties": {"[ab]" * LONG_PATTERN: {}}})
    assert compile_schema({"const": {"pattern": "a" * 2 * LONG_PATTERN}}).is_valid({"pattern": "a" * 2 * LONG_PATTERN})
    assert compile_schema({"pattern": "a" * LONG_PATTERN}).is_valid("a" * LONG_PATTERN)


def test_an_enum_of_very_many_objects_is_chosen_from_in_bounded_time():
    schema = {"enum": [{"a": n} for n in range(60_000)]}

    def choose():
        assert generate(schema, random=Random(1), clock=CLOCK) in schema["enum"]

    assert cost(choose) < 800


BOMBS = {
    "names that are required": '{"required": [str(n) for n in range(60_000)]}',
    "alternatives": '{"anyOf": [{"required": [f"r{n}"]} for n in range(10_000)]}',
    "one of": '{"oneOf": [{"required": [f"r{n}"]} for n in range(10_000)]}',
    "references that double": (
        '{"$ref": "#/$defs/d0", "$defs": {**{f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} '
        'for n in range(15)}, "d15": {"required": ["zz"]}}}'
    ),
    "nested": '{"properties": {"a": {"$ref": "#"}}, "required": [f"r{n}" for n in range(2_000)]}',
}


@pytest.mark.parametrize("schema", BOMBS.values(), ids=list(BOMBS))
def test_saying_what_is_wrong_with_a_value_takes_bounded_memory(schema):
    program = f"""
        from envace_sdk.jsonschema import compile_schema
        value = {{f"k{{n}}": n for n in range(5_000)}}
        for _ in range(200):
            value = {{"a": value}}
        assert compile_schema({schema}).violations(value)
        value = {{f"k{{n}}": n for n in range(5_000)}}
        assert compile_schema({schema}).violations(value)
    """

    def bound():
        resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))
        resource.setrlimit(resource.RLIMIT_CPU, (60, 60))

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], preexec_fn=bound, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_small_value_is_explained_in_full_whatever_else_the_schema_holds():
    schema = {"required": [str(n) for n in range(500)], "anyOf": [{"required": ["x"]}, {"type": "array"}]}
    assert len(compile_schema(schema).violations({})) == 20


SCHEMAS = {
    "a billion items": {"type": "array", "minItems": 10**9, "items": {"type": "integer"}},
    "a billion characters": {"type": "string", "minLength": 10**9},
    "at most a billion characters": {"type": "string", "maxLength": 10**9},
    "a billion properties": {"type": "object", "minProperties": 10**9},
    "ten to the ninth, nested": {"type": "array", "minItems": 10**3, "items": {"type": "array", "minItems": 10**6}},
    "tiny steps": {"type": "number", "multipleOf": 5e-324, "minimum": 0, "maximum": 1},
    "steps between two floats": {
        "type": "number", "multipleOf": 1e-15, "exclusiveMinimum": 0.3, "exclusiveMaximum": 0.30000000000000016,
    },
    "primes": {"allOf": [{"type": "integer", "multipleOf": n} for n in (1000003, 1000033, 1000037, 1000039, 1000081)]},
    "a number of 4000 digits": {"type": "integer", "minimum": 10**4000},
    "unique among too few": {
        "type": "array", "minItems": 50_000, "uniqueItems": True, "items": {"enum": [*range(10)]},
    },
    "properties that double": {
        "$ref": "#/$defs/d0",
        "$defs": {
            **{
                f"d{n}": {
                    "type": "object",
                    "required": ["a", "b"],
                    "properties": {"a": {"$ref": f"#/$defs/d{n + 1}"}, "b": {"$ref": f"#/$defs/d{n + 1}"}},
                }
                for n in range(30)
            },
            "d30": {"type": "string"},
        },
    },
    "itself": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}},
    "nothing but itself": {"$ref": "#"},
    "names of thousands": {"type": "object", "required": [str(n) for n in range(20_000)]},
    "each needs the next": {
        "type": "object", "required": ["p0"], "dependentRequired": {f"p{n}": [f"p{n + 1}"] for n in range(20_000)},
    },
}  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=list(SCHEMAS))
def test_a_schema_that_asks_for_the_impossible_is_met_or_refused_in_bounded_time(schema):
    with at_most(20), suppress(UnsatisfiableError, SchemaError):
        made = generate(schema, random=Random(1), clock=CLOCK)
        assert compile_schema(schema).is_valid(made)
