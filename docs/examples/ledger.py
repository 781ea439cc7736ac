"""The journal of one action, with a person's approval, as docs/ledger.md tells it: `ledger.py [FILE]`."""

import sys
import tempfile
from pathlib import Path

from envace_sdk.errors import AlreadyCommittedError
from envace_sdk.ledger import Ledger


def refund(order: str, amount: float) -> dict[str, object]:
    """The real thing."""
    return {"order": order, "refunded": amount}


def main(file: Path) -> None:
    """Rehearsed, decided, approved, committed, observed: and not a second time."""
    with Ledger.open(file) as ledger:
        run, action, arguments = "thread-7", "call-1", {"order": "A", "amount": 25.0}
        ledger.append(run, "rehearsed", {"layer": "dynamics", "outcome": "success"}, payload=arguments, action=action)
        ledger.append(run, "decision", {"verdict": "ask", "rule": "refunds over 20"}, action=action)
        asked = ledger.approvals.request(
            run,
            "refund",
            arguments,
            action=action,
            risk="high",
            reasons=["refunds over 20 need a person"],
            change=[
                {"kind": "updated", "collection": "orders", "key": "A", "fields": {"paid": {"before": 25, "after": 0}}}
            ],
        )

        ledger.approvals.decide(asked.id, "approve", by="ann")  # or a person in the terminal

        ledger.commit(run, action, approval=asked.id, digest=asked.digest)
        result = refund(**arguments)
        ledger.observed(run, action, payload=result)

        try:
            ledger.commit(run, action, approval=asked.id, digest=asked.digest)
        except AlreadyCommittedError:
            seen = ledger.entries(action=action, kind="observed")
            print("not again:", *(ledger.payload(entry) for entry in seen))

        waiting = ledger.approvals.request(run, "refund", {"order": "B", "amount": 90.0}, risk="high")
        print("waits:", waiting.id)
        print("verified:", ledger.verify().ok)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder) / "ledger.db")
