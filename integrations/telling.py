"""What a model is told of a call that was not executed, and a person of one that waits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from envace_sdk.errors import ApprovalRequired, Refused
from envace_sdk.evidence.framing import frame_rehearsal
from envace_sdk.guard import Action, Verdict
from envace_sdk.json import Json

__all__ = ["APPROVAL", "approval_in", "doubtful", "refused", "stopped", "waiting"]

APPROVAL: Final = "dev.envace/approval"
"""The key under which a framework's request for approval carries ours."""


def refused(refusal: Refused) -> str:
    """Why, what would have come of it, and what a person wants instead."""
    parts = [str(refusal)]
    if refusal.arguments is not None:
        wanted = json.dumps(dict(refusal.arguments), ensure_ascii=False, default=str)
        parts.append(f"A person wants these arguments instead: {wanted}")
    elif refusal.kind == "revise":
        parts.append("Revise the call, or do without it.")
    else:
        parts.append("Do not call it again like this.")
    if refusal.prediction:
        parts.append(refusal.prediction)
    return "\n\n".join(parts)


def waiting(pause: ApprovalRequired) -> str:
    """For frameworks that cannot pause: what to say instead."""
    return _waiting(str(pause.payload.get("tool")), pause.approval)


def stopped(action: Action, verdict: Verdict) -> str:
    """As `refused` and `waiting`, where there is a verdict and no exception."""
    if verdict.kind == "ask" and verdict.approval is not None:
        return _waiting(action.name, verdict.approval)
    expected = verdict.prediction
    framed = ""
    if expected is not None and expected.kind != "none":
        framed = frame_rehearsal(
            str(expected), tool=action.name, outcome=expected.status, confidence=expected.confidence
        )
    message = f"{action.name} was not executed: {verdict.reason}"
    kind = "revise" if verdict.kind == "revise" else "block"
    return refused(Refused(message, kind=kind, arguments=verdict.arguments, prediction=framed))


def doubtful(tool: str, error: BaseException) -> str:
    """That nobody knows whether it happened."""
    return (
        f"{tool}: it is not known whether it was executed ({type(error).__name__}). "
        "Do not call it again, and do not say that it was done; a person has to look at the real system."
    )


def _waiting(tool: str, approval: str) -> str:
    return (
        f"{tool} was not executed: a person must approve it first (approval {approval}). "
        "Do not call it again before they have answered, and do not say that it was done."
    )


def approval_in(metadata: Any) -> Mapping[str, Json] | None:
    """Our request in a framework's metadata: the payload of `ApprovalRequired`; None where there is none."""
    found = metadata.get(APPROVAL) if isinstance(metadata, Mapping) else None
    return found if isinstance(found, Mapping) and isinstance(found.get("approval"), str) else None
