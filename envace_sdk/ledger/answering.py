"""Answers to requests for approval: who may give one, and what it writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from envace_sdk.errors import ApprovalError
from envace_sdk.json import UNSET, Json, Unset

from . import asking
from .action import action_digest
from .approval import OPEN, REFUSED, Answer, Approval, person
from .log import Log

__all__ = ["Said", "answer", "check", "edit", "outdate"]


@dataclass(frozen=True, slots=True)
class Said:
    """An answer by a person."""

    answer: Answer
    by: str
    comment: str
    via: str


def check(asked: Approval, by: str, answer: Answer, approvers: Mapping[str, frozenset[str]] | None) -> None:
    """Whether a person may answer a request now. Raises: ApprovalError, which says why not."""
    if asked.state not in OPEN:
        raise ApprovalError(asked.id, asked.state, f"the approval {asked.id} {REFUSED[asked.state]}")
    what = (_approving(asked, by) if answer == "approve" else None) or _objection(asked, by, approvers)
    if what is not None:
        raise ApprovalError(asked.id, "not_allowed", what)


def _approving(asked: Approval, by: str) -> str | None:
    if person(by) in {person(decision.by) for decision in asked.decisions}:
        return f"{by} has approved {asked.id} before"
    if isinstance(asked.arguments, Unset):
        return f"the arguments that {asked.id} is about were erased, so nobody can judge them: reject it"
    return None


def _objection(asked: Approval, by: str, approvers: Mapping[str, frozenset[str]] | None) -> str | None:
    if not person(by):
        return "an answer needs the name of who gives it"
    if person(by) in map(person, asked.barred):
        return f"{by} asked for the approval {asked.id}, so another person must answer"
    if approvers is not None and by not in approvers:
        return f"{by} is not in the list of approvers"
    if asked.roles:
        roles = f"the approval {asked.id} needs one of the roles {', '.join(asked.roles)}"
        if approvers is None:
            return f"{roles}, and no list of approvers says who has it"
        if not approvers[by] & {*asked.roles}:
            return f"{roles}, which {by} does not have"
    return None


def answer(log: Log, connection: Connection, asked: Approval, said: Said, replaced_by: str | None = None) -> None:
    """Write an answer that was checked."""
    log.write(
        connection,
        asked.run,
        "approval_decided",
        {"answer": said.answer, "by": said.by, "via": said.via, "replaced_by": replaced_by},
        payload={"comment": said.comment} if said.comment else UNSET,
        action=asked.action,
        approval=asked.id,
    )


def outdate(log: Log, connection: Connection, asked: Approval, reason: str) -> None:
    """Write that an open request is stale."""
    log.write(connection, asked.run, "approval_stale", {"reason": reason}, action=asked.action, approval=asked.id)


def edit(log: Log, connection: Connection, asked: Approval, arguments: Mapping[str, Json], said: Said) -> Approval:
    """Write a request in place of one that was checked, and the answer that says so.

    Raises:
        ApprovalError: the arguments are those that were asked for, or hold a secret.
    """
    new = dict(arguments)
    digest = action_digest(asked.tool, new, server=asked.server)
    if digest == asked.digest:
        raise ApprovalError(asked.id, "not_allowed", f"the approval {asked.id} is for just these arguments")
    if log.redacted(new) != new or "[redacted" in str(new):
        what = "the arguments hold a secret, which the ledger does not keep: reject, and have the agent ask again"
        raise ApprovalError(asked.id, "not_allowed", what)
    body = asking.Asked(
        digest=digest,
        tool=asked.tool,
        server=asked.server,
        expires=None if asked.expires is None else log.now() + (asked.expires - asked.requested_at),
        world=asked.world,
        risk=asked.risk,
        roles=asked.roles,
        needed=asked.needed,
        barred=(*asked.barred, said.by) if asked.barred else (),
        asked_by=said.by,
        replaces=asked.id,
    )
    details = asked.details
    if isinstance(details, dict):
        # What was predicted of the old arguments says nothing of these.
        details = {name: told for name, told in details.items() if name != "prediction"}
    shown = {
        "arguments": new,
        "change": None,
        "reasons": [f"edited by {said.by}: not rehearsed yet", *asked.reasons],
        "details": details,
    }
    made = asking.ask(log, connection, asked.run, digest, body, shown)
    answer(log, connection, asked, said, replaced_by=made.id)
    return made
