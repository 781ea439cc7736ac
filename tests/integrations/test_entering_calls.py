"""What the adapters for agent frameworks have in common; it needs none of them."""

import threading
from contextlib import suppress

import pytest
from envace_sdk.integrations.entries import Entries
from envace_sdk.integrations.telling import APPROVAL, approval_in, doubtful, refused, stopped, waiting
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import ApprovalRequired, InDoubtError, NotExecutedError, Refused
from envace_sdk.guard import Action, Prediction, Verdict

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
CALL = Action("refund", {"order": "O-1"}, thread="chat", task="turn")
STAYS = [
    ApprovalRequired("ap_1", {}, "wait"),
    Refused("no"),
    InDoubtError(CALL.identity, "unknown"),
    NotExecutedError("never ran"),
    TimeoutError(),
    ConnectionResetError(),
    KeyboardInterrupt(),
]


def entered(entries, error=None, **options):
    """The number of a call that is entered, and ends like this."""
    with suppress(BaseException), entries.entry(CALL, **options) as action:
        if error is not None:
            raise error
    return action.nth


def test_a_call_that_was_executed_is_followed_by_another_action():
    entries = Entries()
    assert [entered(entries), entered(entries, RuntimeError("tool")), entered(entries)] == [0, 1, 2]


@pytest.mark.parametrize("error", STAYS, ids=lambda error: type(error).__name__)
def test_a_call_whose_outcome_is_not_there_is_found_again(error):
    entries = Entries()
    assert [entered(entries, error), entered(entries, error), entered(entries)] == [0, 0, 0]


def test_calls_that_are_counted_elsewhere_are_not_remembered():
    entries = Entries()
    assert [entered(entries, remember=False) for _ in range(3)] == [0, 0, 0]


def test_equal_calls_at_the_same_time_are_told_apart():
    entries, numbers, ready = Entries(), [], threading.Barrier(8)

    def one():
        with entries.entry(CALL) as action:
            numbers.append(action.nth)
            ready.wait(timeout=10)

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(numbers) == list(range(8))


def test_the_number_is_part_of_the_identity_and_nothing_else_changes():
    entries = Entries()
    with entries.entry(CALL) as first, entries.entry(CALL) as second:
        assert first is CALL
        assert second.digest == CALL.digest
        assert second.identity != CALL.identity


@given(st.dictionaries(st.text(), JSON))
def test_a_refusal_tells_what_a_person_wants_instead_whatever_it_is(arguments):
    text = refused(Refused("not executed", kind="revise", arguments=arguments))
    assert text.startswith("not executed")
    assert "A person wants these arguments instead: {" in text


@given(JSON)
def test_only_a_request_of_ours_is_taken_for_one(value):
    assert approval_in(value) is None
    assert approval_in({APPROVAL: value}) is None or isinstance(value, dict)
    assert approval_in({APPROVAL: {"approval": "ap_1", "more": value}}) is not None


def test_a_prediction_is_only_ever_told_as_one():
    verdict = Verdict(
        "revise", ("it would fail",), Prediction(status="conflict", kind="model", layer="dynamics", confidence=0.9)
    )
    text = stopped(CALL, verdict)
    assert "it would fail" in text
    assert "Nothing was executed, and nothing has changed." in text


def test_a_call_that_waits_is_told_as_not_executed():
    pause = ApprovalRequired("ap_1", {"tool": "refund"}, "wait")
    assert waiting(pause) == stopped(CALL, Verdict("ask", approval="ap_1"))
    assert "was not executed" in waiting(pause)


def test_a_call_in_doubt_is_told_as_neither_done_nor_undone():
    assert "not known whether it was executed" in doubtful("refund", TimeoutError())
