"""The append-only, hash-chained audit trail of evidence and decisions."""

from .action import action_digest
from .approval import Answer, Approval, Decision
from .approvals import Approvals
from .entry import Entry, Kind
from .erasing import Erasure
from .ledger import Ledger, Status
from .log import Log, Run
from .verify import Finding, Verification

__all__ = [
    "Answer",
    "Approval",
    "Approvals",
    "Decision",
    "Entry",
    "Erasure",
    "Finding",
    "Kind",
    "Ledger",
    "Log",
    "Run",
    "Status",
    "Verification",
    "action_digest",
]
