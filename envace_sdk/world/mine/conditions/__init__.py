"""Conditions: why some calls went one way and others another.

`separate` finds the simplest condition that tells two sets of scopes apart, `decide` an ordered list of conditions for
several outcomes. Where what tells them apart is nowhere to be seen, `hidden_flags`, `registers` and
`chosen_registers` find what the session must be holding, and `follow` says what it holds before each call.
"""

from __future__ import annotations

from .choices import chosen_registers
from .decisions import DecisionList, Rule, decide
from .flags import hidden_flags
from .following import after, follow
from .registers import registers
from .separation import Condition, separate
from .session import Event, Flag, Reading, Register, Trigger, Update

__all__ = [
    "Condition",
    "DecisionList",
    "Event",
    "Flag",
    "Reading",
    "Register",
    "Rule",
    "Trigger",
    "Update",
    "after",
    "chosen_registers",
    "decide",
    "follow",
    "hidden_flags",
    "registers",
    "separate",
]
