"""64 threads and 64 tasks at once, on one ledger."""

import asyncio
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from envace_sdk.errors import AlreadyCommittedError, ApprovalError, InDoubtError, LedgerError

MANY = 64
RUNS = 4


def test_threads_and_tasks_append_approve_and_commit_at_once(ledger):
    """Two workers share each action: one of them carries it out, and each approval is used once."""
    start = threading.Barrier(MANY + 1)
    carried: Counter[int] = Counter()

    def work(worker):
        action = worker // 2
        run = f"run-{action % RUNS}"
        ledger.append(run, "note", {"worker": worker}, payload={"of": worker})
        asked = ledger.approvals.request(run, "refund", {"order": action}, action=f"a{action}", expires=None)
        with suppress(ApprovalError):  # the other worker has used it up
            ledger.approvals.decide(asked.id, "approve", by=f"person-{worker}")
        try:
            ledger.commit(run, f"a{action}", approval=asked.id, digest=asked.digest)
        except (InDoubtError, AlreadyCommittedError):
            return
        carried[action] += 1
        ledger.observed(run, f"a{action}", payload={"by": worker})

    def in_thread(worker):
        start.wait(60)
        work(worker)

    async def tasks():
        # As many threads as tasks, so that all are under way at once.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MANY))
        await asyncio.to_thread(start.wait, 60)
        await asyncio.gather(*(asyncio.to_thread(work, MANY + n) for n in range(MANY)))

    with ThreadPoolExecutor(MANY) as pool:
        threads = [pool.submit(in_thread, n) for n in range(MANY)]
        asyncio.run(tasks())
        for thread in threads:
            thread.result()

    assert carried == Counter(dict.fromkeys(range(MANY), 1))
    verification = ledger.verify()
    assert verification.ok, verification.findings
    used = Counter(entry.approval for entry in ledger.entries(kind="approval_used"))
    states = {approval.id: approval.state for approval in ledger.approvals.select()}
    # Whoever asks once the other has used the approval up, gets a new one, and no use for it.
    assert used == Counter({approval: 1 for approval, state in states.items() if state == "used"})
    assert len(used) == MANY
    assert {*states.values()} <= {"used", "approved"}
    assert sum(1 for _ in ledger.entries(kind="note")) == 2 * MANY


def test_one_approval_wanted_by_all_is_used_by_one(ledger):
    asked = ledger.approvals.request("r", "refund", {})
    ledger.approvals.decide(asked.id, "approve", by="ann")
    start = threading.Barrier(16)

    def use(n):
        start.wait(60)
        try:
            ledger.commit(f"run-{n % 3}", f"a{n}", approval=asked.id, digest=asked.digest)
        except ApprovalError as error:
            return error.reason
        return "used it"

    with ThreadPoolExecutor(16) as pool:
        assert Counter(pool.map(use, range(16))) == {"used it": 1, "used": 15}
    assert ledger.verify().ok


def test_one_action_wanted_by_all_through_ledgers_of_their_own_is_committed_by_one(ledger_url, open_ledger):
    ledgers = [open_ledger(ledger_url) for _ in range(4)]
    start = threading.Barrier(12)

    def commit(n):
        start.wait(60)
        try:
            return ledgers[n % 4].commit(f"run-{n % 3}", "a").run
        except InDoubtError:
            return None

    with ThreadPoolExecutor(12) as pool:
        done = list(pool.map(commit, range(12)))
    assert len([run for run in done if run]) == 1
    assert ledgers[0].verify().ok
    with pytest.raises(LedgerError):
        ledgers[1].commit("r", "a")
