import json
from random import Random

import pytest
from envace_sdk.training.grounding import alike
from envace_sdk.training.tasks.facts import facts_of, said
from envace_sdk.training.tasks.words import dates_said, details, listed, request_of, sentence, value_words, words
from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.roles import write_json
from envace_sdk.tasks.said import says
from envace_sdk.tools.model import Tool, ToolResult
from envace_sdk.world.dynamics import ToolRule
from envace_sdk.world.expressions.expression import compile_expression

SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(SCALAR, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("order_id", "order id"),
        ("orderId", "order id"),
        ("HTTPServer2", "HTTP server 2"),
        ("ship-to.city", "ship to city"),
        ("___", '"___"'),
        ("Straße_2", "straße 2"),
    ],
)
def test_names_become_words(name, said):
    assert words(name) == said


@pytest.mark.parametrize(
    ("definition", "wish"),
    [
        ({"name": "cancel_order", "annotations": {"title": "Cancel an order"}}, "cancel an order"),
        ({"name": "cancel_order", "title": "Cancel an order."}, "cancel an order"),
        ({"name": "who_is_on_watch", "annotations": {"title": "Who is on watch"}}, "find out who is on watch"),
        ({"name": "list_vms", "annotations": {"title": "VM list"}}, "VM list"),
        ({"name": "cancelOrder", "annotations": {"title": "Cancel"}}, "cancel order"),
        ({"name": "cancelOrder", "title": 7}, "cancel order"),
    ],
)
def test_a_tool_becomes_a_request(definition, wish):
    assert request_of(Tool(definition)) == wish


def test_arguments_become_a_sentence():
    arguments = {"order_id": "TT-1", "lines": [{"sku": "A-1", "quantity": 2}], "gift": True, "note": "So long!"}
    assert details(arguments, {"order_id": "that of case C-1"}) == (
        "The order id is that of case C-1, the lines are sku A-1, quantity 2, the gift is yes and the note is "
        '"So long!".'
    )
    assert details({}, {}) == ""
    assert (listed(["a"]), listed(["a", "b", "c"]), sentence("is it?")) == ("a", "a, b and c", "Is it?")


def test_days_are_said_in_several_ways():
    assert dates_said("2026-10-04")[:3] == ["2026-10-04", "4 October", "4. October"]
    assert says("It comes on Oct 4, 2026.", "Oct 4")
    assert dates_said("2026-13-40") == ["2026-13-40"]


@settings(deadline=None)
@given(JSON)
def test_any_value_has_words_on_one_line_of_its_own_quotes(value):
    told = value_words(value)
    assert isinstance(told, str)
    assert "\n" not in told


@settings(deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=6), st.integers())
def test_whoever_says_the_facts_has_said_them(value, seed):
    for fact in facts_of(value, ToolRule(effect="compute"), "", Random(seed)):
        compile_expression(said(fact.forms), extra=frozenset({"said"}))
        assert all(says(f"It is {form}.", form) for form in fact.forms)


def test_what_the_request_gives_away_is_no_fact():
    rule = ToolRule(effect="compute")
    found = {
        fact.name for seed in range(20) for fact in facts_of({"a": "Anna", "b": "Berta"}, rule, "of anna", Random(seed))
    }
    assert found == {"b"}
    for value in ({"n": 3}, {"ok": True}, {"at": "2026-01-01T09:00:00Z"}, {"x": None}, {"t": "-"}, {"t": "y" * 90}):
        assert facts_of(value, rule, "", Random(0)) == []


@settings(deadline=None)
@given(JSON, JSON)
def test_likeness_is_a_share_and_symmetric(one, other):
    first, second = (ToolResult.json(value, structured=True) for value in (one, other))
    assert 0.0 <= alike(first, second) <= 1.0
    assert alike(first, second) == pytest.approx(alike(second, first))
    assert alike(first, first) == 1.0


@settings(deadline=None)
@given(JSON)
def test_likeness_survives_the_wire(value):
    try:
        written = write_json(value)
    except ValueError:
        return
    first = ToolResult.json(value, structured=True)
    assert alike(first, ToolResult.json(json.loads(written), structured=True)) == 1.0
