"""What is raised where an action does not go ahead."""

from __future__ import annotations

from envace_sdk.errors import ApprovalRequired, Refused
from envace_sdk.evidence.framing import frame_rehearsal

from .action import Action
from .deciding import Judged
from .prediction import Prediction

__all__ = ["stopped"]


def stopped(action: Action, judged: Judged) -> Refused | ApprovalRequired:
    """The exception that tells of a verdict: a person must decide first, or it is no."""
    verdict = judged.verdict
    if verdict.kind == "ask" and verdict.approval is not None:
        message = f"{action.name} waits for the approval {verdict.approval}: {verdict.reason}"
        return ApprovalRequired(verdict.approval, judged.payload or {}, message)
    kind = "revise" if verdict.kind == "revise" else "block"
    return Refused(
        f"{action.name} was not executed: {verdict.reason}",
        kind=kind,
        reasons=verdict.reasons,
        arguments=verdict.arguments,
        prediction=_framed(action, verdict.prediction),
    )


def _framed(action: Action, prediction: Prediction | None) -> str:
    if prediction is None or prediction.kind == "none":
        return ""
    return frame_rehearsal(
        str(prediction), tool=action.name, outcome=prediction.status, confidence=prediction.confidence
    )
