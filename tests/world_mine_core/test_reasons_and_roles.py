"""Expressions that enough cases suffice to believe, and the names under which calls know things."""

import pytest

from envace_sdk.json import UNSET
from envace_sdk.world.mine.belief import Belief
from envace_sdk.world.mine.evaluating import evaluate, holds
from envace_sdk.world.mine.explain import Example
from envace_sdk.world.mine.reasons import reason_for, reason_where_known
from envace_sdk.world.mine.roles import cast_of
from envace_sdk.world.mine.structure import SESSION, Kind, Reference, Site, Structure
from envace_sdk.world.mine.values import same


def case(target, **args):
    return Example({"args": args, "session": {}}, target)


def test_one_case_is_no_reason():
    assert reason_for([case("red", colour="red")]) is None
    assert reason_for([case("red", colour="red"), case("blue", colour="blue")]).source == "args.colour"


def test_among_many_cases_few_may_be_otherwise_if_the_rest_is_simple():
    cases = [case(f"c{n}", colour=f"c{n}") for n in range(40)]
    found = reason_for([*cases, case("odd", colour="even")])
    assert (found.source, found.hits, found.misses) == ("args.colour", 40, 1)
    assert reason_for([*cases, *(case(f"odd{n}", colour="even") for n in range(20))]) is None


def test_what_was_refuted_is_not_said_again():
    cases = [case(f"c{n}", colour=f"c{n}", shade=f"c{n}") for n in range(6)]
    first = reason_for(cases).source
    assert reason_for(cases, refuted={first}).source != first


def test_what_only_known_things_explain_is_found_where_they_are_known():
    known = [Example({"args": {}, "entity": {"name": f"n{k}"}}, f"n{k}") for k in range(5)]
    unknown = [Example({"args": {}, "entity": None}, f"u{k}") for k in range(20)]
    assert reason_for([*known, *unknown]) is None
    assert reason_where_known([*known, *unknown]).source == "entity.name"


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        (2, 2.0, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        ({"a": [1, {"b": None}]}, {"a": [1.0, {"b": None}]}, True),
        ({"a": 1}, {"a": True}, False),
        ({"a": 1}, {"b": 1}, False),
        ([1, 2], [1], False),
        ("1", 1, False),
    ],
)
def test_values_are_the_same_if_they_are_the_same_json(one, other, are):
    assert same(one, other) is are


def test_an_expression_that_fails_gives_nothing():
    assert evaluate("args.a + 1", {"args": {"a": 1}}) == 2
    assert evaluate("args.b + 1", {"args": {"a": 1}}) is UNSET
    assert holds("args.a == 1", {"args": {"a": 1}})
    assert not holds("args.b == 1", {"args": {"a": 1}})


def structure():
    return Structure(
        kinds={SESSION: Kind(SESSION, "session", "id"), **{k: Kind(k, k[:-1], "id") for k in ("pots", "shelves")}},
        references={
            "move": [Reference("move", "shelf_id", "shelves"), Reference("move", "pot_id", "pots")],
            "make": [Reference("make", "shelf_id", "shelves")],
            "sell": [Reference("sell", "pot_ids.[]", "pots")],
        },
        sites={"move": [Site("move", "", "pots", key="id")], "make": [Site("make", "", "pots", key="id", fresh=True)]},
    )


def test_the_thing_whose_fields_are_shown_is_what_a_call_is_about():
    cast = cast_of("move", structure(), {}, {})
    assert [(n.name, n.kind, n.source) for n in cast.named] == [
        ("entity", "pots", "args.pot_id"),
        ("shelf", "shelves", "args.shelf_id"),
    ]
    assert cast.primary is cast.named[0]


def test_what_a_call_makes_is_what_it_is_about():
    cast = cast_of("make", structure(), {}, {})
    assert [(n.name, n.fresh, n.source) for n in cast.named] == [
        ("entity", True, ""),
        ("shelf", False, "args.shelf_id"),
    ]


def test_arguments_that_name_several_things_name_none():
    assert cast_of("sell", structure(), {}, {}).named == ()


def test_what_a_thing_refers_to_has_a_name_as_well():
    cast = cast_of("move", structure(), {}, {"pots": {"maker_id": "people", "shelf_id": "shelves"}})
    assert [(n.name, n.source) for n in cast.named[2:]] == [("maker", "entity.maker_id"), ("shelf_", "entity.shelf_id")]


def test_relative_names_are_joined_to_where_the_session_is():
    assert (
        cast_of("move", structure(), {"pots": "session.room"}, {}).primary.source
        == "joinpath(session.room, args.pot_id)"
    )


def test_the_scope_of_a_call_holds_what_is_known_of_the_things_it_names():
    belief = Belief({"pots": {"p1": {"shelf_id": "s1"}}, "shelves": {"s1": {"height": 2}}})
    cast = cast_of("move", structure(), {}, {"pots": {"shelf_id": "shelves"}})
    scope, keys = cast.scope({"pot_id": "p1", "shelf_id": "s2"}, belief)
    assert keys == {"entity": "p1", "shelf": "s2", "shelf_": "s1"}
    assert scope["entity"] == {"shelf_id": "s1"}
    assert scope["shelf"] is None
    assert scope["shelf_"] == {"height": 2}
