"""A clock that is set back makes nothing valid again."""

from datetime import timedelta

import pytest

from envace_sdk.errors import ApprovalError
from envace_sdk.guard.journal import Journal

HOUR = timedelta(hours=1)


def approved(ledger, **options):
    asked = ledger.approvals.request("r", "refund", {"amount": 5}, action="a1", expires=HOUR, **options)
    return ledger.approvals.decide(asked.id, "approve", by="ann")


def test_the_switch_that_was_thrown_last_counts_whatever_the_clock_said(ledger, clock):
    journal = Journal(ledger)
    clock.advance(hours=3)
    journal.throw("off", "ann", "over")
    clock.advance(hours=-2)
    journal.throw("block", "ann", "incident 7")
    assert journal.switch().mode == "block"


def test_an_approval_whose_end_the_run_has_seen_stays_expired(ledger, clock):
    asked = approved(ledger)
    clock.advance(hours=2)
    ledger.append("r", "note", {"seen": True})
    clock.advance(hours=-1.5)
    assert ledger.approvals.get(asked.id).state == "expired"
    with pytest.raises(ApprovalError, match="has expired"):
        ledger.commit("r", "a1", approval=asked.id, digest=asked.digest)


def test_an_approval_that_was_asked_for_in_the_future_is_none(ledger, clock):
    asked = approved(ledger)
    clock.advance(minutes=-4)
    assert ledger.approvals.get(asked.id).state == "approved", "clocks of machines differ a little"
    clock.advance(minutes=-2)
    assert ledger.approvals.get(asked.id).state == "expired"


def test_what_was_seen_before_it_was_asked_for_ends_no_approval(ledger, clock):
    clock.advance(days=400)
    ledger.append("r", "note", {"glitch": True})
    clock.advance(days=-400)
    assert approved(ledger).state == "approved"


def test_the_approval_that_was_asked_for_last_is_the_one_of_an_action(ledger, clock):
    first = ledger.approvals.request("r", "refund", {"amount": 5}, action="a1")
    ledger.approvals.decide(first.id, "reject", by="ann")
    clock.advance(hours=-3)
    second = ledger.approvals.request("r", "refund", {"amount": 5}, action="a1")
    assert ledger.approvals.of_action("a1").id == second.id
