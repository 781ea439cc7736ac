"""All that a policy may look at when it judges an action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from envace_sdk.json import Json
from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

from .action import Action
from .prediction import Prediction
from .record import TrackRecord
from .risk import Risk, hints

__all__ = ["Case"]


@dataclass(frozen=True)
class Case:
    """An action with everything that is known about it."""

    action: Action
    prediction: Prediction = field(default_factory=Prediction)
    risk: Risk = field(default_factory=Risk)
    recall: Callable[[], TrackRecord] = TrackRecord
    """Looks the track record up; it is asked only where a rule wants to know."""
    tool: Tool | None = None
    """None: the toolset has none of that name."""
    state: State = field(default_factory=State)
    """The world as the guard knows it, before the action."""
    dynamics: Dynamics | None = None

    @cached_property
    def record(self) -> TrackRecord:
        """How often the predictions for this tool came true."""
        return self.recall()

    @cached_property
    def annotations(self) -> Mapping[str, Json]:
        """What the server hints."""
        return hints(self.action, self.tool)

    @cached_property
    def names(self) -> Mapping[str, Json]:
        """The names that a CEL condition can use, besides `record`, `world` and `now`."""
        predicted = self.prediction
        changes = predicted.change
        return {
            "tool": self.action.tool,
            "server": self.action.server,
            "thread": self.action.thread,
            "args": dict(self.action.arguments),
            "annotations": dict(self.annotations),
            "prediction": {
                "status": predicted.status,
                "confidence": predicted.confidence,
                "disagreement": predicted.disagreement,
                "layer": predicted.layer,
                "kind": predicted.kind,
                "samples": predicted.samples,
                "diff": str(changes),
                "changes": [
                    {
                        "kind": change.kind,
                        "collection": change.collection,
                        "key": change.key,
                        "fields": sorted(change.fields),
                    }
                    for change in changes.changes
                ],
            },
            "risk": self.risk.as_json(),
        }
