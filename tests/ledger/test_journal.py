import pytest

from envace_sdk.errors import AlreadyCommittedError, InDoubtError, LedgerError


def test_an_action_goes_from_rehearsed_over_decided_and_in_doubt_to_observed(ledger):
    assert ledger.status("a") == "not_started"
    ledger.append("r", "rehearsed", {}, action="a")
    assert ledger.status("a") == "rehearsed"
    ledger.append("r", "decision", {"verdict": "commit"}, action="a")
    assert ledger.status("a") == "decided"
    ledger.commit("r", "a")
    assert ledger.status("a") == "in_doubt"
    ledger.observed("r", "a", payload={"ok": True})
    assert ledger.status("a") == "observed"
    assert ledger.verify().ok


def test_asking_for_approval_is_a_decision(small):
    small.approvals.request("r", "refund", {}, action="a")
    assert small.status("a") == "decided"


def test_an_action_is_committed_once_in_the_whole_database(ledger):
    ledger.commit("r", "a")
    for run in ("r", "other"):
        with pytest.raises(InDoubtError, match="may have happened") as caught:
            ledger.commit(run, "a")
        assert caught.value.action == "a"
    ledger.observed("r", "a", payload=1)
    with pytest.raises(AlreadyCommittedError):
        ledger.commit("other", "a")
    assert ledger.payload(ledger.find(None, "a", "observed")) == 1
    assert [run.name for run in ledger.runs()] == ["r"]


def test_an_outcome_is_observed_once_and_only_after_a_commit(ledger):
    with pytest.raises(LedgerError, match="never committed"):
        ledger.observed("r", "a")
    ledger.commit("r", "a")
    ledger.observed("r", "a")
    with pytest.raises(LedgerError, match="already"):
        ledger.observed("r", "a")


def test_what_happened_without_a_commit_is_observed_as_such_and_not_carried_out_again(small):
    small.observed("r", "a", outside=True)
    assert small.status("a") == "observed"
    with pytest.raises(AlreadyCommittedError):
        small.commit("r", "a")


def test_a_second_ledger_on_the_same_database_sees_the_commit(ledger_url, open_ledger):
    first, second = open_ledger(ledger_url), open_ledger(ledger_url)
    first.commit("r", "a")
    with pytest.raises(InDoubtError):
        second.commit("r", "a")
