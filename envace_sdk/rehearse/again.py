"""What reads were answered since anything was written: asked again, they are answered the same.

A read may bring things into a world that was unknown before. What they are is so from then on, but what other reads
have been answered already stays, until something is written.
"""

from __future__ import annotations

import json
from typing import Final

from envace_sdk.json import UNSET, Json
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.clock import clock_text
from envace_sdk.world.state import State

from .base import Rehearsal
from .fixtures import call_digest

__all__ = ["answered_again", "with_answer"]

_NAME: Final = "rehearse.again/"
_SLOTS: Final = 256
"""Answers that are kept, at most."""
_LONGEST: Final = 20_000
"""Characters of one that is kept."""
_REASON: Final = "answered so before, and nothing was written since"


def with_answer(call: ToolCall, rehearsal: Rehearsal, state: State) -> State:
    """The state that remembers how a read was answered."""
    result = rehearsal.result
    row: Json = {
        "call": call_digest(call),
        "at": clock_text(state.clock),
        "layer": rehearsal.layer,
        "outcome": rehearsal.outcome,
        "confidence": rehearsal.confidence,
        "content": [dict(block) for block in result.content],
        "is_error": result.is_error,
    }
    if result.structured is not UNSET:
        row["structured"] = result.structured
    try:
        text = json.dumps(row, separators=(",", ":"))
    except RecursionError:
        return state
    if len(text) > _LONGEST or result.fault is not None:
        return state
    return state.replace(history=state.history.set(_slot(call), text))


def answered_again(call: ToolCall, state: State) -> Rehearsal | None:
    """The answer that the same read was given since anything was written; None where there is none."""
    text = state.history.get(_slot(call))
    if text is None:
        return None
    try:
        row = json.loads(text)
        if row["call"] != call_digest(call) or row["at"] != clock_text(state.clock):
            return None
        result = ToolResult(tuple(row["content"]), row.get("structured", UNSET), is_error=row["is_error"])
        return Rehearsal(result, state, row["layer"], row["outcome"], row["confidence"], _REASON)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None  # a snapshot may hold anything


def _slot(call: ToolCall) -> str:
    return f"{_NAME}{int(call_digest(call)[:8], 16) % _SLOTS}"
