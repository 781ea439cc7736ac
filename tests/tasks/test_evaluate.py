import json
import re

import immutables
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import ExpressionError
from envace_sdk.tasks import CallRecord, Episode, Task, evaluate, judge
from envace_sdk.tasks.checklist import Scene, compile_condition
from envace_sdk.world.collection import Collection
from envace_sdk.world.state import State

ORDERS = [
    ("O-1", {"order_id": "O-1", "status": "open", "total": 12.5}),
    ("O-2", {"order_id": "O-2", "status": "shipped", "total": 40}),
]
START = State(collections=immutables.Map({"orders": Collection(ORDERS), "refunds": Collection()}))
FINAL = (
    START.put("orders", "O-1", {"order_id": "O-1", "status": "cancelled", "total": 12.5})
    .put("refunds", "R-1", {"refund_id": "R-1", "order_id": "O-1", "amount": 12.5})
    .tick()
)
CALLS = (
    CallRecord("get_order", {"order_id": "O-2"}, result={"status": "shipped"}),
    CallRecord("cancel_order", {"order_id": "O-2"}, "conflict", is_error=True, result="Order O-2 has shipped"),
    CallRecord("cancel_order", {"order_id": "O-1", "reason": {"code": 2, "note": "late"}, "tags": ["a", "b"]}),
)
ANSWER = "Order O-1 is cancelled; $12.50 go back to your card."
EPISODE = Episode(START, FINAL, CALLS, ANSWER)


def task(*conditions, weights=()):
    checklist = [
        {"id": f"item-{n}", "says": "It is so.", "that": that, **({"weight": weights[n]} if weights else {})}
        for n, that in enumerate(conditions)
    ]
    return Task.model_validate({"id": "t", "instruction": "Do it.", "checklist": checklist})


def one(condition, episode=EPISODE):
    return judge(task(condition), episode).items[0]


@pytest.mark.parametrize(
    "condition",
    [
        "world.orders['O-1'].status == 'cancelled'",
        "start.orders['O-1'].status == 'open'",
        "start.orders['O-2'] == world.orders['O-2']",
        "get('refunds', 'R-1').amount == start.orders['O-1'].total",
        "count('refunds', {'order_id': 'O-1'}) == 1",
        "find('refunds', {'order_id': 'O-1'})[0].amount == 12.50",
        "size(world.refunds) == 1 && size(start.refunds) == 0",
        "!('R-1' in start.refunds) && 'R-1' in world.refunds",
        "count(start.refunds) == 0 && count(world.refunds) == 1 && find(start.refunds, {'order_id': 'O-1'}) == []",
        "get(start.orders, 'O-1').status == 'open' && !exists(start.refunds, 'R-1')",
        "called('cancel_order') == 1",
        "attempted('cancel_order') == 2",
        "called('cancel_order', {'order_id': 'O-1'}) == 1",
        "called('cancel_order', {'reason': {'code': 2.0}}) == 1",
        "called('cancel_order', {'reason': {'code': 3}}) == 0",
        "called('cancel_order', {'tags': ['a', 'b']}) == 1 && called('cancel_order', {'tags': ['a']}) == 0",
        "called('cancel_order', {'order_id': 'O-2'}) == 0",
        "attempted('cancel_order', {'order_id': 'O-2'}) == 1",
        "called('get_order') > 0 && called('refund') == 0",
        "calls[1].is_error && calls[1].outcome == 'conflict' && calls[1].result.contains('shipped')",
        "calls[0].result.status == 'shipped' && calls[0].arguments == {'order_id': 'O-2'}",
        "calls.exists(c, c.tool == 'cancel_order' && c.is_error)",
        "said('o-1') && said(12.5) && said(world.refunds['R-1'].amount) && !said('O-2')",
        "answer.contains('card')",
        "changed() == ['orders/O-1', 'refunds/R-1']",
        "now > timestamp('2026-01-01T09:00:00Z')",
    ],
)
def test_conditions_see_the_whole_episode(condition):
    item = one(condition)
    assert item.passed, item.reason
    assert item.reason == ""
    assert not one(f"!({condition})").passed


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("world.orders['O-9'].status == 'open'", "O-9"),
        ("world.invoices['X'].status == 'open'", "invoices"),
        ("wrold.orders['O-1'].status == 'open'", "wrold"),
        ("called('cancel_order')", "true or false"),
        ("answer", "true or false"),
        ("called(1) == 0", "name of a tool"),
        ("called() == 0", r"called\(\)"),
        ("called('x', 'y') == 0", "object of arguments"),
        ("said(world.orders['O-1'])", r"said\(\)"),
        ("said('')", "some text"),
        ("1 +", r"`1 \+`"),
        ("sayed('x')", r"did you mean said\(\)"),
        ("1 / 0 == 1", "zero"),
    ],
)
def test_a_condition_that_cannot_be_told_has_failed_and_says_why(condition, reason):
    item = one(condition)
    assert item.broken
    assert not item.passed
    assert re.search(reason, item.reason)


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        (
            "world.orders['O-1'].status == 'open'",
            '`world.orders["O-1"].status == "open"` is false: world.orders["O-1"].status is the text "cancelled"',
        ),
        ("called('get_order') == 1 && called('cancel_order') == 2", 'called("cancel_order") is the number 1'),
        ("said('O-2') || said('sorry')", '`said("O-2")` is false and `said("sorry")` is false'),
        ("!(called('get_order') > 0)", '`called("get_order") > 0` is true'),
        ("'O-9' in world.orders", '`"O-9" in world.orders` is false'),
        ("world.orders['O-2'].total <= 2 * 3", "is the number 40 and 2 * 3 is the number 6"),
        ("called('x', {'a': [1, true]}) == 1", 'called("x", {"a": [1, true]}) is the number 0'),
        ("size(calls) == 0 ? true : 1 > (2 + 3) * 2", "is false"),
    ],
)
def test_a_condition_that_does_not_hold_says_which_part_and_what_was_there(condition, reason):
    assert reason in one(condition).reason


def test_a_long_reason_is_cut():
    condition = " || ".join(f"said('{'x' * 50}{n}')" for n in range(50))
    assert len(one(condition).reason) <= 300


def test_the_reward_is_the_weight_of_what_holds():
    score = evaluate(task("true", "false", "1 / 0 == 1", weights=[3, 1, 2]), START, FINAL, CALLS, ANSWER)
    assert score.reward == 0.5
    assert not score.solved
    assert [item.passed for item in score.items] == [True, False, False]
    assert score.as_json()["reward"] == 0.5


@given(st.lists(st.tuples(st.booleans(), st.floats(1e-300, 1e300)), min_size=1))
def test_the_reward_is_a_share_and_whole_exactly_when_solved(items):
    score = judge(task(*[str(held).lower() for held, _ in items], weights=[w for _, w in items]), EPISODE)
    assert 0.0 <= score.reward <= 1.0
    assert (score.reward == 1.0) == score.solved == all(held for held, _ in items)
    json.dumps(score.as_json(), allow_nan=False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
CONDITIONS = st.sampled_from(
    [
        "called('t', calls[0].arguments) == 1",
        "said(calls[0].result)",
        "calls[0].result == calls[0].arguments.a",
        "calls[0].result.a.b > 1",
        "world.things['k'].a == calls[0].result",
        "calls[0].result",
        "calls.all(c, c.result.contains('x'))",
        "changed() == []",
        "size(world.things['k'].a) < 2",
    ]
)


@given(CONDITIONS, JSON, JSON, st.text())
def test_scoring_never_raises_whatever_was_called_and_answered(condition, result, argument, answer):
    final = START.put("things", "k", {"a": argument})
    calls = [CallRecord("t", {"a": argument}, result=result)]
    item = judge(task(condition), Episode(START, final, calls, answer)).items[0]
    assert item.passed or item.reason


@given(st.dictionaries(st.text(max_size=3), JSON, max_size=4), st.data())
def test_called_matches_any_part_of_the_arguments(arguments, data):
    part = {n: arguments[n] for n in data.draw(st.sets(st.sampled_from(sorted(arguments) or [""]))) if n in arguments}
    scene = Scene(Episode(START, START, [CallRecord("t", arguments), CallRecord("p", part)]))
    assert scene.holds(compile_condition("called('t', calls[1].arguments) == 1"))
    assert scene.holds(compile_condition("called('p', calls[0].arguments) == 1")) == (len(part) == len(arguments))


def test_an_endless_condition_ends():
    big = State().put("things", "k", {"a": list(range(3000))})
    condition = (
        "world.things['k'].a.all(x, world.things['k'].a.all(y, world.things['k'].a.exists(z, z == x + y || true)))"
    )
    with pytest.raises(ExpressionError, match="too many steps"):
        Scene(Episode(big, big)).holds(compile_condition(condition))


def test_changes_are_seen_between_states_that_share_nothing():
    loaded = State.from_json(json.loads(json.dumps(FINAL.to_json())))
    assert one("changed() == ['orders/O-1', 'refunds/R-1']", Episode(START, loaded)).passed
