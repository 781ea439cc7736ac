"""Where JSON and CEL agree on values, our closures and cel-python's own evaluator must agree too."""

import celpy
import pytest
from celpy import celtypes
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.errors import ExpressionError
from envace_sdk.world.expressions import Scope, compile_expression
from envace_sdk.world.state import State

integers = st.integers(-50, 50).map(str)
texts = st.text(alphabet="ab'\"\\é\n", max_size=4).map(
    lambda text: '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
)
booleans = st.sampled_from(["true", "false"])


def numbers(inner):
    return st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*"]), inner) | st.builds(
        "(-{})".format, inner
    )


number = st.recursive(integers | st.sampled_from(["n", "m"]), numbers, max_leaves=5)
text = st.recursive(texts | st.just("s"), lambda inner: st.builds("({} + {})".format, inner, inner), max_leaves=4)
number_list = st.lists(number, max_size=3).map(lambda items: f"[{', '.join(items)}]") | st.just("l")
comparison = (
    st.builds("({} {} {})".format, number, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), number)
    | st.builds("({} {} {})".format, text, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), text)
    | st.builds("({} in {})".format, number, number_list)
    | st.builds("({} == {})".format, number_list, number_list)
    | st.builds("{}.{}({})".format, texts | st.just("s"), st.sampled_from(["contains", "startsWith", "endsWith"]), text)
    | st.builds("({}.{}(x, (x + n) > m))".format, number_list, st.sampled_from(["all", "exists", "exists_one"]))
)
boolean = st.recursive(
    booleans | comparison,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(["&&", "||"]), inner)
        | st.builds("(!{})".format, inner)
        | st.builds("({} ? {} : {})".format, inner, inner, inner)
    ),
    max_leaves=6,
)
anything = (
    number
    | text
    | boolean
    | number_list
    | st.builds("{}.map(x, x * 2)".format, number_list)
    | st.builds("{}.filter(x, x > n)".format, number_list)
    | st.builds("size({})".format, number_list | text)
    | st.builds("({} ? {} : {})".format, boolean, number, number)
)

NAMES = {"n": 3, "m": -7, "s": "ab", "l": [3, -7, 0]}
ENVIRONMENT = celpy.Environment()


def by_celpy(source):
    program = ENVIRONMENT.program(ENVIRONMENT.compile(source))
    return plain(program.evaluate({name: celpy.json_to_cel(value) for name, value in NAMES.items()}))


def plain(value):
    if isinstance(value, celtypes.BoolType):
        return bool(value)
    if isinstance(value, celtypes.IntType):
        return int(value)
    if isinstance(value, celtypes.ListType):
        return [plain(item) for item in value]
    return str(value)


def ours(source):
    return compile_expression(source)(Scope(dict(NAMES), State()))


@settings(max_examples=150, deadline=None)
@given(anything)
def test_both_give_the_same_value(source):
    try:
        expected = by_celpy(source)
    except celpy.CELEvalError:
        with pytest.raises(ExpressionError):
            ours(source)
    else:
        value = ours(source)
        assert value == expected
        assert type(value) is type(expected)


@pytest.mark.parametrize(
    "source",
    [
        "n / 0 > 1 || true",
        "false && n / 0 > 1",
        "n / 0 > 1 || false",
        "[1, 0].exists(x, 1 / x == 1)",
        "[0, 1].all(x, 1 / x > 5)",
    ],
)
def test_both_absorb_errors_alike(source):
    test_both_give_the_same_value.hypothesis.inner_test(source)
