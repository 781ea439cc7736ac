"""`separate`: conditions that tell scopes apart."""

from __future__ import annotations

from envace_sdk.world.mine.conditions import separate


def scopes(*amounts: int, **more):
    return [{"args": {"amount": amount}, **more} for amount in amounts]


def test_a_limit_is_put_where_a_programmer_would_put_it():
    assert separate(scopes(-5, -1), scopes(3, 8))[0].source == "args.amount <= 0"
    assert separate(scopes(130, 180), scopes(60, 95))[0].source == "args.amount > 100"


def test_the_missing_entity_is_the_simplest_explanation():
    yes = [{"args": {"id": f"x{n}"}, "entity": None} for n in range(3)]
    no = [{"args": {"id": f"y{n}"}, "entity": {"id": f"y{n}"}} for n in range(3)]
    assert separate(yes, no)[0].source == "entity == null"


def test_one_empty_side_needs_no_condition():
    assert [found.source for found in separate(scopes(1), [])] == ["true"]
    assert [found.source for found in separate([], scopes(1))] == ["false"]


def test_a_scope_on_both_sides_cannot_be_told_apart():
    assert separate(scopes(1, 2), scopes(2, 3)) == []
