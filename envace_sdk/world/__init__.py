"""Worlds: their state, and the dynamics that change it."""

from __future__ import annotations

from .diff import EntityChange, diff
from .dynamics import Dynamics
from .state import DEFAULT_CLOCK, Collection, State
from .world import World

__all__ = ["DEFAULT_CLOCK", "Collection", "Dynamics", "EntityChange", "State", "World", "diff"]
