"""Rehearsing: one answer per call, from the strongest evidence there is, labelled with it."""

from .base import Context, Layer, Outcome, Rehearsal, Rehearser
from .environment import Environment
from .ladder import Ladder
from .worlds import Worlds

__all__ = ["Context", "Environment", "Ladder", "Layer", "Outcome", "Rehearsal", "Rehearser", "Worlds"]
