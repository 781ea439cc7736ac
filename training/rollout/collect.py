"""Rollouts of many tasks at once: G trajectories each, forks of one world, one batch for all that wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envace_sdk.errors import TrainingError, UpstreamError
from envace_sdk.models import ChatModel, Message
from envace_sdk.rehearse.environment import Environment
from envace_sdk.rehearse.prompting import PromptSettings, RehearsalPrompts
from envace_sdk.roles import tool_format
from envace_sdk.tasks import Task, start_state
from envace_sdk.tools.model import Tool
from envace_sdk.world.state import State

from ..rewards import Rewarder
from ..rollout_config import NAME_IT, RolloutConfig, Source
from ..rows import Role
from ..segments import Rendering
from ..tokens import ChatTokens
from ..trajectory import Trajectory
from .lockstep import LockStep
from .player import Player
from .real import real_clients
from .schedule import source_of
from .scripts import Script, SplitScript
from .stage import Stage, ToolClient, ToolClients
from .stream import StreamScript

__all__ = ["Case", "RolloutSource"]


@dataclass(frozen=True, slots=True)
class Case:
    """A task, and the environment it is for."""

    environment: Environment
    task: Task

    @property
    def name(self) -> str:
        """The task's name among those of all toolsets."""
        return f"{self.environment.toolset.name}/{self.task.id}"

    @property
    def tools(self) -> dict[str, Tool]:
        """By name, the tools that are shown."""
        shown = self.task.tools
        return {tool.name: tool for tool in self.environment.toolset if shown is None or tool.name in shown}


class RolloutSource:
    """Makes trajectories, and rewards them.

    Args:
        models: who is asked; one model for both roles, or one for each.
        config: limits, prompts and the schedule.
        rewarder: what trajectories earn.
        clients: by toolset, how a real environment is opened, where not as `config.real` says.
        examples: by toolset, whole conversations that the acting role is shown first.
        seed: of everything random here; the models' sampling is seeded by it too.
        rendering: `split` or `stream`.
        tokens: of the model; `stream` needs them.

    Raises:
        TrainingError: the schedule asks for a real server, and there is none; a stream, and there are no tokens, two
            models, or several calls in an act.
    """

    def __init__(
        self,
        models: ChatModel | Mapping[Role, ChatModel],
        config: RolloutConfig,
        rewarder: Rewarder,
        *,
        clients: Mapping[str, ToolClients] | None = None,
        examples: Mapping[str, Sequence[Sequence[Message]]] | None = None,
        seed: int = 0,
        rendering: Rendering = "split",
        tokens: ChatTokens | None = None,
    ) -> None:
        self._clients: Mapping[str, ToolClients] = {**real_clients(config.real), **(clients or {})}
        if config.schedule.needs_real and not self._clients:
            raise TrainingError(f"rollout.schedule asks for a real server, and none was given: {NAME_IT}")
        self.models: Mapping[Role, ChatModel] = (
            models if isinstance(models, Mapping) else {"act": models, "rehearse": models}
        )
        self.config = config
        self.rewarder = rewarder
        self._examples = examples or {}
        self._seed = seed
        self._tokens = None
        self.rendering = rendering
        if rendering == "stream":
            if tokens is None or self.models["act"] is not self.models["rehearse"]:
                raise TrainingError("rendering: stream needs one model for both roles that says which tokens it uses")
            if config.max_calls > 1:
                raise TrainingError(f"rendering: stream has one call an act; rollout.max_calls is {config.max_calls}")
            self._tokens = tokens
        self._form = tool_format(config.format)
        self._prompts: dict[int, RehearsalPrompts] = {}
        self.batches: list[int] = []
        """How large the batches of the last collection were."""

    async def collect(
        self,
        cases: Sequence[Case],
        policy_version: int = 0,
        *,
        step: int | None = None,
        source: Source | None = None,
        first: int = 0,
    ) -> list[Trajectory]:
        """G trajectories for each case, rewarded; those of a case follow each other.

        Args:
            cases: what is attempted.
            policy_version: how many updates the weights have seen.
            step: for the schedule; by default the policy's version.
            source: instead of the schedule's.
            first: the place of the first case among all of the step, where others attempt the rest.

        Raises:
            TrainingError: a real server is wanted for a toolset that has none; TaskError: a task's world does not fit.
            ModelError: a model cannot be run.
        """
        lockstep = LockStep(self.models)
        players: list[Player] = []
        opened: list[ToolClient] = []
        try:
            for group, case in enumerate(cases, first):
                chosen = source or source_of(
                    self.config.schedule, policy_version if step is None else step, group, self._seed
                )
                start = start_state(case.environment, case.task)
                for sample in range(self.config.group):
                    trajectory = Trajectory(case.name, sample, chosen, policy_version)
                    client = await self._opened(case, sample, trajectory, opened) if chosen == "real" else None
                    players.append(self._player(case, start, trajectory, (group, sample), lockstep, client))
            await lockstep.run([player.play() for player in players if not player.trajectory.masked])
        finally:
            for client in opened:
                await client.close()
        self.batches = lockstep.batches
        await self.rewarder.mark([(player.task, player.trajectory) for player in players])
        return [player.trajectory for player in players]

    async def _opened(
        self, case: Case, sample: int, trajectory: Trajectory, opened: list[ToolClient]
    ) -> ToolClient | None:
        clients = self._clients.get(case.environment.toolset.name)
        if clients is None:
            toolset = case.environment.toolset.name
            raise TrainingError(f"there is no real server for the toolset {toolset!r}: {NAME_IT}")
        try:
            client = await clients.open(case.task, sample)
        except UpstreamError as error:
            trajectory.masked = f"the real server cannot be opened: {error}"
            return None
        opened.append(client)
        return client

    def _player(
        self,
        case: Case,
        start: State,
        trajectory: Trajectory,
        place: tuple[int, int],
        lockstep: LockStep,
        client: ToolClient | None,
    ) -> Player:
        tools = case.tools
        return Player(
            case.task,
            tools,
            Stage(case.environment, case.task, start),
            self.script(case, list(tools.values())),
            lockstep,
            self.config,
            trajectory,
            place,
            f"{self._seed}/{trajectory.policy_version}",
            client,
        )

    def script(self, case: Case, tools: Sequence[Tool]) -> Script:
        """How a trajectory of the case is put to the model."""
        examples = self._examples.get(case.environment.toolset.name, ())
        if self._tokens is not None:
            return StreamScript(tools, self._form, self.config, self._tokens, examples)
        prompts = self.prompts(case.environment)
        return SplitScript(tools, self._form, self.config, prompts, examples)

    def prompts(self, environment: Environment) -> RehearsalPrompts:
        """The rehearsing role's prompts for a toolset."""
        found = self._prompts.get(id(environment))
        if found is None:
            config = self.config
            settings = PromptSettings(
                config.style, config.recorded, config.entities, config.history, config.prompt_characters
            )
            found = RehearsalPrompts(environment.dynamics, environment.seen, settings)
            self._prompts[id(environment)] = found
        return found
