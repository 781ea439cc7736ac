"""`decide`: several outcomes as an ordered list of conditions."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from envace_sdk.world.mine.conditions import decide


def scope(random: Random) -> dict:
    entity = None
    if random.random() < 0.8:
        entity = {"status": random.choice(["open", "closed", "draft"]), "balance": random.randint(0, 50)}
    return {
        "args": {"amount": random.randint(-5, 60), "id": f"o{random.randint(1, 999)}"},
        "entity": entity,
        "session": {"user": random.choice([None, "ann", "bo", "cy"])},
    }


CHECKS = {
    "login": lambda one: one["session"]["user"] is None,
    "missing": lambda one: one["entity"] is None,
    "positive": lambda one: one["args"]["amount"] <= 0,
    "closed": lambda one: one["entity"] is not None and one["entity"]["status"] == "closed",
    "funds": lambda one: one["entity"] is not None and one["args"]["amount"] > one["entity"]["balance"],
}


def label(one: dict, order: list[str]) -> str:
    return next((name for name in order if CHECKS[name](one)), "")


@settings(deadline=None, max_examples=12)
@given(order=st.permutations(sorted(CHECKS)), seed=st.integers(0, 1000))
def test_checks_are_found_whatever_their_order(order, seed):
    random = Random(seed)
    cases = [(one, label(one, order)) for one in (scope(random) for _ in range(250))]
    found = decide(cases, default="")
    assert found.wrong == 0
    fresh = [scope(random) for _ in range(300)]
    assert sum(found(one) == label(one, order) for one in fresh) >= 294
    assert len(found.rules) == len({name for _, name in cases} - {""})


def test_the_list_reads_like_the_code_that_made_the_outcomes():
    random = Random(1)
    order = ["login", "missing", "positive", "closed", "funds"]
    found = decide([(one, label(one, order)) for one in (scope(random) for _ in range(200))], default="")
    assert {rule.label: rule.source for rule in found.rules} == {
        "login": "session.user == null",
        "missing": "entity == null",
        "positive": "args.amount <= 0",
        "closed": "entity.status == 'closed'",
        "funds": "args.amount > entity.balance",
    }
    assert all(rule.confidence > 0.8 for rule in found.rules if rule.right > 8)


def test_a_few_wrong_labels_do_no_harm():
    random = Random(4)
    order = ["login", "missing"]
    cases = [(one, label(one, order)) for one in (scope(random) for _ in range(200))]
    cases[17] = (cases[17][0], "missing" if cases[17][1] != "missing" else "")
    cases[90] = (cases[90][0], "login" if cases[90][1] != "login" else "")
    found = decide(cases, default="")
    assert {(rule.label, rule.source) for rule in found.rules} >= {
        ("login", "session.user == null"),
        ("missing", "entity == null"),
    }
    assert found.wrong <= 2


def test_a_rule_of_one_case_is_never_trusted():
    random = Random(2)
    cases = [(one, "") for one in (scope(random) for _ in range(40)) if one["entity"] is not None]
    cases.append(({**cases[0][0], "entity": None}, "missing"))
    for rule in decide(cases).rules:
        assert rule.confidence == 0.0


def test_labels_without_a_reason_are_left_to_the_default_and_counted():
    random = Random(6)
    cases = [(scope(random), "bad luck" if random.random() < 0.2 else "") for _ in range(120)]
    found = decide(cases, default="")
    assert sum(rule.right for rule in found.rules) <= 8
    assert all(rule.confidence < 0.8 for rule in found.rules)
    assert found.unexplained["bad luck"] >= 12


def test_the_most_frequent_label_is_the_default():
    found = decide([({"args": {"n": n}}, "high" if n > 5 else "low") for n in range(15)])
    assert found.default == "high"
    assert found({"args": {"n": 2}}) == "low"
    assert found({"args": {"n": 9}}) == "high"


def test_no_cases_give_an_empty_list():
    found = decide([])
    assert (found.rules, found.default, found.right) == ((), "", 0)


def test_the_same_cases_give_the_same_list():
    random = Random(9)
    cases = [(one, label(one, sorted(CHECKS))) for one in (scope(random) for _ in range(80))]
    assert decide(cases) == decide(cases)
