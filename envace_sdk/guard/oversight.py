"""What people do with a guard besides putting actions before it: see, answer, settle, stop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from envace_sdk.json import Json
from envace_sdk.ledger import Approval, Ledger
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolResult

from .action import Action
from .acts import acts_of
from .claims import UnsupportedClaim, audit_claims
from .executing import Executing
from .following import followed
from .journal import Journal, Switch
from .known import KnownWorld
from .record import TrackRecord
from .results import as_result
from .verdict import Score
from .waiting import Waiting

__all__ = ["Oversight"]


class Oversight:
    """The part of a guard that judges nothing."""

    environment: Environment
    ledger: Ledger
    journal: Journal
    world: KnownWorld
    """The world as the guard knows it from observations."""
    _executing: Executing
    _waiting: Waiting

    def observe(self, action: Action, result: ToolResult) -> Score | None:
        """Take note of an action that was executed without the guard: its world follows, a prediction is scored.

        Raises:
            LedgerError: its outcome is in the ledger already.
            StoreError: the ledger cannot be written.
        """
        return self._executing.observe(action, as_result(result))

    def catch_up(self, *, since: datetime | None = None) -> int:
        """Let the known world follow what the ledger says was observed, by other processes or before a restart.

        Args:
            since: leave out what was observed before; say when the start state was true.

        Returns:
            How many observations were followed.

        Raises:
            TamperedError: an entry is not as it was written.
            StoreError: the ledger cannot be read.
        """
        count = followed(self.journal, self.world, since)
        self._waiting.review()
        return count

    def settle(self, action: Action, *, by: str, happened: bool, result: ToolResult | None = None) -> None:
        """Say what came of an action that is in doubt, after a person has looked at the real system.

        Where it happened, `result` (by default, that somebody said so) is what it is answered with from now on, as a
        claim. Where it did not, it may be judged and executed again.

        Raises:
            GuardError: it is not in doubt, or nobody says so.
            StoreError: the ledger cannot be written.
        """
        self._executing.settle(action, by, happened, result)

    def audit_claims(self, final_text: str, run: str = "main") -> list[UnsupportedClaim]:
        """The sentences of a final answer that assert an effect which nothing observed in the run shows.

        Each is also written into the run, as claimed.

        Args:
            final_text: what the agent says at the end.
            run: its thread.

        Raises:
            TamperedError: an entry is not as it was written.
            StoreError: the ledger cannot be read or written.
        """
        found = audit_claims(final_text, acts_of(self.ledger, run, self.environment))
        body = {"unsupported": len(found)}
        payload = {"text": final_text, "unsupported": [claim.as_json() for claim in found]}
        self.ledger.append(run, "claimed", body, payload=payload)
        return found

    # People

    def approve(self, approval: str, *, by: str, comment: str = "") -> Approval:
        """Allow the one action that an approval is bound to, once. Raises: ApprovalError."""
        return self.ledger.approvals.decide(approval, "approve", by=by, comment=comment)

    def reject(self, approval: str, *, by: str, comment: str = "") -> Approval:
        """Forbid it. Raises: ApprovalError."""
        return self.ledger.approvals.decide(approval, "reject", by=by, comment=comment)

    def edit(self, approval: str, arguments: Mapping[str, Json], *, by: str, comment: str = "") -> Approval:
        """Want other arguments instead: another action, which is judged and approved on its own.

        Raises:
            ApprovalError: as the ledger has it.
        """
        return self.ledger.approvals.edit(approval, arguments, by=by, comment=comment)

    # The kill switch

    def stop(self, *, by: str, reason: str, mode: Literal["ask", "block"] = "block") -> None:
        """From now on everything blocks, or asks: in every process that uses the ledger, shadow mode or not.

        Raises:
            StoreError: the ledger cannot be written.
        """
        self.journal.throw(mode, by, reason)

    def go_on(self, *, by: str, reason: str = "") -> None:
        """Take the stop back. Raises: StoreError."""
        self.journal.throw("off", by, reason)

    @property
    def switch(self) -> Switch:
        """The kill switch as it is. Raises: StoreError, TamperedError."""
        return self.journal.switch()

    def record(self, tool: str, server: str = "") -> TrackRecord:
        """The track record of the predictions for a tool. Raises: StoreError, TamperedError."""
        return self.journal.record(f"{server}/{tool}" if server else tool)
