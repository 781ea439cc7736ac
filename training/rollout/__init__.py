"""Rollouts: trajectories of acts and responses, and the rows that an update is made of."""

from ..trajectory import Ending, Trajectory, Turn, rows_of
from .collect import Case, RolloutSource
from .lockstep import LockStep
from .schedule import source_of
from .scripts import Script
from .stage import Stage, ToolClient, ToolClients

__all__ = [
    "Case",
    "Ending",
    "LockStep",
    "RolloutSource",
    "Script",
    "Stage",
    "ToolClient",
    "ToolClients",
    "Trajectory",
    "Turn",
    "rows_of",
    "source_of",
]
