import asyncio
import inspect
import threading

import pytest
from guarded_desk import READS, desk

from envace_sdk.errors import ApprovalRequired, EvidenceError, InDoubtError, Refused, ToolCallError
from envace_sdk.guard import Pass, calling, guard

ALLOW = {
    "tools": "refund_order",
    "arguments": {
        "order_id": {"type": "string", "maxLength": 9},
        "amount": {"type": "number", "minimum": 0, "maximum": 25},
    },
    "then": "commit",
}


@pytest.fixture
def calls():
    return []


def guarded(shop, calls, **options):
    @guard(by=shop.guard, **options)
    def refund_order(order_id: str, amount: float = 20) -> dict:
        """Refund an order."""
        calls.append((order_id, amount))
        return {"order_id": order_id, "total": 50, "refunded": amount, "note": ""}

    return refund_order


def test_a_guarded_function_is_called_and_returns_as_before(tmp_path, calls):
    refund_order = guarded(desk(tmp_path, ALLOW), calls)
    assert refund_order("O-1", amount=5)["refunded"] == 5
    assert refund_order.__doc__ == "Refund an order."
    assert list(inspect.signature(refund_order).parameters) == ["order_id", "amount"]


def test_arguments_are_judged_under_their_names_however_they_are_given(tmp_path, calls):
    shop = desk(tmp_path, ALLOW)
    guarded(shop, calls)("O-1", 5)
    (entry,) = shop.ledger.entries("main", kind="commit")
    assert shop.ledger.payload(entry) == {"arguments": {"order_id": "O-1", "amount": 5}}


def test_a_refused_function_is_not_called(tmp_path, calls):
    refund_order = guarded(desk(tmp_path, {"then": "block", "reason": "never"}), calls)
    with pytest.raises(Refused, match="never"):
        refund_order("O-1")
    assert calls == []


def test_a_function_that_waited_for_approval_runs_when_it_is_called_again(tmp_path, calls):
    shop = desk(tmp_path)
    refund_order = guarded(shop, calls)
    with pytest.raises(ApprovalRequired) as pause:
        refund_order("O-1", 5)
    shop.guard.approve(pause.value.approval, by="ann")
    refund_order("O-1", 5)
    with pytest.raises(ApprovalRequired):
        refund_order("O-1", 5)
    assert calls == [("O-1", 5)]


def test_an_approval_is_found_by_the_next_process_too(tmp_path, calls):
    shop = desk(tmp_path)
    with pytest.raises(ApprovalRequired) as pause:
        guarded(shop, calls)("O-1", 5)
    shop.guard.approve(pause.value.approval, by="ann")
    guarded(desk(tmp_path), calls)("O-1", 5)
    assert calls == [("O-1", 5)]


def test_each_call_of_a_function_is_an_action_of_its_own(tmp_path, calls):
    shop = desk(tmp_path, READS)

    @guard(by=shop.guard)
    def get_order(order_id):
        calls.append(order_id)
        return {"order_id": order_id}

    for _ in range(3):
        get_order("O-1")
    assert len(calls) == 3


def test_equal_calls_at_the_same_time_are_all_executed(tmp_path):
    shop = desk(tmp_path, READS)
    gate = threading.Barrier(3, timeout=30)

    @guard(by=shop.guard)
    def get_order(order_id):
        gate.wait()
        return order_id

    found = []
    threads = [threading.Thread(target=lambda: found.append(get_order("O-1"))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["O-1"] * 3


def test_a_coroutine_function_stays_one(tmp_path, calls):
    shop = desk(tmp_path, READS)

    async def get_order(order_id):
        calls.append(order_id)
        return {"order_id": order_id}

    wrapped = guard(get_order, by=shop.guard)
    assert inspect.iscoroutinefunction(wrapped)
    assert asyncio.run(wrapped("O-1")) == {"order_id": "O-1"}


def test_within_a_pass_a_call_that_was_executed_is_answered_from_the_ledger(tmp_path, calls):
    refund_order = guarded(desk(tmp_path, ALLOW), calls)
    for _ in range(2):
        with calling(Pass("thread", "turn")):
            assert refund_order("O-1", 5)["refunded"] == 5
            assert refund_order("O-1", 6)["refunded"] == 6
    assert calls == [("O-1", 5), ("O-1", 6)]


def test_within_a_pass_an_error_that_was_raised_is_an_error_again(tmp_path):
    shop = desk(tmp_path, READS)

    @guard(by=shop.guard)
    def get_order(order_id):
        raise LookupError("no such order")

    with calling(Pass("t", "1")), pytest.raises(LookupError):
        get_order("O-1")
    with calling(Pass("t", "1")), pytest.raises(ToolCallError, match="LookupError: no such order"):
        get_order("O-1")


def test_a_call_whose_answer_was_lost_is_in_doubt(tmp_path, calls):
    shop = desk(tmp_path, READS)

    @guard(by=shop.guard)
    def get_order(order_id):
        calls.append(order_id)
        raise TimeoutError

    with pytest.raises(TimeoutError):
        get_order("O-1")
    with pytest.raises(InDoubtError):
        get_order("O-1")
    assert calls == ["O-1"]


def test_hidden_parameters_are_neither_judged_nor_shown(tmp_path):
    shop = desk(tmp_path, READS)
    seen = []

    @guard(by=shop.guard, tool="get_order", hidden=["client", "trace"])
    def look(client, order_id, **more):
        seen.append((client, order_id, more))
        return "x"

    client = object()
    look(client, order_id="O-1", trace=object())
    assert seen[0][:2] == (client, "O-1")
    with pytest.raises(EvidenceError):
        look(client, order_id=object())
    assert len(seen) == 1
