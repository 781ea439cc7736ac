"""A process is killed at any moment, again and again: nothing is done twice, and the ledger says what is in doubt."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import journal_until_killed
import pytest

from envace_sdk.errors import InDoubtError


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("seed", "kills"),
    [pytest.param(1, 40, marks=pytest.mark.slow), pytest.param(2, 200, marks=pytest.mark.nightly)],
)
def test_after_any_kill_each_action_is_observed_not_started_or_in_doubt(ledger_url, open_ledger, tmp_path, seed, kills):
    program = Path(journal_until_killed.__file__)
    open_ledger(ledger_url)
    command = [sys.executable, str(program), ledger_url, str(tmp_path), str(seed), str(kills)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=850, check=False)
    assert run.returncode == 0, run.stderr

    ledger = open_ledger(ledger_url)
    done = Counter(map(int, (tmp_path / "done").read_text().split()))
    states = Counter()
    for number in range(journal_until_killed.actions(kills)):
        status = ledger.status(f"a{number}")
        states[status] += 1
        times = done[number]
        if status == "observed":
            assert times == 1
            assert ledger.payload(ledger.find(None, f"a{number}", "observed")) == {"done": number}
        elif status == "in_doubt":
            assert times <= 1
            with pytest.raises(InDoubtError):
                ledger.commit("after", f"a{number}")
        else:
            assert times == 0
    assert max(done.values()) == 1
    assert states["observed"] > kills / 4, states
    assert 0 < states["in_doubt"] <= kills, states
    verification = ledger.verify()
    assert verification.ok, verification.findings
    used = Counter(entry.approval for entry in ledger.entries(kind="approval_used"))
    assert set(used.values()) == {1}


STEPS = ["rehearsed", "approval_requested", "approval_decided", "approval_used", "commit", "observed"]


@pytest.mark.parametrize("step", STEPS)
def test_what_a_transaction_that_is_cut_off_wrote_is_not_there(ledger, monkeypatch, step):
    """The write of each step fails after its statement and before its commit."""
    write = ledger.write

    class CutError(Exception):
        pass

    def failing(connection, run, kind, *arguments, **options):
        entry = write(connection, run, kind, *arguments, **options)
        if kind == step:
            raise CutError
        return entry

    def journal(number):
        action = f"a{number}"
        ledger.append("r", "rehearsed", {}, payload=1, action=action)
        asked = ledger.approvals.request("r", "act", {}, action=action)
        ledger.approvals.decide(asked.id, "approve", by="ann")
        ledger.commit("r", action, approval=asked.id, digest=asked.digest)
        ledger.observed("r", action)

    journal(0)
    monkeypatch.setattr(ledger, "write", failing)
    with pytest.raises(CutError):
        journal(1)
    monkeypatch.undo()
    before = {"rehearsed": "not_started", "approval_requested": "rehearsed", "observed": "in_doubt"}
    assert ledger.status("a1") == before.get(step, "decided")
    assert ledger.verify().ok
    journal(2)
    assert ledger.verify().ok
