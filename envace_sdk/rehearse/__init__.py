"""Rehearsing: one answer per call, from the strongest evidence there is, labelled with it."""

from typing import TYPE_CHECKING, Any

from .base import Context, Delivery, Layer, Outcome, Rehearsal, Rehearser
from .environment import Environment
from .faults import deliver
from .ladder import Ladder
from .worlds import Worlds

if TYPE_CHECKING:
    from .model import ModelRehearser

__all__ = [
    "Context",
    "Delivery",
    "Environment",
    "Ladder",
    "Layer",
    "ModelRehearser",
    "Outcome",
    "Rehearsal",
    "Rehearser",
    "Worlds",
    "deliver",
]


def __getattr__(name: str) -> Any:
    """The model layer, loaded when first asked for: most environments have none."""
    if name == "ModelRehearser":
        from .model import ModelRehearser

        return ModelRehearser
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
