"""A run's tasks, as they are played in a worker of verl: one trajectory at a time, all in one event loop."""

from __future__ import annotations

import asyncio
from copy import copy
from pathlib import Path
from typing import Any

from envace_sdk.errors import TrainingError

from ...rewards import Rewarder
from ...rollout import Case, RolloutSource, Trajectory, source_of
from ...rows import ROLES
from ...run.job import Job
from ...run.warm import examples
from ...tasks import SPLITS
from ...tokens import ModelTokens
from .model import ServedPolicy

__all__ = ["Rollouts"]


class Rollouts:
    """Plays tasks of a run that was begun.

    Args:
        directory: of the run; every machine must see it.
        tokenizer: of the model.

    Raises:
        TrainingError: there is no such run; EnvaceError: its tasks or toolsets cannot be read.
    """

    def __init__(self, directory: Path, tokenizer: Any) -> None:
        self.job = Job.found(directory)
        self._tokens = ModelTokens(ServedPolicy(None, tokenizer, {}, 0))
        cases = self.job.material.cases
        self._cases: dict[str, Case] = {case.name: case for split in SPLITS for case in cases.get(split, ())}
        self._rewarder = Rewarder.load(self.job.config.rewards)
        self._source: asyncio.Task[RolloutSource] | None = None

    async def play(self, name: str, policy: ServedPolicy, *, step: int, place: int, held_out: bool) -> Trajectory:
        """One trajectory, rewarded.

        Args:
            name: of the task, with its toolset.
            policy: who acts and rehearses.
            step: how many updates there have been, for the schedule of sources.
            place: the task's place in the data, for the draws of `rollout.schedule.mix`.
            held_out: the task is for measuring: the environment's ladder answers.

        Raises:
            TrainingError: the run has no such task; ModelError: the policy cannot be asked.
        """
        case = self._cases.get(name)
        if case is None:
            raise TrainingError(f"{self.job.directory}: the run has no task {name!r}; were the data made for another?")
        if self._source is None:
            self._source = asyncio.ensure_future(self._make_source(policy))
        source = copy(await self._source)
        source.models = dict.fromkeys(ROLES, policy)
        schedule = self.job.config.rollout.schedule
        who = "grounded" if held_out else source_of(schedule, step, place, self.job.config.seed)
        (trajectory,) = await source.collect([case], step, source=who)
        return trajectory

    async def _make_source(self, policy: ServedPolicy) -> RolloutSource:
        """What all trajectories share: prompts, examples, the rewarder. verl itself counts the group."""
        config = self.job.config
        return RolloutSource(
            policy,
            config.rollout.model_copy(update={"group": 1}),
            self._rewarder,
            examples=await examples(self.job.material, config),
            seed=config.seed,
            rendering=config.rendering,
            tokens=self._tokens,
        )
