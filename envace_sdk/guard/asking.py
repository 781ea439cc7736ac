"""Asking people: the state of an action's approval, and the request for one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal

from envace_sdk.json import UNSET, Json
from envace_sdk.ledger import Approval, Ledger
from envace_sdk.world.state import State

from .action import Action
from .case import Case
from .known import basis
from .policy import Decision
from .prediction import WorldDiff

__all__ = ["Standing", "payload_of", "request", "standing", "unfit"]

_MOVED: Final = "the world has moved since it was asked for"


@dataclass(frozen=True, slots=True)
class Standing:
    """Where the approval of an action stands."""

    kind: Literal["none", "pending", "approved", "rejected", "edited"]
    reason: str = ""
    arguments: Mapping[str, Json] | None = None
    """Of an edited one, the arguments that the person wants."""
    world: str | None = None
    """Of an approved one, the version of the world that it holds for."""


def standing(
    approval: Approval | None, world: str, ledger: Ledger, state: State, approvers: Mapping[str, Any]
) -> Standing:
    """Where the approval of an action stands, now that the world is at the version `world`.

    Args:
        approval: the last one of the action, if any.
        world: what its prediction rests on.
        ledger: where the approval is.
        state: the world as the guard knows it.
        approvers: who may approve, with their roles; empty: anybody.
    """
    if approval is None or approval.state in {"expired", "used"}:
        return Standing("none")
    if approval.state == "stale":
        return Standing("none", _MOVED)
    if approval.state == "rejected":
        by = ", ".join(decision.by for decision in approval.decisions if decision.answer == "reject")
        return Standing("rejected", f"rejected by {by}")
    if approval.state == "edited":
        return _edited(approval, ledger)
    fresh = not approval.stale(world) if approval.replaces is None else _edit_is_fresh(approval, ledger, state)
    if not fresh:
        return Standing("none", _MOVED)
    if approval.state == "pending":
        return Standing("pending")
    lack = unfit(approval, approvers)
    if lack:
        return Standing("rejected", lack)
    by = ", ".join(decision.by for decision in approval.decisions)
    return Standing("approved", f"approved by {by}", world=approval.world)


def request(
    ledger: Ledger, case: Case, name: str, decision: Decision, *, world: str, asked_by: str, details: Json
) -> Approval:
    """Ask people about an action; an open request for it stands."""
    action, people = case.action, decision.people
    return ledger.approvals.request(
        action.run,
        action.tool,
        action.arguments,
        server=action.server,
        action=name,
        expires=timedelta(seconds=people.expires),
        world=world,
        risk=case.risk.level,
        change=case.prediction.change.as_json()["changes"],
        reasons=decision.reasons,
        details={"prediction": case.prediction.as_json(), "risk": case.risk.as_json(), "context": details},
        roles=people.roles,
        needed=people.count,
        four_eyes=people.four_eyes,
        asked_by=asked_by,
    )


def payload_of(case: Case, decision: Decision, approval: str) -> dict[str, Json]:
    """What to show a person who is to decide."""
    return {
        "approval": approval,
        "tool": case.action.tool,
        "server": case.action.server,
        "arguments": dict(case.action.arguments),
        "digest": case.action.digest,
        "call_id": case.action.call_id,
        "predicted": str(case.prediction),
        "change": case.prediction.change.as_json()["changes"],
        "risk": case.risk.level,
        "risk_reasons": list(case.risk.reasons),
        "reasons": list(decision.reasons),
        "roles": list(decision.people.roles),
        "needed": decision.people.count,
    }


def _edited(approval: Approval, ledger: Ledger) -> Standing:
    by = ", ".join(decision.by for decision in approval.decisions if decision.answer == "edit")
    made = ledger.approvals.get(approval.replaced_by) if approval.replaced_by else None
    if made is None or not isinstance(made.arguments, Mapping):
        return Standing("rejected", f"edited by {by}, and the new arguments were erased")
    return Standing("edited", f"{by} wants other arguments", made.arguments)


def _edit_is_fresh(approval: Approval, ledger: Ledger, state: State) -> bool:
    """An edited action was asked for before it was ever rehearsed: what was edited tells if the world has moved."""
    original = ledger.approvals.get(approval.replaces) if approval.replaces else None
    if original is None or original.arguments is UNSET or not isinstance(original.arguments, Mapping):
        return False
    if original.world is None or original.world.startswith("version "):
        return not original.stale(f"version {state.version}")
    change = WorldDiff.from_json({"changes": original.change or [], "more": 0})
    was = Action(original.tool, original.arguments, original.server)
    return not original.stale(basis(was, change, state))


def unfit(approval: Approval, approvers: Mapping[str, Any]) -> str:
    """Why its answers do not count, whatever the ledger that took them was told about approvers."""
    if not approvers:
        return ""
    for decision in approval.decisions:
        roles = approvers.get(decision.by)
        if roles is None:
            return f"it was approved by {decision.by}, who is not an approver"
        if approval.roles and not {*approval.roles} & {*roles}:
            return f"it was approved by {decision.by}, who has none of the roles {', '.join(approval.roles)}"
    return ""
