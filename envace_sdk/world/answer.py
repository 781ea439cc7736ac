"""What interpreting a call gives: the answer, the state after it, and what the answer is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from envace_sdk.json import Json

from .dynamics import Status, ToolRule
from .state import State

__all__ = ["Answer", "Emitted", "Touch"]

Touch = tuple[str, str | None]
"""Collection and key of an entity that was looked at or changed; None for the key: the whole collection."""


class Emitted(NamedTuple):
    """An entity that stands in an answer: where, and which."""

    pointer: tuple[str | int, ...]
    """The steps from the answer's root to it."""
    collection: str
    key: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one call. It may share documents with the state: neither may be changed in place.

    The state is not yet a version later: whoever commits it lets its clock tick.
    """

    value: Json
    """The answer as data, or its text; None for an error."""
    state: State
    """The state after the call; the very state before it when nothing changed."""
    rule: ToolRule
    is_text: bool = False
    outcome: Literal["success"] | Status = "success"
    error: str | None = None
    """The error text, if the call ends in one."""
    requirement: int | None = None
    """Which of the rule's requirements does not hold, if that is why the call ends in an error."""
    entities: tuple[Emitted, ...] = ()
    """The entities in `value`, whole or projected, for whoever completes them and writes that back."""
    reads: frozenset[Touch] = field(default=frozenset())
    writes: frozenset[Touch] = field(default=frozenset())
    minted: frozenset[tuple[str, str]] = field(default=frozenset())
    """Collection and key text of the entities that got a new key."""

    @property
    def touched(self) -> frozenset[Touch]:
        """What was read or written."""
        return self.reads | self.writes

    @property
    def confidence(self) -> float:
        """The rule's confidence."""
        return self.rule.confidence
