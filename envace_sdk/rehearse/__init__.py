"""Rehearsing: one answer per call, from the strongest evidence there is, labelled with it."""

from .base import Context, Delivery, Layer, Outcome, Rehearsal, Rehearser
from .environment import Environment
from .faults import deliver
from .ladder import Ladder
from .worlds import Worlds

__all__ = [
    "Context",
    "Delivery",
    "Environment",
    "Ladder",
    "Layer",
    "Outcome",
    "Rehearsal",
    "Rehearser",
    "Worlds",
    "deliver",
]
