"""A call in the middle of its episode."""

from __future__ import annotations

from dataclasses import dataclass, field

from envace_sdk.json import Json

from .belief import Belief
from .episodes import Step
from .failures import Failure
from .roles import Cast

__all__ = ["Moment"]


@dataclass(eq=False, slots=True)
class Moment:
    """A call, with what was known before it and after it."""

    step: Step
    cast: Cast
    scope: dict[str, Json]
    keys: dict[str, Json]
    belief: Belief
    """As it was before the call when this is handed out, and goes on to change."""
    after: dict[str, Json] = field(default_factory=dict)
    """The scope after the call, by the effects that are known and without what the answer shows."""
    existed: dict[str, bool | None] = field(default_factory=dict)
    """By name, whether the thing existed before; None: nobody has said."""
    failure: Failure | None = None
    """How the call failed."""
    things: dict[str, dict[str, dict[str, Json]]] = field(default_factory=dict)
    """By kind and key, what was known of all things of the kinds that are listed."""
    counts: dict[str, Json] = field(default_factory=dict)
    """`total`: how many things the answer lists."""
