"""How far rules are trusted: what counts as right, as wrong, and as left open."""

import pytest
from mined_calls import toolset
from small_episodes import Failed, episodes

from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.mine import learn
from envace_sdk.world.mine.judging import Judgement, judge

TOOLS = toolset(add={"name": "string"}, get={"id": "string"}, find={"kind_": "string"}, drop={"id": "string"})
RULES = Dynamics.parse("""
collections: {things: {key: id, mint: "T-{hex:8}"}, pairs: {key: [of, id]}}
tools:
  add: {effect: create, collection: things, take: [name], returns: {fields: [id, name]}}
  get: {effect: read, collection: things, key: args.id, returns: {fields: [id, name, size]}}
  drop: {effect: delete, collection: things, key: args.id, requires: [{that: "entity != null", error: 'No {args.id}',
         status: success}], returns: {object: {dropped: args.id}}}
""")
ADD = ("add", {"name": "a"}, {"id": "T-0123abcd", "name": "a"})
GET = ("get", {"id": "T-0123abcd"}, {"id": "T-0123abcd", "name": "a"})
DROP = ("drop", {"id": "T-0123abcd"}, {"dropped": "T-0123abcd"})


def judged(*sessions, start=None, rules=RULES, **how):
    return judge(rules, start or {}, episodes(*sessions), TOOLS, **how)


def counts(judgement):
    return judgement.calls, judgement.answered, judgement.right


@pytest.mark.parametrize("alone", [False, True])
def test_a_name_that_the_server_made_by_chance_is_no_mistake(alone):
    told = judged([ADD, GET, DROP], on_their_own=alone)
    assert [counts(told[name]) for name in ("add", "get", "drop")] == [(1, 1, 1)] * 3
    assert told["add"].score == 1.0


def test_another_name_for_the_rest_is_one():
    told = judged([("add", {"name": "a"}, {"id": "T-0123abcd", "name": "b"})])
    assert counts(told["add"]) == (1, 1, 0)
    assert 0.5 < told["add"].score < 1


def test_an_answer_that_lacks_a_field_of_the_thing_is_left_open():
    told = judged([ADD, ("get", {"id": "T-0123abcd"}, {"id": "T-0123abcd", "name": "a", "size": 3})])
    assert counts(told["get"]) == (1, 0, 0)
    assert told["get"].score == 0.55


def test_a_field_that_the_server_does_not_show_either_is_not_lacking():
    assert counts(judged([ADD, GET])["get"]) == (1, 1, 1)


def test_a_thing_that_is_not_known_where_the_server_had_it_is_a_mistake():
    assert counts(judged([GET])["get"]) == (1, 1, 0)


def test_what_was_declined_is_right_where_the_rule_declines_and_changes_nothing():
    start = {"things": [{"id": "T-1", "name": "a"}]}
    no = ("drop", {"id": "T-2"}, "No T-2")
    told = judged([no, ("get", {"id": "T-2"}, Failed("Thing 'T-2' not found"))], start=start)
    assert counts(told["drop"]) == counts(told["get"]) == (1, 1, 1)


@pytest.mark.parametrize(
    "key", [None, True, 7, 1.5, [], ["a"], {"a": 1}, "", "x" * 5000, [["deep"]]], ids=lambda key: repr(key)[:12]
)
def test_whatever_stands_where_the_key_of_a_new_thing_should_nothing_breaks(key):
    answer = {"id": key, "name": "a", "of": key}
    pairs = Dynamics.parse(RULES.dump().replace("collection: things", "collection: pairs"))
    for rules in (RULES, pairs):
        told = judged([("add", {"name": "a"}, answer), ("get", {"id": key}, answer)], rules=rules)
        assert told["add"].calls == told["get"].calls == 1


@pytest.mark.parametrize(
    ("judgement", "good", "poor"),
    [
        (Judgement(10, 10, 10, 10.0), True, False),
        (Judgement(10, 10, 6, 8.0), True, False),
        (Judgement(10, 10, 5, 7.0), False, False),
        (Judgement(10, 10, 2, 7.4), False, True),
        (Judgement(10, 10, 2, 7.6), False, False),
        (Judgement(10, 10, 0, 5.0), False, True),
        (Judgement(2, 2, 2, 2.0), False, False),
        (Judgement(2, 2, 0, 0.0), False, False),
        # What is left open says nothing of the rest.
        (Judgement(50, 5, 5, 5 + 45 * 0.55), True, False),
        (Judgement(50, 5, 0, 2.5 + 45 * 0.55), False, True),
        (Judgement(50, 2, 0, 1.0 + 48 * 0.55), False, False),
        (Judgement(0, 0, 0, 0.0), False, False),
    ],
)
def test_rules_are_good_or_poor_by_what_they_answer_and_neither_by_little(judgement, good, poor):
    assert (judgement.is_good, judgement.is_poor) == (good, poor)


LISTED = toolset(add={"name": "string", "kind": "string"}, find={"kind_": "string"})
KINDS = ("cup", "jar", "pan")


def recordings(*, sessions=16):
    """Sessions in which things are made and listed; only in every other one is it asked for some of them."""
    for number in range(sessions):
        things = []
        steps = []
        for n in range(9):
            things.append({"id": f"t{number}-{n}", "name": f"thing {number} {n}", "kind": KINDS[(n * 7 + number) % 3]})
            steps.append(("add", {"name": things[-1]["name"], "kind": things[-1]["kind"]}, things[-1]))
        for kind in KINDS * 2:
            args = {"kind": kind} if number % 2 else {}
            steps.append(("find", args, {"things": [one for one in things if args.get("kind") in (None, one["kind"])]}))
        for place, (tool, args, answer) in enumerate(steps):
            yield Fixture(ToolCall(tool, args), ToolResult.json(answer, structured=False), f"{number:03}", place)


def test_what_all_recordings_taught_is_not_given_up_for_what_half_of_them_did():
    rule = learn(LISTED, list(recordings())).dynamics.tools["find"]
    assert rule.effect == "search"
    assert rule.filters["kind"].field == "kind"
