"""The ledger: what was rehearsed, decided, done and observed, in a chain that shows any change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Self

from envace_sdk.errors import AlreadyCommittedError, CommittedError, InDoubtError, LedgerError
from envace_sdk.evidence.secrets import install_key, keyed_redactor
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.redaction import Redact

from . import chain
from .approvals import Approvals
from .database import Database
from .entry import Entry
from .erasing import Erasure, erase
from .log import Log

__all__ = ["Ledger", "Status"]

Status = Literal["not_started", "rehearsed", "decided", "in_doubt", "observed"]
"""How far an action has come. In doubt: committed, and nobody knows what came of it."""


class Ledger(Log):
    """An append-only record, a hash chain per run, in SQLite or PostgreSQL.

    What an entry says in its `body` stays for good, so it must hold nothing personal: ids, names of tools, verdicts,
    numbers. Arguments, results and whatever else may have to go stands in the `payload`, which can be erased without
    breaking the chain. Secrets are taken out of both before anything is hashed or written.

    Every method may be called from any thread, and returns once the entry is on the disk: `async` code calls
    `await asyncio.to_thread(ledger.append, …)`.

    The journal of an action is `rehearsed → decision → commit → observed`. `commit` is the point of no return: it is
    written before the action is carried out, by one only, once. An action with a commit and no observation is in
    doubt; it is never to be carried out again by itself.
    """

    def __init__(
        self, database: Database, *, redact: Redact, clock: Callable[[], datetime], approvers: Mapping[str, Any] | None
    ) -> None:
        super().__init__(database, redact=redact, clock=clock)
        self.approvals = Approvals(self, approvers)
        """Requests to people, and their answers."""

    @classmethod
    def open(
        cls,
        url: str | Path | None = None,
        *,
        migrate: bool | None = None,
        redact: Redact | None = None,
        retention: timedelta | None = None,
        approvers: Mapping[str, Any] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> Self:
        """Open the ledger in a database; default: the user's own SQLite file.

        Args:
            url: `sqlite:///path`, a path, or `postgresql+psycopg://…` (needs the extra `postgres`).
            migrate: whether to bring the database to this version's tables; default: only SQLite, which has one user.
            redact: takes secrets out; default: by names of fields and shapes of tokens, leaving in a secret's place an
                HMAC by the key of this installation.
            retention: payloads older than this are erased when the ledger is opened; default: kept.
            approvers: the roles of each person who may approve, `{"ann": ["finance"]}`; default: anybody may approve
                what asks for no role.
            clock: tells the time.

        Raises:
            StoreError: the database cannot be opened, is of a newer version, or of an older one and not to be migrated.
            EvidenceError: the key of this installation cannot be kept.
        """
        redact = redact or keyed_redactor(install_key())
        ledger = cls(Database(url, migrate), redact=redact, clock=clock, approvers=approvers)
        if retention is not None:
            try:
                ledger.erase(before=clock() - retention, by="retention", reason=f"older than {retention}")
            except BaseException:
                ledger.close()
                raise
        return ledger

    def commit(
        self,
        run: str,
        action: str,
        body: Mapping[str, Json] | None = None,
        *,
        payload: Json | Unset = UNSET,
        approval: str | None = None,
        digest: str | None = None,
        world: str | None = None,
    ) -> Entry:
        """Take the one right to carry out an action, durably, before it is carried out.

        Args:
            run: the run it is part of.
            action: its id.
            body: JSON that stays for good.
            payload: what can be erased.
            approval: one to use up, in the same transaction.
            digest: `action_digest` of what is about to be carried out; an approval needs it.
            world: the version of the world as it is now; an approval that was asked for at another one is stale.

        Raises:
            AlreadyCommittedError: it was carried out; answer with `find(None, action, "observed")`.
            InDoubtError: it was committed and its outcome is not known: by a process that died, or is at it now.
            ApprovalError: the approval does not allow it. Nothing is written.
        """
        try:
            with self._database.writing() as connection:
                if approval is None:
                    chain.lock(connection, run)
                else:
                    self.approvals.lock(connection, approval, run)
                if {"commit", "observed"} & chain.kinds(connection, action):
                    raise chain.Taken
                if approval is not None:
                    self.approvals.use_within(connection, approval, digest or "", run=run, action=action, world=world)
                said = {**(body or {}), **({} if digest is None else {"digest": digest})}
                once = ("commit", action)
                return self.write(
                    connection, run, "commit", said, payload=payload, action=action, approval=approval, once=once
                )
        except chain.Taken:
            raise self._committed(action) from None

    def _committed(self, action: str) -> CommittedError:
        if self.status(action) == "observed":
            return AlreadyCommittedError(action, f"the action {action} was carried out: its outcome is in the ledger")
        return InDoubtError(
            action,
            f"the action {action} was committed and its outcome never observed: it may have happened, or be happening. "
            "Look at the real system before anything else is done",
        )

    def observed(
        self,
        run: str,
        action: str,
        body: Mapping[str, Json] | None = None,
        *,
        payload: Json | Unset = UNSET,
        outside: bool = False,
    ) -> Entry:
        """Write what the real environment answered, once.

        Args:
            run: the run it is part of.
            action: its id.
            body: JSON that stays for good.
            payload: the result.
            outside: of an action that was carried out without a commit here.

        Raises:
            LedgerError: the action has no commit, or an observation already.
        """
        try:
            with self._database.writing() as connection:
                if not outside and chain.find(connection, None, action, "commit") is None:
                    raise LedgerError(f"the action {action} was never committed, so there is nothing to observe of it")
                once = ("observed", action)
                return self.write(connection, run, "observed", body or {}, payload=payload, action=action, once=once)
        except chain.Taken:
            raise LedgerError(f"the outcome of the action {action} is in the ledger already") from None

    def status(self, action: str) -> Status:
        """How far an action has come, in any run. Raises: StoreError."""
        with self._database.reading() as connection:
            kinds = chain.kinds(connection, action)
        if "observed" in kinds:
            return "observed"
        if "commit" in kinds:
            return "in_doubt"
        if kinds & {"decision", "approval_requested"}:
            return "decided"
        return "rehearsed" if "rehearsed" in kinds else "not_started"

    def erase(
        self,
        run: str | None = None,
        *,
        action: str | None = None,
        before: datetime | None = None,
        containing: str | None = None,
        by: str,
        reason: str = "",
    ) -> Erasure:
        """Remove payloads, with their keys; an entry of the kind `erased` says which. The chain stays valid.

        Args:
            run: only of this run.
            action: only those about this action.
            before: only those written before.
            containing: only those with this text in them, whatever its case.
            by: who does it.
            reason: why; it stays, so it must not repeat what is erased.

        Raises:
            LedgerError: nothing says which.
            StoreError: the database refuses.
        """
        if run is None and action is None and before is None and containing is None:
            raise LedgerError("say which payloads to erase: by run, action, age or text")
        with self._database.writing() as connection:
            done = erase(
                self, connection, run=run, action=action, before=before, containing=containing, by=by, reason=reason
            )
        if done.count:
            self._database.forget()
        return done
