"""A predictor's track record with one tool: how often its predictions came true, and how well it knew."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from envace_sdk.json import Json

__all__ = ["BINS", "WINDOW", "Requirement", "TrackRecord"]

WINDOW: Final = 20
"""How many of the latest scored calls count as recent."""
BINS: Final = 10
"""Bins of equal width in which confidence is compared with accuracy."""


@dataclass
class TrackRecord:
    """Counts over the scored predictions of one tool; the order in which they are added is that of time."""

    tool: str = ""
    calls: int = 0
    statuses: int = 0
    """How often the status was right."""
    changes: int = 0
    """How often the change could be compared."""
    changes_right: int = 0
    right: int = 0
    squares: float = 0.0
    """Sum of the squared distance between confidence and outcome."""
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=WINDOW))
    bins: list[tuple[int, int, float]] = field(default_factory=lambda: [(0, 0, 0.0)] * BINS)
    """Per bin of confidence: calls, right ones, and the sum of the confidences."""

    def add(self, score: Mapping[str, Any]) -> None:
        """Count one score, in the form it has in the ledger."""
        right = bool(score.get("right"))
        confidence = min(1.0, max(0.0, float(score.get("confidence", 0.0))))
        self.calls += 1
        self.right += right
        self.statuses += bool(score.get("status"))
        if score.get("change") is not None:
            self.changes += 1
            self.changes_right += bool(score["change"])
        self.squares += (confidence - right) ** 2
        self.recent.append(right)
        place = min(BINS - 1, int(confidence * BINS))
        calls, good, total = self.bins[place]
        self.bins[place] = (calls + 1, good + right, total + confidence)

    @property
    def accuracy(self) -> float | None:
        """Share of predictions in which nothing that could be compared was wrong; None before the first."""
        return self.right / self.calls if self.calls else None

    @property
    def status_accuracy(self) -> float | None:
        """Share of predictions with the right status."""
        return self.statuses / self.calls if self.calls else None

    @property
    def change_accuracy(self) -> float | None:
        """Share of right changes, among the answers that showed one."""
        return self.changes_right / self.changes if self.changes else None

    @property
    def recent_accuracy(self) -> float | None:
        """The accuracy of the latest `WINDOW` predictions."""
        return sum(self.recent) / len(self.recent) if self.recent else None

    @property
    def brier(self) -> float | None:
        """Mean squared distance between confidence and outcome: 0 is perfect, 0.25 is a coin's."""
        return self.squares / self.calls if self.calls else None

    @property
    def calibration_error(self) -> float | None:
        """Expected calibration error: how far confidence and accuracy lie apart, over the bins, weighted by calls."""
        if not self.calls:
            return None
        return sum(abs(good - total) for calls, good, total in self.bins if calls) / self.calls

    @property
    def drifting(self) -> bool:
        """Whether the latest predictions are worse than the earlier ones by more than chance makes likely.

        A one-sided test of two proportions at about 1 in 100, with the earlier share smoothed by one miss.
        """
        earlier, latest = self.calls - len(self.recent), len(self.recent)
        if earlier < WINDOW or not latest:
            return False
        share = (self.right - sum(self.recent) + 1) / (earlier + 2)
        spread = math.sqrt(share * (1 - share) * (1 / earlier + 1 / latest))
        lately: float = sum(self.recent) / latest
        return lately < share - 2.33 * spread

    def as_json(self) -> dict[str, Json]:
        """The figures; what no call tells of yet is null."""
        return {
            "tool": self.tool,
            "calls": self.calls,
            "accuracy": self.accuracy,
            "status_accuracy": self.status_accuracy,
            "change_accuracy": self.change_accuracy,
            "changes_compared": self.changes,
            "recent_accuracy": self.recent_accuracy,
            "recent_calls": len(self.recent),
            "brier": self.brier,
            "calibration_error": self.calibration_error,
            "drifting": self.drifting,
        }

    @classmethod
    def of(cls, tool: str, scores: Iterable[Mapping[str, Any]]) -> TrackRecord:
        """A record of these scores, oldest first."""
        made = cls(tool)
        for score in scores:
            made.add(score)
        return made


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a track record must show before a rule trusts the predictor."""

    calls: int = WINDOW
    """At least so many scored predictions of the tool."""
    accuracy: float = 0.9
    """At least this share of the latest ones right."""

    def unmet(self, record: TrackRecord) -> str:
        """What is missing, in words; "" when nothing is."""
        if record.calls < self.calls:
            return f"its track record has {record.calls} of the {self.calls} scored calls that are required"
        recent = record.recent_accuracy
        if recent is None or recent < self.accuracy:
            shown = "unknown" if recent is None else f"{recent:.0%}"
            return f"its recent predictions were right in {shown} of the cases, {self.accuracy:.0%} are required"
        return ""
