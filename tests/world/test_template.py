import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import ExpressionError
from envace_sdk.world.expressions import Scope, compile_template
from envace_sdk.world.state import State


def render(text, **args):
    return compile_template(text)(Scope({"args": args}, State()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("Order {args.id} not found", "Order A-1 not found"),
        ("{args.id}{args.id}", "A-1A-1"),
        ("{args.price} {args.whole} {args.n}", "2.5 25 7"),
        ("{args.yes} {args.nothing}", "true null"),
        ("{args.list} {args.object}", '[1, "é"] {"k": null}'),
        ("{{args.id}} {{}}", "{args.id} {}"),
        ("{{{args.id}}}", "{A-1}"),
        ("{ {'a': {'b': 1}}['a'].b }", "1"),
        ("{'}' + \"{\"}", "}{"),
        (r"{'\'}'}", "'}"),
        ("{now} {duration('90s')}", "2026-01-01T09:00:00Z 90s"),
        ("100% of {args.n * 2}", "100% of 14"),
    ],
)
def test_texts_are_filled_in(text, expected):
    values = {"id": "A-1", "price": 2.5, "whole": 25.0, "n": 7, "yes": True, "nothing": None}
    assert render(text, **values, list=[1, "é"], object={"k": None}) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a {args.id", "column 3 is never closed"),
        ("a }", "column 3 closes nothing"),
        ("{}", "empty"),
        ("{1 +}", "too early"),
    ],
)
def test_broken_templates_are_refused_when_they_are_compiled(text, message):
    with pytest.raises(ExpressionError, match=message):
        compile_template(text)


def test_an_absent_value_is_an_error_that_names_it():
    with pytest.raises(ExpressionError, match=r"args\.zzz is absent"):
        render("Order {args.zzz}")


@given(st.text())
def test_any_text_can_be_written_with_doubled_braces(text):
    assert render(text.replace("{", "{{").replace("}", "}}")) == text


@given(st.text())
def test_any_value_is_printed_bare(value):
    assert render("<{args.value}>", value=value) == f"<{value}>"
