"""What happened in one attempt at a task: the calls, the world before and after, the final answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envace_sdk.json import Json
from envace_sdk.rehearse.base import Layer, Outcome, Rehearsal
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.state import State

__all__ = ["CallRecord", "Episode"]


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call and what it came to."""

    tool: str
    arguments: Mapping[str, Json]
    outcome: Outcome = "success"
    is_error: bool = False
    result: Json = None
    """The answer as data: structured content, else the text as JSON, else the text."""
    layer: Layer | None = None
    """What kind of evidence the answer rests on; None where the call was not rehearsed."""

    @classmethod
    def of(cls, call: ToolCall, rehearsal: Rehearsal) -> CallRecord:
        """The record of a rehearsed call."""
        result = rehearsal.result
        return cls(call.name, call.arguments, rehearsal.outcome, result.is_error, result.value(), rehearsal.layer)

    def as_json(self) -> dict[str, Json]:
        """As checklists see it, in `calls`."""
        return {
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "outcome": self.outcome,
            "is_error": self.is_error,
            "result": self.result,
        }


@dataclass(frozen=True, slots=True)
class Episode:
    """One attempt, from start to final answer."""

    start: State
    final: State
    calls: Sequence[CallRecord] = ()
    answer: str = ""
