"""The expressions and texts of which learned rules are made."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.json import UNSET
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.expressions import Scope, compile_expression
from envace_sdk.world.mine.evaluating import evaluate
from envace_sdk.world.mine.roles import Named
from envace_sdk.world.mine.sources import (
    entity_as_thing,
    entity_as_thing_in_template,
    fetched,
    free_source,
    negated,
    speaks_of,
    template_source,
)
from envace_sdk.world.mine.texts import Rows, Slot, Template
from envace_sdk.world.state import State


def value_of(source):
    """What an expression gives where texts are made up too."""
    return compile_expression(source)(Scope({}, State.start(dynamics=Dynamics()), random=Random(1)))


@pytest.mark.parametrize(
    "condition",
    [
        "args.x == 1", "args.x != 1", "args.x < 1", "args.x <= 1", "args.x > 1", "args.x >= 1", "!has(args.y)",
        "has(args.y)", "args.x == 1 || args.x == 2", "!(args.x == 1)", "args.x in [1, 3]",
        "!(args.x < 2) && has(args.y)", "args.x == -1",
    ],
)  # fmt: skip
def test_the_negation_of_a_condition_holds_where_it_does_not(condition):
    for args in [{"x": x} for x in (-1, 0, 1, 2, 3)] + [{"x": 1, "y": 5}, {"x": 5, "y": 1}]:
        assert evaluate(negated(condition), {"args": args}) is not evaluate(condition, {"args": args})


def test_simple_conditions_are_negated_as_a_person_would():
    assert negated("args.amount > entity.balance") == "args.amount <= entity.balance"
    assert negated("!has(args.note)") == "has(args.note)"
    assert negated("a || b") == "!(a || b)"


def test_a_flag_that_nothing_has_set_yet_is_down():
    assert evaluate(negated("!session.logged_in"), {"session": {}}) is False


def test_another_name_takes_the_place_of_the_entity_but_not_in_words():
    assert entity_as_thing("entity.x == 'no entity' + \"entity\"") == "it.x == 'no entity' + \"entity\""
    assert entity_as_thing({"entity": ["entity.a", 1, None]}) == {"entity": ["it.a", 1, None]}
    assert entity_as_thing("entity_id + args.entity_x") == "entity_id + args.entity_x"
    assert entity_as_thing_in_template("No entity {entity.id} {{entity}}") == "No entity {it.id} {{entity}}"


def test_a_name_is_spoken_of_where_it_stands_as_a_word():
    written = {"set": {"owner": "user.name"}, "requires": [{"that": "has(args.x)"}]}
    assert speaks_of("user", written)
    assert speaks_of("owner", written)
    assert not speaks_of("use", written)


def test_what_calls_may_leave_out_is_fetched_only_when_it_is_given():
    user = Named("user", "users", "args.user_id")
    assert fetched(user, optional=False) == "get('users', args.user_id)"
    assert evaluate(fetched(user, optional=True), {"args": {}}) is None
    assert evaluate(fetched(user, optional=False), {"args": {}}) is UNSET


@pytest.mark.parametrize(
    ("samples", "source"),
    [
        ([], "null"), (["a", "b", "a"], '"a"'), ([1, 2, 2], "2"), ([[1] * 300], "[]"), ([{"x": "y" * 500}], "{}"),
        (["y" * 500, "y" * 500], "''"), (["one word", "quite another", "and a third!"], '"one word"'),
    ],
)  # fmt: skip
def test_what_nothing_explains_is_what_is_most_usual(samples, source):
    assert free_source(samples) == source


def test_texts_of_one_form_are_made_up_in_that_form():
    source = free_source(["AB-1234", "XY-9076", "QQ-1000"])
    assert source == 'pattern("[A-Z]{2}\\\\-[0-9]{4}")'
    assert re.fullmatch(r"[A-Z]{2}-\d{4}", value_of(source))


@given(st.lists(st.text(max_size=20) | st.integers() | st.lists(st.integers(), max_size=3), max_size=6))
def test_whatever_was_seen_there_is_an_expression_for_it(samples):
    value_of(free_source(samples))


def test_a_text_is_put_together_again_with_its_rows_and_columns():
    row = Template((Slot("name", "word", width=6), "| ", Slot("size", "integer")))
    form = Template((Slot("count", "integer"), " files\n", Rows("rows", row, "\n")))
    values = {"count": 2, "rows": [{"name": "a.txt", "size": 5}, {"name": "b", "size": 12}]}
    source = template_source(form, lambda name: f"args.{name}")
    assert evaluate(source, {"args": values}) == "2 files\na.txt | 5\nb     | 12"
