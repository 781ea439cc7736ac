"""A prediction as a page shows it, read from JSON that anybody may have written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import shown

__all__ = ["Predicted"]


@dataclass(frozen=True, slots=True)
class Predicted:
    """How a call is expected to end, and what that rests on."""

    status: str
    layer: str
    confidence: float | None
    disagreement: float | None
    samples: int
    reason: str
    answer: str
    changes: list[shown.Change]

    @classmethod
    def of(cls, found: Any) -> Predicted | None:
        """What `Prediction.as_json` made, as far as it is that; None where nothing like it is there."""
        if not isinstance(found, Mapping) or not isinstance(found.get("status"), str):
            return None
        samples = found.get("samples")
        return cls(
            status=found["status"],
            layer=_text(found.get("layer")) or "none",
            confidence=_figure(found.get("confidence")),
            disagreement=_figure(found.get("disagreement")),
            samples=samples if isinstance(samples, int) else 0,
            reason=_text(found.get("reason")),
            answer=_text(found.get("answer")),
            changes=shown.changes(found.get("change")),
        )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _figure(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
