"""An attempt at a task, call by call: what a witness and a policy have in common."""

from __future__ import annotations

from datetime import datetime

from envace_sdk.errors import TaskError, UnknownToolError, WorldError
from envace_sdk.rehearse.environment import Environment
from envace_sdk.rehearse.histories import note_changes
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.keys import key_of, key_text
from envace_sdk.world.plain import check_json
from envace_sdk.world.state import State
from envace_sdk.world.world import World

from .episode import CallRecord, Episode
from .model import Task

__all__ = ["Attempt", "start_state"]


def start_state(environment: Environment, task: Task, *, seed: int | None = None) -> State:
    """The state in which a task begins: the environment's start, changed as the task says.

    Args:
        environment: whose tools the task is for.
        task: the task.
        seed: instead of the task's own.

    Raises:
        TaskError: the task's changes do not fit the environment: no such collection, no key, nothing to remove, an
            entity nested too deeply.
    """
    changes = task.world
    clock: datetime | None = changes.clock
    before = environment.world(task.id, seed=changes.seed if seed is None else seed, clock=clock).state
    state = before
    for collection, keys in changes.remove.items():
        for key in keys:
            if state.get(collection, key_text(key)) is None:
                raise TaskError(f"task {task.id!r}: world.remove: there is no {collection}/{key_text(key)}")
            state = state.remove(collection, key_text(key))
    for collection, documents in changes.put.items():
        rule = environment.dynamics.collections.get(collection)
        if rule is None:
            known = ", ".join(sorted(environment.dynamics.collections)) or "none"
            raise TaskError(f"task {task.id!r}: world.put: there is no collection {collection!r} (there are: {known})")
        for position, document in enumerate(documents):
            place = f"task {task.id!r}: world.put.{collection}.{position}"
            try:
                check_json(document, place)
            except WorldError as error:
                raise TaskError(str(error)) from None
            text = key_of(document, rule.key)
            if text is None:
                raise TaskError(f"{place}: it has no {rule.key!r}")
            state = state.put(collection, text, document)
    return note_changes(before, state)


class Attempt:
    """One attempt at a task, on a world of its own.

    Args:
        environment: whose tools are called.
        task: what is attempted.
        seed: of the world, instead of the task's own.
        start: where it begins, if that is known already (`start_state`): many attempts can share it.

    Raises:
        TaskError: the task's world does not fit the environment.
    """

    def __init__(
        self, environment: Environment, task: Task, *, seed: int | None = None, start: State | None = None
    ) -> None:
        self.task = task
        self.world = World(task.id, start_state(environment, task, seed=seed) if start is None else start)
        self.calls: list[CallRecord] = []
        self._environment = environment
        self._start = self.world.state

    async def call(self, call: ToolCall) -> ToolResult:
        """Rehearse a call on the attempt's world, and record it. An unknown tool is answered with an error.

        Raises:
            DynamicsError, UnsatisfiableError: the environment is at fault; see `Environment.call`.
        """
        try:
            rehearsal = await self._environment.call(self.world, call)
        except UnknownToolError as error:
            self.calls.append(
                CallRecord(call.name, call.arguments, "validation_error", is_error=True, result=str(error))
            )
            return ToolResult.text(str(error), is_error=True)
        self.calls.append(CallRecord.of(call, rehearsal))
        return rehearsal.result

    def episode(self, answer: str = "") -> Episode:
        """What has happened up to now, with the final answer."""
        return Episode(self._start, self.world.state, tuple(self.calls), answer)
