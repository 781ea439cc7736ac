"""The guard's answers: what is to become of an action, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from envace_sdk.evidence.label import Claimed, Observed
from envace_sdk.json import Json
from envace_sdk.tools.model import ToolResult

from .prediction import Prediction
from .risk import Risk

__all__ = ["Outcome", "Score", "Verdict", "VerdictKind"]

VerdictKind = Literal["commit", "block", "ask", "revise"]
"""`commit`: execute it. `block`: do not, and neither try again. `ask`: a person decides first. `revise`: do not, but
something like it may go through; the reasons say what to change."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to become of an action, and why.

    Only `proceeds` says whether to execute it: in shadow mode, an action that is blocked on paper runs all the same.
    """

    kind: VerdictKind
    reasons: tuple[str, ...] = ()
    prediction: Prediction | None = None
    risk: Risk = field(default_factory=Risk)
    rule: str = ""
    """The rule that decided, by name; "" for the default."""
    approval: str | None = None
    """With `ask`, the approval that is waited for; with `commit`, the one that allows it."""
    arguments: Mapping[str, Json] | None = None
    """With `revise`, the arguments that a person wants instead, if one said so."""
    shadow: bool = False
    """Whether the verdict is only noted."""
    done: bool = False
    """Whether the action was executed before: its recorded outcome is all that there is to have."""

    @property
    def proceeds(self) -> bool:
        """Whether the action may be executed now."""
        return self.kind == "commit" or self.shadow

    @property
    def reason(self) -> str:
        """The reasons in one line."""
        return "; ".join(self.reasons)

    def as_json(self) -> dict[str, Json]:
        """As it stands in the ledger; the prediction has an entry of its own there."""
        return {
            "verdict": self.kind,
            "reasons": list(self.reasons),
            "risk": self.risk.as_json(),
            "rule": self.rule,
            "approval": self.approval,
            "shadow": self.shadow,
        }


@dataclass(frozen=True, slots=True)
class Score:
    """How one prediction compares with what was observed."""

    predicted: str
    """Status."""
    observed: str
    """Status."""
    status: bool
    """Whether the two are the same."""
    change: bool | None = None
    """Whether the predicted change is the one that the answer shows; None where it shows none."""
    confidence: float = 0.0
    layer: str = "none"
    differences: tuple[str, ...] = ()
    """What differs, in words."""

    @property
    def right(self) -> bool:
        """Whether nothing that could be compared differs."""
        return self.status and self.change is not False

    def as_json(self) -> dict[str, Json]:
        """As it stands in the ledger."""
        return {
            "predicted": self.predicted,
            "observed": self.observed,
            "status": self.status,
            "change": self.change,
            "right": self.right,
            "confidence": self.confidence,
            "layer": self.layer,
            "differences": list(self.differences),
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an action that was executed, now or earlier."""

    result: ToolResult
    """What it answered, with the evidence label."""
    evidence: Observed | Claimed
    value: Any = None
    """What `execute` returned; of a replayed outcome, the recorded answer as data."""
    verdict: Verdict | None = None
    replayed: bool = False
    """Whether it was executed earlier, and only its recorded outcome is given here."""
    score: Score | None = None
    raised: str = ""
    """Of a replayed outcome, the type of the exception that it ended with, if it did."""
