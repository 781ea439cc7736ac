"""A fixture: one call that was observed on the real server, with its result."""

from __future__ import annotations

from dataclasses import dataclass

from .model import ToolCall, ToolResult

__all__ = ["Fixture"]


@dataclass(frozen=True, slots=True)
class Fixture:
    """One observed call with its result.

    `episode` names the session it was seen in and `position` its place there, from 0:
    what was true then depends on the writes recorded before it in the same episode.
    """

    call: ToolCall
    result: ToolResult
    episode: str = "default"
    position: int = 0
