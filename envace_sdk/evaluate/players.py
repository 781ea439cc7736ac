"""Who answers: anything that can be asked the calls of an episode, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from envace_sdk.tools.model import ToolCall, ToolResult

__all__ = ["MISS", "Played", "Player", "Session"]

MISS = "miss"
"""The layer of an answer that is none: the player has nothing to say to the call. It counts as an error."""


@dataclass(frozen=True, slots=True)
class Played:
    """A player's answer to one call."""

    result: ToolResult
    layer: str = ""
    """What the answer rests on, in the player's own words; of an environment, the layer of its ladder."""
    confidence: float | None = None
    """How sure the player is to answer as the real environment would; None where it does not say."""

    @classmethod
    def miss(cls, why: str) -> Played:
        """Nothing to say: an error with the reason."""
        return cls(ToolResult.text(why, is_error=True), MISS)


class Session(Protocol):
    """One episode, as a player plays it."""

    async def answer(self, call: ToolCall) -> Played:
        """Answer the call, and go on from there as if it had happened so."""
        ...

    async def observe(self, call: ToolCall, result: ToolResult) -> None:
        """Learn what the call that was answered last really returned, and go on from that instead."""
        ...


class Player(Protocol):
    """An environment, a way of replaying recordings, a language model."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    async def start(self, episode: str) -> Session:
        """Begin an episode, in a world that no other has touched."""
        ...
