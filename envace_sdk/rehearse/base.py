"""The one-method contract of every layer that can answer a call, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, Protocol, runtime_checkable

from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.answer import Touch
from envace_sdk.world.dynamics import Dynamics, Status
from envace_sdk.world.state import State

__all__ = ["Context", "Delivery", "Layer", "Outcome", "Rehearsal", "Rehearser", "Teachable"]

Layer = Literal["arguments", "fault", "fixture", "dynamics", "model", "precedent", "schema"]
"""Which kind of evidence an answer rests on, strongest first; `arguments`: the call itself broke the schema;
`precedent`: calls like it were recorded; `fault`: a fault plan wanted it so."""

Outcome = Literal["success"] | Status
"""The predicted status of a call."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a rehearser may look at. It must not keep or change any of it."""

    tool: Tool
    state: State
    random: Random
    """Seeded by the world's seed, its version and the call: use no other source of chance."""
    history: Sequence[tuple[ToolCall, ToolResult]] = ()
    """Earlier calls on this world with their rehearsed results, oldest first; may be cut at the front."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How an answer travels: by the time it does, the call has happened, or has not, and stays so."""

    delay: float = 0.0
    """Seconds until it is sent."""
    lost: Literal["timeout", "disconnect"] | None = None
    """How it is lost instead of arriving."""
    bound: float | None = None
    """Of a timeout, the seconds after which the request fails; None: never."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A rehearsed answer with its provenance, and the state of the world after it.

    The state change is the difference between `Context.state` and `state`; a read returns the state it was given. Where
    things had to be invented, it is the difference between `supposed` and `state`.
    """

    result: ToolResult
    state: State
    layer: Layer
    outcome: Outcome = "success"
    confidence: float = 1.0
    """Probability, in the layer's own estimate, that the real server would answer the same."""
    reason: str = ""
    model: str | None = None
    prompt_hash: str | None = None
    writes: frozenset[Touch] | None = None
    """What the call wrote, where the layer knows; None: whatever differs between the states."""
    fixture: Fixture | None = None
    """The recorded call that was answered from, if one was."""
    unseen: frozenset[Touch] = frozenset()
    """Of a not-found error, what was looked for and was never in this world. Only of a world that is known whole does
    that say that it is missing."""
    told: str = ""
    """The recorded episode whose precedent the answer follows, if it follows one."""
    fault: str | None = None
    """The kind of the fault that a plan injected."""
    delivery: Delivery | None = None
    """How the answer travels; None: at once, and it arrives."""
    supposed: State | None = None
    """The state before the call with what was invented for it, as if it had always been there; None: nothing was."""


class Rehearser(Protocol):
    """Anything that can play the environment for one call."""

    async def rehearse(self, call: ToolCall, context: Context) -> Rehearsal | None:
        """Answer the call whole, or pass with None; a half answer is not allowed.

        Rehearsing is pure: it changes nothing, and the caller decides whether the returned state becomes the world's.
        """
        ...


@runtime_checkable
class Teachable(Protocol):
    """A rehearser that can be told of a toolset what its environment knows."""

    def knowing(self, dynamics: Dynamics, fixtures: Sequence[Fixture]) -> Rehearser:
        """The same rehearser for a toolset with these rules and recordings."""
        ...
