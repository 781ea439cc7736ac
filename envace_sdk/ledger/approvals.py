"""Approvals: asked for by the guard, given by people, used up by a commit."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection

from envace_sdk.errors import ApprovalError, LedgerError
from envace_sdk.json import UNSET, Json, Unset

from . import chain, payloads
from .action import action_digest
from .approval import OPEN, Answer, Approval, State, told
from .entry import Entry, time_text

if TYPE_CHECKING:
    from .ledger import Ledger

__all__ = ["Approvals"]

_DAY: Final = timedelta(days=1)
_REFUSED: Final[Mapping[State, str]] = {
    "pending": "has not been answered yet",
    "rejected": "was rejected",
    "edited": "was edited into another action, which has an approval of its own",
    "expired": "has expired: ask again",
    "used": "was used before, and allows one action only",
}


class Approvals:
    """The approvals in a ledger.

    The ledger alone says whether an action is approved: what a framework hands back on resume only rings the bell.
    """

    def __init__(self, ledger: Ledger, approvers: Mapping[str, Iterable[str]] | None = None) -> None:
        self._ledger = ledger
        self._approvers = None if approvers is None else {name: frozenset(of) for name, of in approvers.items()}

    # Asking

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
            arguments: those that are approved; the approval is bound to `action_digest` of all three.
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
            LedgerError: fewer than one is needed, or the arguments are not JSON.
            StoreError: the database refuses.
        """
        digest = action_digest(tool, arguments, server=server)
        action = action or digest
        if needed < 1:
            raise LedgerError(f"at least one person must approve, not {needed}")
        with self._ledger.database.writing() as connection:
            chain.lock(connection, run)
            for asked in reversed(self._of_action(connection, action)):
                if asked.run == run and asked.digest == digest and asked.state in OPEN and not asked.stale(world):
                    return asked
            return self._requested(
                connection,
                run,
                action,
                {
                    "digest": digest,
                    "tool": tool,
                    "server": server,
                    "expires": self._expiry(expires),
                    "world": world,
                    "risk": risk,
                    "roles": list(roles),
                    "needed": needed,
                    "four_eyes": four_eyes,
                    "asked_by": asked_by,
                    "replaces": None,
                },
                {"arguments": dict(arguments), "change": change, "reasons": list(reasons), "details": details},
            )

    def _requested(
        self, connection: Connection, run: str, action: str, body: Mapping[str, Json], payload: Json
    ) -> Approval:
        name = f"ap_{secrets.token_hex(8)}"
        self._ledger.write(connection, run, "approval_requested", body, payload=payload, action=action, approval=name)
        return self._get(connection, name)

    def _expiry(self, expires: datetime | timedelta | None) -> str | None:
        if isinstance(expires, timedelta):
            expires = self._ledger.now() + expires
        return None if expires is None else time_text(expires)

    # Looking

    def get(self, approval: str) -> Approval:
        """One approval. Raises: ApprovalError (unknown), TamperedError, StoreError."""
        with self._ledger.database.reading() as connection:
            return self._get(connection, approval)

    def list(self, run: str | None = None, *, state: State | None = None) -> list[Approval]:
        """Approvals of a run or of all, in a state or in any, oldest first. Raises: TamperedError, StoreError."""
        with self._ledger.database.reading() as connection:
            found = self._told(connection, chain.entries(connection, approval=chain.ANY))
        chosen = [a for a in found if (run is None or a.run == run) and (state is None or a.state == state)]
        return sorted(chosen, key=lambda approval: approval.requested_at)

    def pending(self, run: str | None = None) -> list[Approval]:
        """Those that wait for an answer. Raises: TamperedError, StoreError."""
        return self.list(run, state="pending")

    def of_action(self, action: str) -> Approval | None:
        """The last approval that was asked for an action. Raises: TamperedError, StoreError."""
        with self._ledger.database.reading() as connection:
            found = self._of_action(connection, action)
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

    # Answering

    def decide(self, approval: str, answer: Answer, *, by: str, comment: str = "", via: str = "") -> Approval:
        """Approve or reject. One rejection settles it; `needed` approvals by different people do.

        Args:
            approval: its id.
            answer: "approve" or "reject"; for "edit" see `edit`.
            by: who answers. The ledger believes it: tell people apart before you call this.
            comment: why; can be erased.
            via: where it was answered.

        Raises:
            ApprovalError: unknown, already settled, expired; not for this person to answer, or answered by them before.
            StoreError: the database refuses.
        """
        if answer == "edit":
            raise LedgerError("an edit needs the new arguments: call `edit`")
        with self._ledger.database.writing() as connection:
            self._decided(connection, approval, answer, by=by, comment=comment, via=via)
            return self._get(connection, approval)

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
            asked = self._answerable(connection, approval, by)
            digest = action_digest(asked.tool, arguments, server=asked.server)
            if digest == asked.digest:
                raise ApprovalError(approval, "not_allowed", f"the approval {approval} has just these arguments")
            if self._ledger.redacted(dict(arguments)) != dict(arguments) or "[redacted" in str(arguments):
                raise ApprovalError(
                    approval,
                    "not_allowed",
                    "the arguments hold a secret, which the ledger does not keep: reject, and have the agent ask again",
                )
            left = None if asked.expires is None else self._ledger.now() + (asked.expires - asked.requested_at)
            made = self._requested(
                connection,
                asked.run,
                digest,
                {
                    "digest": digest,
                    "tool": asked.tool,
                    "server": asked.server,
                    "expires": self._expiry(left),
                    "world": asked.world,
                    "risk": asked.risk,
                    "roles": [*asked.roles],
                    "needed": asked.needed,
                    "four_eyes": asked.four_eyes,
                    "asked_by": by,
                    "replaces": approval,
                },
                {
                    "arguments": dict(arguments),
                    "change": None,
                    "reasons": [f"edited by {by}: not rehearsed yet", *asked.reasons],
                    "details": asked.details,
                },
            )
            self._decided(connection, approval, "edit", by=by, comment=comment, via=via, replaced_by=made.id)
            return made

    def _decided(
        self,
        connection: Connection,
        approval: str,
        answer: Answer,
        *,
        by: str,
        comment: str,
        via: str,
        replaced_by: str | None = None,
    ) -> None:
        asked = self._answerable(connection, approval, by)
        body = {"answer": answer, "by": by, "via": via, "replaced_by": replaced_by}
        self._ledger.write(
            connection,
            asked.run,
            "approval_decided",
            body,
            payload={"comment": comment} if comment else UNSET,
            action=asked.action,
            approval=approval,
        )

    def _answerable(self, connection: Connection, approval: str, by: str) -> Approval:
        """The approval, if this person may answer it now; its run is locked."""
        chain.lock(connection, self._get(connection, approval).run)
        asked = self._get(connection, approval)
        if asked.state == "approved" and by in {decision.by for decision in asked.decisions}:
            raise ApprovalError(approval, "not_allowed", f"{by} has answered the approval {approval} before")
        if asked.state not in OPEN:
            raise ApprovalError(approval, asked.state, f"the approval {approval} {_REFUSED[asked.state]}")
        if not by:
            raise ApprovalError(approval, "not_allowed", "an answer needs the name of who gives it")
        if by in {decision.by for decision in asked.decisions}:
            raise ApprovalError(approval, "not_allowed", f"{by} has answered the approval {approval} before")
        if asked.four_eyes and by == asked.asked_by:
            raise ApprovalError(approval, "not_allowed", f"{by} asked for it, and another person must answer")
        self._check_roles(asked, by)
        return asked

    def _check_roles(self, asked: Approval, by: str) -> None:
        if self._approvers is None:
            if asked.roles:
                what = f"needs one of the roles {', '.join(asked.roles)}, and no list of approvers says who has it"
                raise ApprovalError(asked.id, "not_allowed", f"the approval {asked.id} {what}")
            return
        if by not in self._approvers:
            raise ApprovalError(asked.id, "not_allowed", f"{by} is not in the list of approvers")
        if asked.roles and not self._approvers[by] & {*asked.roles}:
            what = f"needs one of the roles {', '.join(asked.roles)}, which {by} does not have"
            raise ApprovalError(asked.id, "not_allowed", f"the approval {asked.id} {what}")

    # Using

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
        asked = self._get(connection, approval)
        chain.lock(connection, asked.run, *([] if run is None else [run]))
        asked = self._get(connection, approval)
        if asked.digest != digest:
            what = f"the approval {approval} is for {asked.tool} with other arguments: ask again for this action"
            raise ApprovalError(approval, "other_action", what)
        if asked.state != "approved":
            raise ApprovalError(approval, asked.state, f"the approval {approval} {_REFUSED[asked.state]}")
        if asked.stale(world) or (asked.world is not None and world is None):
            what = "was asked for when the world was another" if world else "holds for one version of the world only"
            raise ApprovalError(approval, "stale", f"the approval {approval} {what}: rehearse and ask again")
        try:
            return self._ledger.write(
                connection,
                asked.run,
                "approval_used",
                {"digest": digest, "world": world},
                action=action or asked.action,
                approval=approval,
                once=("approval_used", approval),
            )
        except chain.Taken:
            raise ApprovalError(approval, "used", f"the approval {approval} {_REFUSED['used']}") from None

    # Parts of the above

    def _get(self, connection: Connection, approval: str) -> Approval:
        found = self._told(connection, chain.entries(connection, approval=approval))
        if not found:
            raise ApprovalError(approval, "unknown", f"there is no approval {approval!r}")
        return found[0]

    def _of_action(self, connection: Connection, action: str) -> list[Approval]:
        asked = chain.entries(connection, action=action, kind="approval_requested")
        return [self._get(connection, str(entry.approval)) for entry in sorted(asked, key=lambda entry: entry.at)]

    def _told(self, connection: Connection, entries: Sequence[Entry]) -> list[Approval]:
        requests = [entry for entry in entries if entry.kind == "approval_requested"]
        later: dict[str | None, list[Entry]] = {}
        for entry in entries:
            if entry.kind in {"approval_decided", "approval_used"}:
                later.setdefault(entry.approval, []).append(entry)
        return [
            told(request, later.get(request.approval, ()), self._shown(connection, request), self._ledger.now())
            for request in requests
        ]

    def _shown(self, connection: Connection, entry: Entry) -> Json | Unset:
        return UNSET if entry.payload_digest is None else payloads.read(connection, entry.payload_digest)
