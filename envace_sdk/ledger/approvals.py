"""Approvals: asked for by the guard, given by people, used up by a commit."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection

from envace_sdk.errors import ApprovalError, LedgerError
from envace_sdk.json import UNSET, Json

from . import answering, asking, chain
from .action import action_digest
from .approval import OPEN, REFUSED, Answer, Approval, State
from .entry import Entry

if TYPE_CHECKING:
    from .ledger import Ledger

__all__ = ["Approvals"]

_DAY: Final = timedelta(days=1)


class Approvals:
    """The approvals in a ledger.

    The ledger alone says whether an action is approved: what a framework hands back on resume only rings the bell.
    """

    def __init__(self, ledger: Ledger, approvers: Mapping[str, Iterable[str]] | None = None) -> None:
        self._ledger = ledger
        self._approvers = None if approvers is None else {name: frozenset(of) for name, of in approvers.items()}

    def request(
        self,
        run: str,
        tool: str,
        arguments: Mapping[str, Json],
        *,
        server: str = "",
        action: str | None = None,
        expires: datetime | timedelta | None = _DAY,
        world: str | None = None,
        risk: str | None = None,
        change: Json = None,
        reasons: Sequence[str] = (),
        details: Json = None,
        roles: Sequence[str] = (),
        needed: int = 1,
        four_eyes: bool = False,
        asked_by: str = "",
    ) -> Approval:
        """Ask people whether an action may be carried out. Asked again for the same action, the open request stands.

        Args:
            run: the run the action is part of.
            tool: its name.
            arguments: those that are approved; the approval is bound to `action_digest` of tool, arguments and server.
            server: whose tool it is.
            action: id of the action that waits; default: its digest.
            expires: when, or after how long; None: never.
            world: the version of the world that the request rests on; at another one the approval is stale.
            risk: a word for it.
            change: the predicted change, `[{"kind", "collection", "key", "fields": {path: {"before", "after"}}}]`.
            reasons: why a person is asked.
            details: further JSON for a person to see.
            roles: who approves must have one of them.
            needed: how many different people must approve.
            four_eyes: whether `asked_by` may not be among them.
            asked_by: on whose behalf the agent acts.

        Raises:
            LedgerError: fewer than one is needed.
            EvidenceError: the arguments are not JSON.
            StoreError: the database refuses.
        """
        if needed < 1:
            raise LedgerError(f"at least one person must approve, not {needed}")
        digest = action_digest(tool, arguments, server=server)
        action = action or digest
        asked = asking.Asked(
            digest=digest,
            tool=tool,
            server=server,
            expires=self._ledger.now() + expires if isinstance(expires, timedelta) else expires,
            world=world,
            risk=risk,
            roles=tuple(roles),
            needed=needed,
            barred=(asked_by,) if four_eyes else (),
            asked_by=asked_by,
        )
        shown = {"arguments": dict(arguments), "change": change, "reasons": list(reasons), "details": details}
        with self._ledger.database.writing() as connection:
            chain.lock(connection, run)
            for earlier in reversed(asking.of_action(self._ledger, connection, action)):
                if (earlier.run, earlier.digest) != (run, digest) or earlier.state not in OPEN:
                    continue
                if not earlier.stale(world):
                    return earlier
                answering.outdate(self._ledger, connection, earlier, "it was asked for again, in another world")
            return asking.ask(self._ledger, connection, run, action, asked, shown)

    def get(self, approval: str) -> Approval:
        """One approval. Raises: ApprovalError (unknown), TamperedError, StoreError."""
        with self._ledger.database.reading() as connection:
            return asking.get(self._ledger, connection, approval)

    def select(self, run: str | None = None, *, state: State | None = None) -> list[Approval]:
        """Approvals of a run or of all, in a state or in any, oldest first. Raises: TamperedError, StoreError."""
        with self._ledger.database.reading() as connection:
            found = asking.told_by(self._ledger, connection, chain.entries(connection, run, approval=chain.ANY))
        chosen = [approval for approval in found if state is None or approval.state == state]
        return sorted(chosen, key=lambda approval: approval.requested_at)

    def pending(self, run: str | None = None) -> list[Approval]:
        """Those that wait for an answer. Raises: TamperedError, StoreError."""
        return self.select(run, state="pending")

    def of_action(self, action: str) -> Approval | None:
        """The last approval that was asked for an action. Raises: TamperedError, StoreError."""
        with self._ledger.database.reading() as connection:
            found = asking.of_action(self._ledger, connection, action)
        return found[-1] if found else None

    def wait(self, approval: str, timeout: float | None = None) -> Approval:
        """Block until it is no longer pending, or the time, in seconds, is over. Raises: ApprovalError (unknown)."""
        end = None if timeout is None else time.monotonic() + timeout
        pause = 0.05
        while True:
            found = self.get(approval)
            left = pause if end is None else end - time.monotonic()
            if found.state != "pending" or left <= 0:
                return found
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, 2.0)

    def decide(self, approval: str, answer: Answer, *, by: str, comment: str = "", via: str = "") -> Approval:
        """Approve or reject. One rejection settles it; `needed` approvals by different people do, until it is used.

        Args:
            approval: its id.
            answer: "approve" or "reject"; for "edit" see `edit`.
            by: who answers. The ledger believes it: tell people apart before you call this.
            comment: why; can be erased.
            via: where it was answered.

        Raises:
            ApprovalError: unknown, already settled, expired; not for this person to answer, or approved by them before.
            StoreError: the database refuses.
        """
        if answer == "edit":
            raise LedgerError("an edit needs the new arguments: call `edit`")
        said = answering.Said(answer, by, comment, via)
        with self._ledger.database.writing() as connection:
            answering.answer(self._ledger, connection, self._answerable(connection, approval, by, answer), said)
            return asking.get(self._ledger, connection, approval)

    def edit(
        self, approval: str, arguments: Mapping[str, Json], *, by: str, comment: str = "", via: str = ""
    ) -> Approval:
        """Settle a request by another one, for the same tool with other arguments; it is pending, and returned.

        The new action has not been rehearsed: whoever carries it out judges it anew.

        Raises:
            ApprovalError: as `decide`; or the arguments hold what the ledger would take out as a secret, or a mark of
                what it took out, so that they could not be carried out as they stand there.
        """
        with self._ledger.database.writing() as connection:
            asked = self._answerable(connection, approval, by, "edit")
            said = answering.Said("edit", by, comment, via)
            return answering.edit(self._ledger, connection, asked, arguments, said)

    def _answerable(self, connection: Connection, approval: str, by: str, answer: Answer) -> Approval:
        """The approval, if this person may answer it now; its run is locked."""
        self.lock(connection, approval)
        asked = asking.get(self._ledger, connection, approval)
        answering.check(asked, by, answer, self._approvers)
        return asked

    def outdate(self, approval: str, reason: str) -> Approval:
        """Mark an approval as stale: what its request rests on has changed. One that is settled stays as it is.

        Args:
            approval: its id.
            reason: what has changed, in words that hold nothing personal: they stay in the ledger.

        Raises:
            ApprovalError: it is unknown.
            StoreError: the database refuses.
        """
        with self._ledger.database.writing() as connection:
            self.lock(connection, approval)
            asked = asking.get(self._ledger, connection, approval)
            if asked.state not in OPEN:
                return asked
            answering.outdate(self._ledger, connection, asked, reason)
            return asking.get(self._ledger, connection, approval)

    def use(self, approval: str, digest: str, *, world: str | None = None) -> Entry:
        """Use an approval up. `Ledger.commit(approval=…)` does so in the transaction of the commit.

        Args:
            approval: its id.
            digest: `action_digest` of what is about to be carried out.
            world: the version of the world as it is now.

        Raises:
            ApprovalError: it is unknown, pending, rejected, edited, expired, used or stale, or of another action.
        """
        with self._ledger.database.writing() as connection:
            return self.use_within(connection, approval, digest, world=world)

    def lock(self, connection: Connection, approval: str, *runs: str) -> None:
        """Let nobody else answer or use an approval, or write to the runs, until the transaction ends."""
        chain.lock(connection, asking.get(self._ledger, connection, approval).run, *runs)

    def use_within(
        self,
        connection: Connection,
        approval: str,
        digest: str,
        *,
        run: str | None = None,
        action: str | None = None,
        world: str | None = None,
    ) -> Entry:
        """`use`, within a transaction that may go on in another run."""
        self.lock(connection, approval, *([] if run is None else [run]))
        asked = asking.get(self._ledger, connection, approval)
        if asked.digest != digest:
            what = f"the approval {approval} is for {asked.tool} with other arguments: ask again for this action"
            raise ApprovalError(approval, "other_action", what)
        if asked.state != "approved":
            raise ApprovalError(approval, asked.state, f"the approval {approval} {REFUSED[asked.state]}")
        if asked.world is not None and asked.world != world:
            what = "holds for one version of the world only" if world is None else "was asked for at another world"
            raise ApprovalError(approval, "stale", f"the approval {approval} {what}: rehearse and ask again")
        try:
            return self._ledger.write(
                connection,
                asked.run,
                "approval_used",
                {"digest": digest, "world": world},
                payload=UNSET,
                action=action or asked.action,
                approval=approval,
                once=("approval_used", approval),
            )
        except chain.Taken:
            raise ApprovalError(approval, "used", f"the approval {approval} {REFUSED['used']}") from None
