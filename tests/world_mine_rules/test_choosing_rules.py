"""How well rules do on recorded calls, and which of two sets of them is kept."""

import pytest
from mined_calls import toolset

from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.dynamics import Dynamics, ToolRule
from envace_sdk.world.mine import learn
from envace_sdk.world.mine.choosing import choose, with_answers
from envace_sdk.world.mine.episodes import episodes_of
from envace_sdk.world.mine.judging import Judgement, judge
from envace_sdk.world.mine.rules import silenced

TOOLS = toolset(get_pot={"pot": "string"}, add={"a": "number", "b": "number"})
POTS = {"pots": [{"pot": "p1", "size": 3}, {"pot": "p2", "size": 5}]}


def rules(text):
    return Dynamics.parse(f"format: 1\n{text}")


GOOD_POT = "get_pot: {effect: read, collection: pots, key: args.pot, missing: 'no {args.pot}'}"
BAD_POT = "get_pot: {effect: read, collection: pots, key: args.pot, returns: {object: {size: '99', of: args.pot}}}"
POT_RULES = "collections: {pots: {key: pot}}\ntools:\n  "
GOOD = rules(f"{POT_RULES}{GOOD_POT}\n  add: {{effect: compute, returns: {{value: args.a + args.b}}}}\n")
BAD = rules(f"{POT_RULES}{BAD_POT}\n  add: {{effect: compute, returns: {{value: '7'}}}}\n")


def calls():
    for episode in range(3):
        said = [
            (ToolCall("get_pot", {"pot": "p1"}), ToolResult.json({"pot": "p1", "size": 3}, structured=False)),
            (ToolCall("get_pot", {"pot": "p2"}), ToolResult.json({"pot": "p2", "size": 5}, structured=False)),
            (ToolCall("get_pot", {"pot": "p9"}), ToolResult.text("no p9", is_error=True)),
            (ToolCall("add", {"a": 2, "b": episode}), ToolResult.json(2 + episode, structured=False)),
        ]
        for position, (call, result) in enumerate(said):
            yield Fixture(call, result, str(episode), position)


EPISODES = episodes_of(calls(), ["get_pot", "add"])


def judged(dynamics):
    return judge(dynamics, POTS, EPISODES, TOOLS)


def test_right_answers_count_whole_and_others_by_how_alike_they_are():
    good, bad = judged(GOOD)["get_pot"], judged(BAD)["get_pot"]
    assert (good.calls, good.answered, good.right, good.score) == (9, 9, 9, 9.0)
    assert (bad.calls, bad.answered, bad.right) == (9, 9, 0)
    assert 3.0 < bad.score < 9.0


def test_rules_that_say_nothing_are_worth_a_little_more_than_half():
    [silent] = {one.score for one in judged(Dynamics()).values() if one.calls == 9}
    assert 4.5 < silent < 6.0
    assert judged(Dynamics())["get_pot"].answered == 0


def test_an_error_in_other_words_is_worth_less_than_the_same_words():
    other = rules(f"collections: {{pots: {{key: pot}}}}\ntools:\n  {GOOD_POT.replace('no {', 'gone {')}\n")
    assert 8.0 < judged(other)["get_pot"].score < 9.0


def test_a_rule_that_cannot_be_computed_says_nothing():
    assert (
        judged(rules("tools:\n  add: {effect: compute, returns: {value: args.a + args.nothing}}\n"))["add"].answered
        == 0
    )


@pytest.mark.parametrize(
    ("right", "calls", "least", "most"), [(0, 0, 0.5, 0.5), (0, 9, 0, 0.0), (3, 3, 0.7, 0.8), (300, 300, 0.98, 0.99)]
)
def test_confidence_is_cautious_where_calls_are_few(right, calls, least, most):
    assert least <= Judgement(calls, calls, right).confidence <= most


def test_poor_is_what_is_seldom_right_and_not_even_like_it():
    assert Judgement(10, 10, 0, 5.0).is_poor
    assert not Judgement(10, 10, 0, 8.0).is_poor
    assert not Judgement(10, 10, 5, 5.0).is_poor
    assert not Judgement(2, 2, 0, 0.0).is_poor


def test_of_tools_that_share_nothing_each_gets_the_better_rule():
    mined = Dynamics(collections=GOOD.collections, tools={"get_pot": GOOD.tools["get_pot"], "add": BAD.tools["add"]})
    inferred = Dynamics(collections=BAD.collections, tools={"get_pot": BAD.tools["get_pot"], "add": GOOD.tools["add"]})
    chosen, start, taken = choose((mined, POTS), [(inferred, {}), (inferred, POTS)], EPISODES, TOOLS)
    assert taken == {"add"}
    assert chosen.tools == GOOD.tools
    assert start == POTS


def test_where_both_do_alike_the_mined_rules_are_kept():
    chosen, _, taken = choose((GOOD, POTS), [(GOOD, POTS)], EPISODES, TOOLS)
    assert (chosen, taken) == (GOOD, set())


def test_things_of_one_collection_are_all_ruled_by_the_same():
    tools = toolset(get_pot={"pot": "string"}, set_pot={"pot": "string"})
    both = f"{POT_RULES}{{get}}\n  set_pot: {{effect: update, collection: pots, key: args.pot}}\n"
    mined, inferred = rules(both.replace("{get}", BAD_POT)), rules(both.replace("{get}", GOOD_POT))
    episodes = episodes_of((one for one in calls() if one.call.name == "get_pot"), ["get_pot"])
    chosen, _, taken = choose((mined, POTS), [(inferred, POTS)], episodes, tools)
    assert taken == {"get_pot", "set_pot"}
    assert chosen == inferred


def test_an_inferred_rule_gets_the_mined_answer_where_that_is_right_more_often():
    inferred = rules("tools:\n  add: {effect: compute}\n")
    assert with_answers(inferred, GOOD, {"add"}, {}, EPISODES, TOOLS).tools["add"].returns == GOOD.tools["add"].returns
    assert with_answers(GOOD, BAD, {"add"}, {}, EPISODES, TOOLS) == GOOD


def test_an_answer_that_hangs_on_its_own_rule_is_not_given_to_another():
    mined = rules("tools:\n  add: {effect: compute, let: {it: '5'}, returns: {value: args.a + it}}\n")
    inferred = rules("tools:\n  add: {effect: compute}\n")
    assert with_answers(inferred, mined, {"add"}, {}, EPISODES, TOOLS) == inferred


def test_a_silenced_rule_refuses_as_before_and_says_no_more():
    asked = "requires: [{that: entity.size > 3, error: '{entity.pot} is small, entity'}]"
    full = rules(f"collections: {{pots: {{key: pot}}}}\ntools:\n  {GOOD_POT.replace('missing', asked + ', missing')}\n")
    quiet = Dynamics(collections=full.collections, tools={"get_pot": silenced(full.tools["get_pot"])})
    [one] = quiet.tools["get_pot"].requires
    assert (one.that, one.error) == ("it.size > 3", "{it.pot} is small, entity")
    assert judged(quiet)["get_pot"].answered == 3


def test_a_silenced_rule_that_requires_nothing_is_open():
    quiet = silenced(GOOD.tools["get_pot"])
    assert quiet == ToolRule(effect="compute")


def test_kept_rules_stay_as_they_are_with_the_collections_they_need():
    kept = rules(
        "collections: {jars: {key: jar}}\ntools:\n  get_pot: {effect: read, collection: jars, key: args.pot}\n"
    )
    fixtures = list(calls())
    learned = learn(TOOLS, fixtures, previous=kept).dynamics
    assert learned.tools["get_pot"] == kept.tools["get_pot"]
    assert "jars" in learned.collections
    assert learned.tools["add"] == learn(TOOLS, fixtures).dynamics.tools["add"]


@pytest.mark.parametrize("episodes", [1, 12])
def test_learning_tells_how_far_it_is(episodes):
    fixtures = [
        Fixture(one.call, one.result, f"{n}-{one.episode}", one.position) for n in range(episodes) for one in calls()
    ]
    told = []
    learn(TOOLS, fixtures, progress=lambda *one: told.append(one))
    names, done, whole = zip(*told, strict=True)
    assert list(done) == list(range(whole[0] + 1))
    assert set(whole) == {len(told) - 1}
    assert names[0] == "taking answers apart"
    assert names[-1] == "judging the rules"
