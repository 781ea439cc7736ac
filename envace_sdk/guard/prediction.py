"""What a rehearsal says will happen: the status of the call, and the change it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from envace_sdk.errors import EvidenceError
from envace_sdk.json import UNSET, Json
from envace_sdk.rehearse import Outcome
from envace_sdk.world.answer import Touch
from envace_sdk.world.diff import EntityChange, render

__all__ = ["Prediction", "PredictionKind", "WorldDiff", "shortened"]

PredictionKind = Literal["rehearsal", "dry_run", "none"]
"""How it was predicted: on a fork of the world, by the provider's own dry run, or not at all."""

_ANSWER: Final = 500
"""Characters of a rehearsed answer that are kept."""
_LIMIT: Final = 200
"""Changed entities that are kept; one call that changes more is told by their number."""


@dataclass(frozen=True, slots=True)
class WorldDiff:
    """The entities that a call changes: created, updated and deleted ones, field by field."""

    changes: tuple[EntityChange, ...] = ()
    more: int = 0
    """How many further entities change."""

    @classmethod
    def of(cls, changes: Sequence[EntityChange]) -> WorldDiff:
        """Cut to a size that can be stored and read."""
        return cls(tuple(changes[:_LIMIT]), max(0, len(changes) - _LIMIT))

    def __bool__(self) -> bool:
        return bool(self.changes)

    def __str__(self) -> str:
        text = render(self.changes)
        return f"{text}\n… and {self.more} more" if self.more else text

    def as_json(self) -> Json:
        """The changes; a field has `before` and `after`, unless it is absent there."""
        return {
            "more": self.more,
            "changes": [
                {
                    "kind": change.kind,
                    "collection": change.collection,
                    "key": change.key,
                    "fields": {
                        path: {
                            **({} if old is UNSET else {"before": old}),
                            **({} if new is UNSET else {"after": new}),
                        }
                        for path, (old, new) in change.fields.items()
                    },
                }
                for change in self.changes
            ],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> WorldDiff:
        """Read what `as_json` wrote."""
        changes = tuple(
            EntityChange(
                each["kind"],
                each["collection"],
                each["key"],
                {
                    path: (value.get("before", UNSET), value.get("after", UNSET))
                    for path, value in each["fields"].items()
                },
            )
            for each in data["changes"]
        )
        return cls(changes, data["more"])


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is expected of one action. It is rehearsed evidence: nothing was executed."""

    status: Outcome = "unknown"
    """`success`, or the kind of error: permission_error, validation_error, not_found, rate_limited, conflict; `unknown`
    where nothing could be predicted."""
    change: WorldDiff = field(default_factory=WorldDiff)
    risk: str = ""
    """The level of the action's risk, as it was when this was predicted."""
    confidence: float = 0.0
    """Probability, as the predictor says, that the real environment will answer so."""
    disagreement: float = 0.0
    """Share of the samples that predict another status or another change, 0 to 1."""
    layer: str = "none"
    """What it rests on: a layer of the ladder, `dry_run`, or `none`."""
    samples: int = 0
    """How many rehearsals it was made of."""
    kind: PredictionKind = "none"
    answer: str = ""
    """The rehearsed answer as text, cut; for people, never for the model as it is."""
    reason: str = ""
    basis: str = ""
    """Digest of what it read and would change: once that differs, the world has moved."""
    unseen: tuple[Touch, ...] = ()
    """What the call looks for and was never observed, neither to be there nor to be missing: why nothing is predicted.
    """

    @property
    def is_error(self) -> bool:
        """Whether the call is expected to fail."""
        return self.status not in {"success", "unknown"}

    def __str__(self) -> str:
        if self.kind == "none":
            return f"not predicted{f': {self.reason}' if self.reason else ''}"
        if self.unseen:
            return f"{self.status}: {self.reason}"
        said = f"{self.status} ({self.layer}, confidence {self.confidence:.2f}"
        if self.samples > 1:
            said += f", {self.disagreement:.0%} of {self.samples} samples disagree"
        return f"{said})" + (f"\n{self.change}" if self.change else ", changes nothing")

    def as_json(self) -> dict[str, Json]:
        """All of it, as it stands in the ledger."""
        return {
            "status": self.status,
            "change": self.change.as_json(),
            "risk": self.risk,
            "confidence": self.confidence,
            "disagreement": self.disagreement,
            "layer": self.layer,
            "samples": self.samples,
            "kind": self.kind,
            "answer": self.answer,
            "reason": self.reason,
            "unseen": [list(touch) for touch in self.unseen],
            "basis": self.basis,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Prediction:
        """Read what `as_json` wrote.

        Raises:
            EvidenceError: it is not that.
        """
        try:
            unseen = tuple((str(name), key) for name, key in data.get("unseen", ()))
            return cls(**{**data, "change": WorldDiff.from_json(data["change"]), "unseen": unseen})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EvidenceError(f"the ledger holds something that is not a prediction: {error!r:.200}") from error


def shortened(answer: str) -> str:
    """An answer as a prediction keeps it."""
    return answer if len(answer) <= _ANSWER else f"{answer[: _ANSWER - 1]}…"
