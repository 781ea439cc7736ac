"""A fixture: one request that was observed on the real server, with its answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from envace_sdk.recordings.format import Event

from .model import ToolCall, ToolResult

__all__ = ["TOOL_CALL", "Fixture"]

TOOL_CALL = "tools/call"


@dataclass(frozen=True, slots=True)
class Fixture:
    """One observed call with its result.

    `episode` names the session it was seen in and `position` its place there, from 0:
    what was true then depends on the writes recorded before it in the same episode.
    """

    call: ToolCall
    """Of a request that calls no tool: its method as the name, and its params as the arguments."""
    result: ToolResult
    episode: str = "default"
    position: int = 0
    method: str = TOOL_CALL
    notices: tuple[Event, ...] = ()
    """What the server sent before its answer, since the client was last asked something."""
    file: Path | None = field(default=None, compare=False)
    """The recording it was read from."""

    @property
    def is_call(self) -> bool:
        """Whether a tool was called."""
        return self.method == TOOL_CALL
