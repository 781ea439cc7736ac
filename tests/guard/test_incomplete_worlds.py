"""What a guard says of things that it has never observed."""

import pytest
from guarded_desk import READS, action, desk, environment, ledger, policy

from envace_sdk.guard import Guard
from envace_sdk.tools.model import ToolResult
from envace_sdk.world.dynamics import Dynamics

UNSEEN = {"order_id": "O-99"}
HOPELESS = {"name": "hopeless", "when": "prediction.status == 'not_found'", "then": "revise"}
MISSING = ToolResult.text("Order 'O-99' not found", is_error=True)


def test_what_was_never_observed_is_not_said_to_be_missing(tmp_path):
    shop = desk(tmp_path, HOPELESS, READS)
    verdict = shop.decide(action("get_order", UNSEEN))
    assert verdict.kind == "commit"
    assert (verdict.prediction.status, verdict.prediction.confidence) == ("unknown", 0.0)
    assert "orders/O-99" in str(verdict.prediction)


def test_what_is_there_is_predicted_as_ever(tmp_path):
    prediction = desk(tmp_path).decide(action("get_order", {"order_id": "O-1"})).prediction
    assert (prediction.status, prediction.confidence, prediction.unseen) == ("success", 1.0, ())


def test_in_a_world_that_is_complete_what_was_never_observed_is_missing(tmp_path):
    shop = desk(tmp_path, HOPELESS, READS, complete=True)
    verdict = shop.decide(action("get_order", UNSEEN))
    assert (verdict.kind, verdict.prediction.status, verdict.prediction.confidence) == ("revise", "not_found", 1.0)


def test_what_was_observed_to_be_missing_is_missing_for_every_tool(tmp_path):
    shop = desk(tmp_path, HOPELESS, READS)
    shop.answer = MISSING
    shop.run(action("get_order", UNSEEN))
    verdict = shop.decide(action("refund_order", {"order_id": "O-99", "amount": 1}))
    assert (verdict.kind, verdict.prediction.status, verdict.prediction.confidence) == ("revise", "not_found", 1.0)
    assert shop.decide(action("get_order", {"order_id": "O-98"})).prediction.status == "unknown"


def test_what_was_observed_after_all_is_there(tmp_path):
    shop = desk(tmp_path)
    shop.answer = MISSING
    shop.run(action("get_order", UNSEEN))
    shop.answer = ToolResult.text('{"order_id": "O-99", "total": 5, "refunded": 0, "note": ""}')
    shop.run(action("get_order", UNSEEN, call_id="2"))
    assert shop.decide(action("get_order", UNSEEN, call_id="3")).prediction.status == "success"


def test_what_was_observed_to_be_deleted_is_missing(tmp_path):
    shop = desk(tmp_path, {"name": "all", "then": "commit"}, {**READS, "name": "reads too"}, shadow=True)
    opened = shop.run(action("open_case", {"order_id": "O-1"}))
    case = {"case_id": opened.result.value()["case_id"]}
    shop.run(action("close_case", case))
    prediction = shop.decide(action("close_case", case, call_id="2")).prediction
    assert (prediction.status, prediction.confidence) == ("not_found", 1.0)


def test_an_unknown_end_is_neither_right_nor_wrong(tmp_path):
    shop = desk(tmp_path)
    shop.answer = MISSING
    assert shop.run(action("get_order", UNSEEN)).score is None
    assert shop.guard.record("get_order").calls == 0
    assert shop.run(action("get_order", UNSEEN, call_id="2")).score.right


def test_what_is_missing_is_known_again_after_a_restart(tmp_path):
    before = desk(tmp_path)
    before.answer = MISSING
    before.run(action("get_order", UNSEEN))
    after = desk(tmp_path)
    assert after.decide(action("get_order", UNSEEN, call_id="2")).prediction.status == "unknown"
    after.guard.catch_up()
    assert after.decide(action("get_order", UNSEEN, call_id="3")).prediction.status == "not_found"


RULES = """
collections:
  orders: {key: order_id}
  customers: {key: customer_id}
tools:
  get_order:
    effect: read
    collection: orders
    key: args.order_id
    let: {customer: "get('customers', entity.customer_id)"}
    requires:
      - {that: customer != null, error: "No customer {entity.customer_id}", status: not_found}
      - {that: "'total' in entity", error: "Order {args.order_id} has no total", status: not_found}
"""


@pytest.mark.parametrize(
    ("order", "status"),
    [
        ({"order_id": "O-1", "customer_id": "M-1", "total": 3}, "unknown"),
        ({"order_id": "O-1", "customer_id": "M-2"}, "not_found"),
    ],
)
def test_a_rule_that_says_not_found_is_doubted_where_it_looked_for_what_was_never_observed(tmp_path, order, status):
    rules = Dynamics.parse(RULES)
    known = environment()
    start = known.start.put("orders", "O-1", order).put("customers", "M-2", {"customer_id": "M-2"})
    shop = type(known)(known.toolset, dynamics=rules, start=start)
    guard = Guard(shop, ledger(tmp_path), policy(READS))
    assert guard.decide_sync(action("get_order", {"order_id": "O-1"})).prediction.status == status
