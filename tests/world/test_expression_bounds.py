"""No expression, whatever its source and its values, may crash, hang or fill the memory."""

from contextlib import suppress

import pytest
from cost import cost
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.errors import ExpressionError
from envace_sdk.world.expressions import MAX_STEPS, ExhaustedError, Scope, compile_expression, compile_template
from envace_sdk.world.expressions.functions import FUNCTIONS
from envace_sdk.world.expressions.macros import MACROS
from envace_sdk.world.state import State


def evaluate(source, steps=MAX_STEPS, **args):
    return compile_expression(source)(Scope({"args": args}, State(), steps=steps))


@pytest.mark.parametrize(
    "source",
    [
        '"' + r"\n" * 4000,
        "'" + r"\'" * 4000,
        '"' + r"\n" * 40 + "\n" + '"',
        "'''" + "'" * 3000 + '"',
        "(" * 9000,
        "[" * 5000 + "]" * 5000,
        "{'a':" * 1900,
        "!" * 9000 + "true",
        "-" * 9000 + "1",
        "1" + "+1" * 4900,
        "true" + "&&true" * 1600 + "&&",
        "a" + ".b" * 4000,
        "a" + "[0]" * 3000,
        "true ? 1 : " * 800 + "1",
        "f(" * 3000 + ")" * 3000,
        "x.map(x, " * 900 + "x" + ")" * 900,
        "1 " * 5000,
        "a" * 10_001,
        "\x00",
        "\ud800",
        "a\u2028b",
        "// comment only",
        "`a`",
    ],
)
def test_monstrous_sources_are_refused_in_time(source):
    def compile_it():
        with pytest.raises(ExpressionError):
            compile_expression(source)

    assert cost(compile_it) < 1200


def test_long_but_flat_expressions_are_fine():
    assert evaluate(" && ".join(["true"] * 1000)) is True
    assert evaluate("[" + ", ".join(["1"] * 2000) + "].sum()") == 2000
    assert evaluate(" + ".join(["1"] * 90)) == 90


big = "x" * 900_000
many = list(range(20_000))


@pytest.mark.parametrize(
    ("source", "args"),
    [
        ("args.l.map(a, args.l.map(b, a * b)).size()", {"l": many}),
        ("args.l.exists(a, args.l.exists(b, args.l.exists(c, a + b + c < 0)))", {"l": many}),
        ("args.l.filter(a, a in args.l).size()", {"l": many}),
        ("args.l.map(x, args.s)", {"l": many, "s": big}),
        ("args.l.map(x, args.s + 'y')", {"l": many, "s": big}),
        ("args.l.map(x, args.s.upperAscii()).size()", {"l": many, "s": big}),
        ("args.l.map(x, args.s.matches('y$')).size()", {"l": many, "s": big}),
        ("args.l.map(x, args.s.contains('y')).size()", {"l": many, "s": big}),
        ("args.l.map(x, args.s.split('')).size()", {"l": many, "s": big}),
        ("args.l.map(x, args.l).flatten().size()", {"l": many}),
        ("args.l.map(x, sort(args.l)).size()", {"l": many}),
        ("args.l.map(x, args.l + args.l).size()", {"l": many}),
        ("args.l.map(x, string(args.l)).size()", {"l": many}),
        ("args.l.map(x, distinct(args.l)).size()", {"l": many}),
        ("args.l.map(x, args.l == args.m).size()", {"l": many, "m": list(many)}),
        ("args.l.map(x, {'a': args.l})", {"l": many}),
        ("args.l.map(x, args.l.join(',')).size()", {"l": many}),
        ("args.l.map(x, merge(args.o, args.o)).size()", {"l": many, "o": {str(n): n for n in many}}),
        ("args.l.map(x, args.s == args.s + '').size()", {"l": many, "s": big}),
    ],
)
def test_work_without_measure_is_cut_off(source, args):
    def run():
        with pytest.raises(ExpressionError, match=r"too many steps|longer than"):
            evaluate(source, MAX_STEPS // 20, **args)

    assert cost(run) < 240


@pytest.mark.slow
def test_the_longest_computation_takes_seconds():
    source = "args.l.exists(a, args.l.exists(b, args.l.exists(c, a + b + c < 0)))"

    def run():
        with pytest.raises(ExhaustedError):
            evaluate(source, l=many)

    assert cost(run) < 4000


def test_nothing_absorbs_exhaustion():
    endless = "args.l.exists(a, args.l.exists(b, args.l.exists(c, a + b + c < 0)))"
    for source in (f"{endless} || true", f"default({endless}, true)", f"[1].exists(x, {endless} || true)"):
        with pytest.raises(ExhaustedError):
            evaluate(source, 10_000, l=list(range(200)))


@pytest.mark.parametrize(
    "source",
    [
        "args.s + args.s",
        "args.s.replace('x', 'yy')",
        "args.s.replace('', 'yy')",
        "[args.s, args.s].join('')",
        "args.s.split('').join('--')",
    ],
)
def test_texts_do_not_grow_without_measure(source):
    with pytest.raises(ExpressionError, match=r"longer than|too many steps"):
        evaluate(source, s=big)


def test_values_nested_very_deeply_are_an_error_not_a_crash():
    deep = other = 1
    for _ in range(5000):
        deep, other = [deep], [other]
    for source in ("args.a == args.b", "string(args.a)", "[args.a]", "distinct([args.a])", "args.b in [args.a]"):
        with pytest.raises(ExpressionError, match=r"nested (too deeply|deeper)"):
            evaluate(source, a=deep, b=other)


@pytest.mark.parametrize(
    "pattern", ["(a*)*b", "(a|a)*b", "(a+)+$", "a{1000}{1000}", "(" * 500, "x" * 2000, "\\", "[", "(?<=a)b", "\ud800"]
)
def test_hostile_patterns_cost_little(pattern):
    def match():
        with suppress(ExpressionError):
            evaluate("args.s.matches(args.p)", s="a" * 50_000, p=pattern)

    assert cost(match) < 1200


pieces = st.sampled_from(
    [
        "args", "entity", "world", "now", ".", ".x", ".a", "[", "]", "(", ")", "{", "}", ",", ":", "?", "+", "-", "*",
        "/", "%", "!",
        "&&", "||", "==", "<", "in ", "1", "0", "2.5", "'a'", '"', "'", "\\", "true", "null", " ", "\n", "x, ",
        "has(", "default(", "map(x, ",
        "exists(", "world.orders", "find('orders', ", "timestamp(", "duration('1h')", "//", "r'", "1e9",
        "9223372036854775807",
    ]
)  # fmt: skip
soup = st.lists(pieces, max_size=14).map("".join) | st.text(max_size=20)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(
        ["2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01", "72h", "-1", "\ud800", "[a-z]+", "a.b"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abx"), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None)
@given(soup)
def test_any_source_either_works_or_raises_an_expression_error(source):
    for compiler in (compile_expression, compile_template):
        with suppress(ExpressionError):
            compiler(source)(Scope({"args": {"x": 1, "a": [1]}, "entity": None}, State()))


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(FUNCTIONS)),
    st.lists(json_values, min_size=1, max_size=4),
    st.booleans(),
)
def test_any_function_on_any_values_either_works_or_raises_an_expression_error(name, values, as_times):
    wrap = "timestamp({})" if as_times else "{}"
    arguments = [wrap.format("args.v0") if n == 0 else f"args.v{n}" for n in range(len(values))]
    source = f"{name}({', '.join(arguments)})"
    with suppress(ExpressionError):
        evaluate(source, **{f"v{n}": value for n, value in enumerate(values)})


OPERATORS = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "in", "&&", "||"]
LEFT = [
    "args.a",
    "timestamp(args.a)",
    "duration(args.a)",
    "now",
    "(now - timestamp(args.a))",
    "world",
    "-args.a",
    "!args.a",
    "args.a[args.b]",
]


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(LEFT), st.sampled_from(OPERATORS), st.sampled_from(LEFT), json_values, json_values)
def test_any_operator_on_any_values_either_works_or_raises_an_expression_error(left, operator, right, a, b):
    with suppress(ExpressionError):
        evaluate(f"{left} {operator} {right.replace('args.a', 'args.b')}", a=a, b=b)


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(MACROS)),
    st.sampled_from(["x", "x == args.b", "x.a", "[x]", "true", "{'k': x}"]),
    st.booleans(),
    json_values,
    json_values,
)
def test_any_macro_on_any_values_either_works_or_raises_an_expression_error(name, body, two, a, b):
    with suppress(ExpressionError):
        evaluate(f"args.a.{name}({'x, y' if two else 'x'}, {body})", a=a, b=b)
