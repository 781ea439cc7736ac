"""What reads were answered since anything was written: asked again, they are answered the same.

A read may bring things into a world that was unknown before. What they are is so from then on, but what other reads
have been answered already stays, until something is written, or the real environment is seen to answer.
"""

from __future__ import annotations

import json
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from envace_sdk.evidence.label import strip_blocks
from envace_sdk.json import UNSET, Json
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.clock import clock_text
from envace_sdk.world.state import State

from .base import Layer, Outcome, Rehearsal
from .histories import call_digest

__all__ = ["answered_again", "forgotten", "with_answer"]

_NAME: Final = "rehearse.again/"
_SEEN: Final = "rehearse.again"
"""How often the real environment was seen to answer: what was rehearsed before holds no longer."""
_SLOTS: Final = 256
"""Answers that are kept, at most."""
_LONGEST: Final = 20_000
"""Characters of one that is kept."""
_DIGITS: Final = 16
_REASON: Final = "answered so before, and nothing was written since"


class _Kept(BaseModel):
    """One answer. A snapshot may hold anything in its place."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    call: str
    """The digest of the call."""
    at: str
    layer: Layer
    outcome: Outcome
    confidence: float = Field(ge=0.0, le=1.0)
    content: list[dict[str, Json]]
    structured: list[Json] = Field(default_factory=list, max_length=1)
    """The structured content, if there is any."""
    is_error: bool
    model: str | None = None
    prompt_hash: str | None = None
    unseen: list[Annotated[tuple[str, str | None], Field(strict=False)]] = Field(default_factory=list)


def with_answer(call: ToolCall, rehearsal: Rehearsal, state: State) -> State:
    """The state that remembers how a read was answered."""
    result = rehearsal.result
    if result.fault is not None:
        return state
    row: dict[str, Json] = {
        "call": call_digest(call),
        "at": _moment(state),
        "layer": rehearsal.layer,
        "outcome": rehearsal.outcome,
        "confidence": rehearsal.confidence,
        "content": [dict(block) for block in result.content],
        "structured": [] if result.structured is UNSET else [result.structured],
        "is_error": result.is_error,
        "model": rehearsal.model,
        "prompt_hash": rehearsal.prompt_hash,
        "unseen": sorted(rehearsal.unseen, key=str),
    }
    try:
        text = json.dumps(row, separators=(",", ":"))
    except RecursionError:
        return state
    if len(text) > _LONGEST:
        return state
    return state.replace(history=state.history.set(_slot(call), text))


def answered_again(call: ToolCall, state: State) -> Rehearsal | None:
    """The answer that the same read was given since anything was written; None where there is none."""
    text = state.history.get(_slot(call), "")
    if not text or len(text) > _LONGEST:
        return None
    try:
        kept = _Kept.model_validate(json.loads(text))
    except (ValueError, RecursionError):
        return None
    if kept.call != call_digest(call) or kept.at != _moment(state):
        return None
    return Rehearsal(
        ToolResult(
            strip_blocks(kept.content), kept.structured[0] if kept.structured else UNSET, is_error=kept.is_error
        ),
        state,
        kept.layer,
        kept.outcome,
        kept.confidence,
        _REASON,
        model=kept.model,
        prompt_hash=kept.prompt_hash,
        unseen=frozenset(kept.unseen),
    )


def forgotten(state: State) -> State:
    """The state after the real environment was seen to answer: it may have shown what no rehearsed answer knew."""
    return state.replace(history=state.history.set(_SEEN, f"{_seen(state) + 1}"))


def _moment(state: State) -> str:
    """What stays as it is until something is written, or seen of the real environment."""
    return f"{clock_text(state.clock)} {_seen(state)}"


def _seen(state: State) -> int:
    text = state.history.get(_SEEN, "0")
    return int(text) if text.isdecimal() and len(text) < _DIGITS else 0


def _slot(call: ToolCall) -> str:
    return f"{_NAME}{int(call_digest(call)[:8], 16) % _SLOTS}"
