"""The world of one trajectory, in which calls truly happen, whatever the policy is shown of them.

A policy that rehearses can show itself any world it likes. So every call also happens here, by the environment's
ladder; the checklist is judged by this world, and nothing that was merely imagined counts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol

from envace_sdk.rehearse.base import Rehearsal
from envace_sdk.rehearse.environment import Environment
from envace_sdk.tasks import Attempt, CallRecord, Episode, Task
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.state import State
from envace_sdk.world.statuses import status_of

__all__ = ["Stage", "ToolClient", "ToolClients"]


class ToolClient(Protocol):
    """A connection to a real environment that nobody else uses meanwhile."""

    is_rehearsal: bool
    """Whether it has said of an answer that it is rehearsed, and so is no real environment."""

    async def call(self, call: ToolCall) -> ToolResult:
        """What the tool answers. Raises: UpstreamError when it cannot be asked."""
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


class ToolClients(Protocol):
    """Opens real environments, each in the state in which a task begins."""

    def open(self, task: Task, sample: int) -> Awaitable[ToolClient]:
        """A connection for one trajectory. Raises: UpstreamError when there can be none."""
        ...


class Stage:
    """The calls of one trajectory, and what they do.

    Args:
        environment: whose tools are called.
        task: what is attempted.
        start: the world it begins in, which its group shares.
    """

    def __init__(self, environment: Environment, task: Task, start: State) -> None:
        self.environment = environment
        self._attempt = Attempt(environment, task, start=start)
        self.latest: Rehearsal | None = None
        """What the ladder answered last."""

    @property
    def state(self) -> State:
        """The world as it is."""
        return self._attempt.world.state

    @property
    def calls(self) -> Sequence[CallRecord]:
        """What has been called, with what it truly came to."""
        return self._attempt.calls

    async def rehearse(self, call: ToolCall) -> Rehearsal:
        """Let the call happen, by the ladder.

        Raises:
            EnvaceError: the environment is at fault.
        """
        rehearsal = await self.environment.call(self._attempt.world, call)
        self._attempt.calls.append(CallRecord.of(call, rehearsal))
        self.latest = rehearsal
        return rehearsal

    def observe(self, call: ToolCall, result: ToolResult) -> None:
        """The call has happened, in a real environment. Raises: EnvaceError when its effect cannot be told."""
        self._attempt.world.commit(self.environment.observe(self.state, call, result))
        outcome = status_of(result.first_text) if result.is_error else "success"
        value = result.value()
        self._attempt.calls.append(CallRecord(call.name, call.arguments, outcome, result.is_error, value))

    def refuse(self, call: ToolCall, why: str) -> ToolResult:
        """The call names no tool that is there."""
        self._attempt.calls.append(CallRecord(call.name, call.arguments, "validation_error", is_error=True, result=why))
        return ToolResult.text(why, is_error=True)

    def episode(self, answer: str) -> Episode:
        """What has happened."""
        return self._attempt.episode(answer)
