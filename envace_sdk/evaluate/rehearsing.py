"""An environment as a player."""

from __future__ import annotations

from envace_sdk.errors import EnvaceError
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.world import World

from .players import Played

__all__ = ["Rehearsing"]


class Rehearsing:
    """Plays an environment: each episode in a fresh world."""

    def __init__(self, environment: Environment, name: str = "") -> None:
        self.environment = environment
        self.name = name or environment.toolset.name

    async def start(self, episode: str) -> _RehearsedEpisode:
        """A fresh world, named like the episode."""
        return _RehearsedEpisode(self.environment, self.environment.world(episode))


class _RehearsedEpisode:
    def __init__(self, environment: Environment, world: World) -> None:
        self._environment = environment
        self._world = world
        self._before = world.snapshot()

    async def answer(self, call: ToolCall) -> Played:
        """As rehearsed. What cannot be rehearsed, such as a call that a wrong rule cannot compute, is a miss."""
        self._before = self._world.snapshot()
        try:
            rehearsal = await self._environment.call(self._world, call)
        except EnvaceError as error:
            return Played.miss(str(error))
        return Played(rehearsal.result, rehearsal.layer, rehearsal.confidence)

    async def observe(self, call: ToolCall, result: ToolResult) -> None:
        """Put the world where the call leads that was answered so; what cannot be made sense of changes nothing."""
        try:
            state = self._environment.observe(self._before, call, result)
        except EnvaceError:
            state = self._before
        self._world.restore(state)
