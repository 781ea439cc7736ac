"""People are told which requests for approval no longer hold."""

import pytest
from guarded_desk import action, desk

from envace_sdk.errors import ApprovalError, ApprovalRequired
from envace_sdk.guard import Pass
from envace_sdk.tools.model import ToolResult


def _asked(shop, what):
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(what)
    return pause.value.approval


def test_of_two_equal_requests_one_goes_stale_as_the_other_is_executed(tmp_path):
    shop = desk(tmp_path)
    current = Pass("main", "1")
    twins = [current.action("refund_order", {"order_id": "O-1", "amount": 20}) for _ in range(2)]
    asked = [_asked(shop, twin) for twin in twins]
    shop.guard.approve(asked[0], by="ann")
    shop.run(twins[0])
    assert shop.ledger.approvals.pending() == []
    stale = shop.ledger.approvals.get(asked[1])
    assert (stale.state, stale.stale_because) == ("stale", "the world has moved since it was asked for")
    with pytest.raises(ApprovalError, match="let the agent make the call again"):
        shop.guard.approve(asked[1], by="ann")
    again = _asked(shop, twins[1])
    assert again != asked[1]
    assert [one.id for one in shop.ledger.approvals.pending()] == [again]
    assert len(shop.executed) == 1


def test_a_request_that_was_edited_goes_stale_with_what_it_was_edited_from(tmp_path):
    shop = desk(tmp_path)
    edited = shop.guard.edit(_asked(shop, action()), {"order_id": "O-1", "amount": 5}, by="ann")
    note = action("set_note", {"order_id": "O-1", "note": "called"})
    shop.guard.approve(_asked(shop, note), by="ann")
    shop.run(note)
    assert shop.ledger.approvals.get(edited.id).state == "stale"


def test_a_request_about_what_has_not_changed_stays_open(tmp_path):
    shop = desk(tmp_path)
    waiting = _asked(shop, action())
    other = action("set_note", {"order_id": "O-2", "note": "called"})
    shop.guard.approve(_asked(shop, other), by="ann")
    shop.run(other)
    assert [one.id for one in shop.ledger.approvals.pending()] == [waiting]


def test_what_other_processes_observed_makes_open_requests_stale(tmp_path):
    shop = desk(tmp_path)
    waiting = _asked(shop, action())
    other = desk(tmp_path)
    other.guard.observe(action("set_note", {"order_id": "O-1", "note": "called"}), ToolResult.text("done"))
    assert shop.ledger.approvals.get(waiting).state == "pending"
    shop.guard.catch_up()
    assert shop.ledger.approvals.get(waiting).state == "stale"
