"""What a trajectory earns: the task's checklist first, then what a judge says, then what the environment role adds.

A checklist has goals and guards. A goal does not hold when nothing is done; a guard does, and is only broken. So the
outcome is the weight of the goals reached, as a share, times the share of the guards kept: doing nothing earns nothing,
however much there is to be left alone. A task is solved when the user is told so: who never comes to an answer keeps a
part of the outcome.

Judged is the world in which the calls truly happened (see `rollout.stage`), never what a rehearsal made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from envace_sdk.models import load_model
from envace_sdk.tasks import Episode, ItemScore, JudgedItem, Task, judge

from .grounding import agreement, fits_schema
from .judge import Judge
from .rollout_config import RewardConfig
from .trajectory import Trajectory

__all__ = ["Outcome", "Rewarder", "outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended."""

    goals: float
    """Weight of the goals reached, as a share of all."""
    guards: float
    """Weight of the guards kept, as a share of all; 1 where there are none."""
    solved: bool

    @property
    def share(self) -> float:
        """The reward of it, between 0 and 1; 1 exactly when solved."""
        return 1.0 if self.solved else min(self.goals * self.guards, 1.0)


def outcome(task: Task, episode: Episode, judged: Sequence[tuple[JudgedItem, bool]] = ()) -> Outcome:
    """How the task ended.

    Args:
        task: what was wanted.
        episode: what was done, and said.
        judged: the task's judged items, and whether they hold; they are goals.
    """
    idle = judge(task, Episode(episode.start, episode.start))
    done = judge(task, episode)
    goals = [(item.weight, item.passed) for item, before in _pairs(done.items, idle.items) if not before.passed]
    guards = [(item.weight, item.passed) for item, before in _pairs(done.items, idle.items) if before.passed]
    goals += [(item.weight, passed) for item, passed in judged]
    solved = done.solved and all(passed for _, passed in judged)
    return Outcome(_share(goals, 0.0), _share(guards, 1.0), solved)


class Rewarder:
    """Rewards trajectories.

    Args:
        config: the terms and their weights.
        judge: who judges what no condition can; without one such items are left out.
    """

    def __init__(self, config: RewardConfig | None = None, judge: Judge | None = None) -> None:
        self.config = config or RewardConfig()
        self._judge = judge

    @classmethod
    def load(cls, config: RewardConfig) -> Self:
        """With the judge that the configuration names. Raises: ModelError when it cannot be loaded."""
        named = config.judge
        if named is None:
            return cls(config)
        return cls(config, Judge(load_model(named.model), retries=named.retries, concurrency=named.concurrency))

    async def close(self) -> None:
        """Let go of the judge."""
        if self._judge is not None:
            await self._judge.close()

    async def mark(self, pairs: Sequence[tuple[Task, Trajectory]]) -> None:
        """Fill in the rewards. Where a judge was needed and not reached, the trajectory is masked instead.

        Args:
            pairs: trajectories, each with its task.
        """
        played = [(task, trajectory) for task, trajectory in pairs if trajectory.episode is not None]
        judged = await self._judged(played)
        for (task, trajectory), marks in zip(played, judged, strict=True):
            self._mark(task, trajectory, marks)

    def _mark(self, task: Task, trajectory: Trajectory, marks: Sequence[tuple[JudgedItem, bool | None]]) -> None:
        if trajectory.episode is None:
            return
        known = [(item, passed) for item, passed in marks if passed is not None]
        if len(known) < len(marks):
            trajectory.masked = trajectory.masked or "the judge cannot be reached"
        found = outcome(task, trajectory.episode, known)
        config = self.config
        is_answered = trajectory.ending == "answered"
        trajectory.solved = found.solved and is_answered and not trajectory.masked
        share = found.share if is_answered else found.share * config.unanswered
        reward = float(trajectory.solved) if config.outcome == "solved" else share
        trajectory.reward = reward
        trajectory.terms = {"outcome": reward, "goals": found.goals, "guards": found.guards}
        misread = {role: self._misread(trajectory, role) for role in ("act", "rehearse")}
        trajectory.terms |= {f"malformed_{role}": float(count) for role, count in misread.items()}
        schema, agrees = fits_schema(trajectory.turns), agreement(trajectory.turns)
        if schema is not None:
            trajectory.terms["rehearse_schema"] = schema
        if agrees is not None:
            trajectory.terms["rehearse_agreement"] = agrees
        trajectory.role_rewards = {
            "act": reward - config.malformed * misread["act"],
            "rehearse": reward
            - config.malformed * misread["rehearse"]
            + config.rehearse_schema * (schema or 0.0)
            + config.rehearse_agreement * (agrees or 0.0),
        }

    async def _judged(self, played: Sequence[tuple[Task, Trajectory]]) -> list[list[tuple[JudgedItem, bool | None]]]:
        if self._judge is None:
            return [[] for _ in played]
        asked = [(task, trajectory, item) for task, trajectory in played for item in task.judged]
        answers = iter(await self._judge.ask([(task, trajectory, item.question) for task, trajectory, item in asked]))
        return [[(item, next(answers)) for item in task.judged] for task, _ in played]

    @staticmethod
    def _misread(trajectory: Trajectory, role: str) -> int:
        return sum(bool(turn.problem) for turn in trajectory.turns if turn.role == role and turn.is_sampled)


def _pairs(done: Sequence[ItemScore], idle: Sequence[ItemScore]) -> list[tuple[ItemScore, ItemScore]]:
    return list(zip(done, idle, strict=True))


def _share(items: Sequence[tuple[float, bool]], empty: float) -> float:
    total = sum(weight for weight, _ in items)
    return sum(weight for weight, passed in items if passed) / total if total else empty
