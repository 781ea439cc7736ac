"""From an episode to a score: which items of the checklist hold, and the reward that comes to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from envace_sdk.errors import ExpressionError
from envace_sdk.json import Json
from envace_sdk.world.state import State

from .checklist import Scene, compile_condition
from .episode import CallRecord, Episode
from .model import ChecklistItem, Task
from .why import why_not

__all__ = ["ItemScore", "Score", "evaluate", "judge"]


@dataclass(frozen=True, slots=True)
class ItemScore:
    """Whether one item of the checklist holds."""

    id: str
    says: str
    weight: float
    passed: bool
    reason: str = ""
    """Why not; "" when it holds."""
    broken: bool = False
    """Whether it failed because it cannot be told, which is the fault of the item rather than of the attempt."""

    def as_json(self) -> dict[str, Json]:
        """As plain JSON."""
        return {
            "id": self.id,
            "says": self.says,
            "weight": self.weight,
            "passed": self.passed,
            "reason": self.reason,
            "broken": self.broken,
        }


@dataclass(frozen=True, slots=True)
class Score:
    """What an episode is worth."""

    items: tuple[ItemScore, ...]

    @property
    def solved(self) -> bool:
        """Whether every item holds."""
        return all(item.passed for item in self.items)

    @property
    def reward(self) -> float:
        """The weight of the items that hold, as a share of all; from 0.0 to 1.0, which it is exactly when solved."""
        if self.solved:
            return 1.0
        # Measured against the largest, so that no weights, however large, add up to infinity.
        largest = max(item.weight for item in self.items)
        share = math.fsum(item.weight / largest for item in self.items if item.passed)
        return min(share / math.fsum(item.weight / largest for item in self.items), math.nextafter(1.0, 0.0))

    def as_json(self) -> dict[str, Json]:
        """As plain JSON."""
        return {"solved": self.solved, "reward": self.reward, "items": [item.as_json() for item in self.items]}


def evaluate(task: Task, start: State, final: State, calls: Sequence[CallRecord], answer: str = "") -> Score:
    """Score an episode by the task's checklist. Never raises: an item that cannot be told has failed, with the reason.

    Args:
        task: whose checklist is meant.
        start: the world before the first call.
        final: the world after the last.
        calls: what was called, in order.
        answer: the final answer to whoever gave the task.
    """
    return judge(task, Episode(start, final, calls, answer))


def judge(task: Task, episode: Episode) -> Score:
    """`evaluate`, of an episode."""
    scene = Scene(episode)
    return Score(tuple(_item(item, scene) for item in task.checklist))


def _item(item: ChecklistItem, scene: Scene) -> ItemScore:
    try:
        condition = compile_condition(item.that)
        passed = scene.holds(condition)
    except ExpressionError as error:
        return ItemScore(item.id, item.says, item.weight, passed=False, reason=str(error), broken=True)
    reason = "" if passed else why_not(condition.node, scene.scope())
    return ItemScore(item.id, item.says, item.weight, passed, reason)
