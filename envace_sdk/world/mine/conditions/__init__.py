"""Conditions: why some calls went one way and others another."""

from __future__ import annotations

from .decisions import DecisionList, Rule, decide
from .separation import Condition, separate

__all__ = ["Condition", "DecisionList", "Rule", "decide", "separate"]
