from datetime import UTC, datetime, timedelta

import pytest
from guarded_desk import Desk, action, desk, environment, ledger, policy

from envace_sdk.errors import ApprovalError, ApprovalRequired, NotExecutedError, Refused
from envace_sdk.guard import Guard

PEOPLE = {"ann": ["finance"], "bob": ["support"], "cleo": ["finance"]}


def shop_of(folder, rule, *, knows=PEOPLE, **options):
    """The ledger of the guard's own process knows the approvers `knows`."""
    chosen = policy({"name": "r", "then": "ask", "approval": rule}, approvers=PEOPLE)
    return Desk(Guard(environment(), ledger(folder, approvers=knows), chosen, **options))


def ask(shop, one=None, **options):
    with pytest.raises(ApprovalRequired) as pause:
        shop.run(one or action(), **options)
    return pause.value


def test_an_approver_needs_one_of_the_roles(tmp_path):
    shop = shop_of(tmp_path, {"roles": "finance"})
    pause = ask(shop)
    assert pause.payload["roles"] == ["finance"]
    with pytest.raises(ApprovalError, match="bob does not have"):
        shop.guard.approve(pause.approval, by="bob")
    with pytest.raises(ApprovalError, match="mallory is not"):
        shop.guard.approve(pause.approval, by="mallory")
    shop.guard.approve(pause.approval, by="ann")
    assert not shop.run(action()).result.is_error


def test_several_people_must_approve_where_the_rule_says_so(tmp_path):
    shop = shop_of(tmp_path, {"roles": "finance", "count": 2})
    pause = ask(shop)
    shop.guard.approve(pause.approval, by="ann")
    with pytest.raises(ApprovalError, match="before"):
        shop.guard.approve(pause.approval, by="ann")
    ask(shop)
    shop.guard.approve(pause.approval, by="cleo")
    assert not shop.run(action()).result.is_error


def test_under_four_eyes_nobody_approves_what_was_asked_for_on_their_behalf(tmp_path):
    shop = shop_of(tmp_path, {"four_eyes": True}, asked_by="ann")
    pause = ask(shop)
    with pytest.raises(ApprovalError, match="another person"):
        shop.guard.approve(pause.approval, by="ann")
    shop.guard.approve(pause.approval, by="bob")
    assert not shop.run(action()).result.is_error


def test_whom_the_agent_acts_for_may_differ_from_action_to_action(tmp_path):
    shop = shop_of(tmp_path, {"four_eyes": True})
    pause = ask(shop, context={"asked_by": "cleo"})
    with pytest.raises(ApprovalError, match="another person"):
        shop.guard.approve(pause.approval, by="cleo")


def test_an_answer_taken_by_a_ledger_that_knew_no_approvers_does_not_count(tmp_path):
    shop = shop_of(tmp_path, {}, knows=None)
    pause = ask(shop)
    shop.guard.approve(pause.approval, by="mallory")
    with pytest.raises(Refused, match="approved by mallory, who is not an approver"):
        shop.run(action())
    assert shop.executed == []


def test_an_approval_that_has_expired_is_asked_for_again(tmp_path):
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    book = ledger(tmp_path, clock=lambda: now[0])
    shop = Desk(Guard(environment(), book, policy({"then": "ask", "approval": {"expires": 60}})))
    pause = ask(shop)
    shop.guard.approve(pause.approval, by="ann")
    now[0] += timedelta(seconds=61)
    assert ask(shop).approval != pause.approval
    assert shop.executed == []


def test_an_approval_that_an_attempt_used_up_without_executing_serves_the_next_one_until_it_expires(tmp_path):
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    book = ledger(tmp_path, clock=lambda: now[0])
    shop = Desk(Guard(environment(), book, policy({"then": "ask", "approval": {"expires": 60}})))
    shop.guard.approve(ask(shop).approval, by="ann")
    shop.fails = NotExecutedError("the server cannot be reached")
    for _ in range(2):
        with pytest.raises(NotExecutedError):
            shop.run(action())
    shop.fails = None
    now[0] += timedelta(seconds=61)
    ask(shop)
    assert len(shop.executed) == 2


def test_a_name_in_another_spelling_is_the_same_person(tmp_path):
    shop = desk(tmp_path, {"then": "ask", "approval": {"count": 2, "four_eyes": True}}, asked_by="Bob")
    pause = ask(shop)
    with pytest.raises(ApprovalError, match="another person"):
        shop.guard.approve(pause.approval, by=" bob")
    shop.guard.approve(pause.approval, by="ann")
    with pytest.raises(ApprovalError, match="before"):
        shop.guard.approve(pause.approval, by="\uff21nn ")
    ask(shop)


def test_an_approval_of_one_thread_serves_no_other(tmp_path):
    shop = desk(tmp_path)
    shop.guard.approve(ask(shop, action(thread="a")).approval, by="ann")
    ask(shop, action(thread="b"))
    shop.run(action(thread="a"))
    assert len(shop.executed) == 1


def test_an_edit_of_one_thread_serves_no_other(tmp_path):
    shop = desk(tmp_path)
    less = {"order_id": "O-1", "amount": 5}
    edited = shop.guard.edit(ask(shop, action(thread="a")).approval, less, by="ann")
    shop.guard.approve(edited.id, by="bob")
    assert ask(shop, action(arguments=less, thread="b")).approval != edited.id
