"""Tasks: what is asked, in which world, how success is told, and proof that it can be had."""

from .attempt import Attempt, start_state
from .check import CheckReport, Problem, TaskReport, check
from .episode import CallRecord, Episode
from .evaluate import ItemScore, Score, evaluate, judge
from .load import load_tasks
from .model import ChecklistItem, JudgedItem, Task, WitnessCall, WorldChanges

__all__ = [
    "Attempt",
    "CallRecord",
    "CheckReport",
    "ChecklistItem",
    "Episode",
    "ItemScore",
    "JudgedItem",
    "Problem",
    "Score",
    "Task",
    "TaskReport",
    "WitnessCall",
    "WorldChanges",
    "check",
    "evaluate",
    "judge",
    "load_tasks",
    "start_state",
]
