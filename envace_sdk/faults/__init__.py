"""Fault plans: which calls fail, how, and when, so that an agent's handling of errors can be tested at will."""

from __future__ import annotations

from .kinds import Disconnect, Error, Fault, Latency, Malformed, NotFound, Permission, RateLimit, Timeout
from .malform import malform
from .plan import FaultPlan, fault_plan
from .presets import PRESETS
from .schedule import Schedule, Strike

__all__ = [
    "PRESETS",
    "Disconnect",
    "Error",
    "Fault",
    "FaultPlan",
    "Latency",
    "Malformed",
    "NotFound",
    "Permission",
    "RateLimit",
    "Schedule",
    "Strike",
    "Timeout",
    "fault_plan",
    "malform",
]
