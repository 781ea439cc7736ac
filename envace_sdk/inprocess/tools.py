"""The tools of a world as plain functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from envace_sdk.errors import ToolCallError, UnknownToolError
from envace_sdk.faults import FaultPlan, fault_plan
from envace_sdk.json import Json
from envace_sdk.rehearse import Environment, Rehearsal
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.state import State

from .running import Call, NotedWorlds, run
from .signature import describe

if TYPE_CHECKING:
    from .openai import OpenAIFunctions

__all__ = ["Call", "RehearsedTools"]


class RehearsedTools:
    """One world of an environment, and its tools as functions: `await tools["get_order"](order_id="W-1")`.

    A function takes the tool's arguments by keyword and gives the answer as data. It raises `ToolCallError` where the
    tool answers with an error, and what `Environment.call` raises, lost answers of a fault plan among it.

    Args:
        worlds: of the environment; may be called from any thread.
        name: of the world.
    """

    def __init__(self, worlds: NotedWorlds, name: str = "default") -> None:
        self.worlds = worlds
        self.name = name
        worlds.get(name)

    @classmethod
    def load(
        cls,
        source: str | Path | Toolset | Environment,
        *,
        seed: int = 0,
        clock: datetime | None = None,
        faults: str | Path | Mapping[str, Json] | FaultPlan | None = None,
        **options: Any,
    ) -> Self:
        """A new world of a toolset.

        Args:
            source: whatever `Environment.load` takes, or an environment.
            seed: of the world.
            clock: when it begins.
            faults: a plan, a preset's name, a file, or plain data.
            options: as `Environment.load` has them.

        Raises:
            EnvaceError: a file is wrong; the message names it.
        """
        environment = source if isinstance(source, Environment) else Environment.load(source, **options)
        plan = fault_plan(faults)
        schedule = None if plan is None else environment.schedule(plan)
        return cls(NotedWorlds(environment, seed=seed, clock=clock, faults=schedule))

    @property
    def environment(self) -> Environment:
        """What the world is one of."""
        return self.worlds.environment

    @property
    def state(self) -> State:
        """The world as it is now; it never changes, and can be kept to go back to."""
        return self.worlds.get(self.name).snapshot()

    @property
    def calls(self) -> list[Call]:
        """What was called in this world so far, whichever way, oldest first."""
        return [call for call in self.worlds.calls if call.world == self.name]

    def __iter__(self) -> Iterator[str]:
        return (tool.name for tool in self.environment.toolset)

    def __len__(self) -> int:
        return len(self.environment.toolset)

    def __contains__(self, name: object) -> bool:
        return name in self.environment.toolset

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """The tool as an async function. Raises: UnknownToolError."""
        return self._function(name, is_async=True)

    def sync(self, name: str) -> Callable[..., Any]:
        """The tool as a function that blocks; do not call it from an event loop with calls still under way there.

        Raises:
            UnknownToolError: there is none of that name.
        """
        return self._function(name, is_async=False)

    async def call(self, name: str, arguments: Mapping[str, Json] | None = None) -> Rehearsal:
        """Call a tool; error results are answers like any other, and the label is in `result.meta`.

        Raises:
            EnvaceError: as `Environment.call`.
        """
        return await self.worlds.call(self.name, ToolCall(name, dict(arguments or {})))

    def call_sync(self, name: str, arguments: Mapping[str, Json] | None = None) -> Rehearsal:
        """As `call`, blocking."""
        return run(self.call(name, arguments))

    def openai(self, api: Literal["chat", "responses"] = "chat") -> OpenAIFunctions:
        """The tools as OpenAI function specs, with an executor for what a model calls."""
        from .openai import OpenAIFunctions

        return OpenAIFunctions(self, api)

    def fork(self, name: str) -> RehearsedTools:
        """The tools of a copy of this world, which goes its own way. Raises: WorldError if the name is taken."""
        self.worlds.fork(self.name, name)
        return RehearsedTools(self.worlds, name)

    def reset(self) -> None:
        """Take the world back to where it began."""
        self.worlds.get(self.name).reset()

    def restore(self, state: State) -> None:
        """Take the world to a state that was kept earlier."""
        self.worlds.get(self.name).restore(state)

    def switch_faults(self, faults: str | Path | Mapping[str, Json] | FaultPlan | None) -> None:
        """From now on, calls meet the faults of this plan, counted anew; None or "off": none. Raises: FaultError."""
        run(self.worlds.switch_faults(self.name, fault_plan(faults)))

    def _function(self, name: str, *, is_async: bool) -> Callable[..., Any]:
        if name not in self:
            raise UnknownToolError(name)

        async def called(**arguments: Json) -> Json:
            return _value(name, await self.call(name, arguments))

        def blocking(**arguments: Json) -> Json:
            return _value(name, self.call_sync(name, arguments))

        return describe(called if is_async else blocking, self.environment.toolset[name])


def _value(name: str, rehearsal: Rehearsal) -> Json:
    """Raises: ToolCallError."""
    if rehearsal.result.is_error:
        raise ToolCallError(name, rehearsal.result.first_text, rehearsal.result.meta)
    return rehearsal.result.value()
