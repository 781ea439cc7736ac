"""Rehearse a whole task in private, then carry it out once: test-time scaling of EnvACE (arXiv 2608.06197)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from envace_sdk.errors import GuardError, Refused
from envace_sdk.evidence.canonical import digest
from envace_sdk.evidence.framing import frame_rehearsal
from envace_sdk.json import Json
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall, ToolResult

from .action import Pass
from .attempts import Agent, Attempt, RehearsedCall, advice, attempt
from .budget import Account, spending
from .core import Guard
from .verdict import Outcome

__all__ = ["Condense", "TaskBudget", "TaskOutcome", "rehearse_then_commit"]

Condense: TypeAlias = Callable[[Sequence[Attempt]], Awaitable[str]]
"""Makes the text of the memory out of the attempts; a language model may do it."""

_MEMORY: Final = 12_000
"""Characters of a memory."""


@dataclass(frozen=True, slots=True)
class TaskBudget:
    """The bounds of all rehearsals of one task together. What is there when they are reached is used."""

    seconds: float = 120.0
    tokens: int | None = None
    """Of models that are wrapped in `MeteredModel`, the agent's and the environment's alike."""
    calls: int = 100
    """Of one attempt."""


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What came of a task."""

    answer: str
    """The agent's final answer in the committed run."""
    outcomes: tuple[Outcome, ...]
    """Of the actions that were really executed, in order."""
    attempts: tuple[Attempt, ...]
    """What was only rehearsed; empty where the memory came from an earlier pass."""
    memory: str
    """What the committed run was guided by."""


class _GuardedToolbox:
    """The tools of the committed run."""

    rehearsed = False

    def __init__(self, guard: Guard, execute: Callable[[ToolCall], Awaitable[ToolResult]], current: Pass) -> None:
        self.toolset = guard.environment.toolset
        self.outcomes: list[Outcome] = []
        self._guard = guard
        self._execute = execute
        self._pass = current

    async def __call__(self, name: str, arguments: Mapping[str, Json] | None = None) -> ToolResult:
        """Execute a call, if the guard lets it; a refusal is an error result that says so.

        Raises:
            ApprovalRequired, InDoubtError, EvidenceError: as `Guard.run`.
        """
        action = self._pass.action(name, arguments)
        try:
            outcome = await self._guard.run(action, lambda: self._execute(action.call))
        except Refused as refusal:
            return ToolResult.text("\n".join(filter(None, [str(refusal), refusal.prediction])), is_error=True)
        self.outcomes.append(outcome)
        return outcome.result


async def rehearse_then_commit(
    agent: Agent,
    task: str,
    environment: Environment | None = None,
    n: int = 2,
    mode: Literal["parallel", "sequential"] = "parallel",
    budget: TaskBudget | None = None,
    *,
    guard: Guard,
    execute: Callable[[ToolCall], Awaitable[ToolResult]],
    thread: str = "",
    turn: str = "",
    condense: Condense | None = None,
) -> TaskOutcome:
    """Have an agent rehearse a task n times on forks of the known world, then carry it out once, guided by a memory.

    In the committed run every call passes the guard. Where it raises `ApprovalRequired`, call this again with the same
    task, thread and turn once a person has decided: the memory is the one of the first time, nothing is rehearsed
    again, and calls that were executed are answered from the ledger.

    Args:
        agent: works on the task; it is called n + 1 times, and must begin anew each time.
        task: what is to be done.
        environment: rehearses; by default that of the guard.
        n: how many rehearsals; 0 for none.
        mode: `parallel`: independent of each other, at once. `sequential`: one after the other, each with the memory of
            those before it and of what to revise.
        budget: of the rehearsals.
        guard: judges the calls of the committed run; all rehearsals stand in its ledger as rehearsed.
        execute: executes a call for real.
        thread: the conversation.
        turn: tells this task from others with the same words in the same thread.
        condense: makes the memory; by default it lists calls, answers, changes, and what to revise.

    Raises:
        ApprovalRequired, InDoubtError, EvidenceError: as `Guard.run`.
        GuardError: n is negative.
        Whatever the agent raises in the committed run.
    """
    if n < 0:
        raise GuardError(f"n is {n}; a task is rehearsed 0 times or more")
    name = digest([thread, turn, task])
    rehearsals = _Rehearsals(agent, task, environment or guard.environment, guard, thread or "main", name)
    memory = await asyncio.to_thread(rehearsals.recalled)
    attempts: list[Attempt] = []
    if memory is None:
        attempts = await rehearsals.run(n, mode, budget or TaskBudget(), condense)
        memory = await rehearsals.remembered(attempts, condense)
    tools = _GuardedToolbox(guard, execute, Pass(thread, f"task/{name}"))
    answer = str(await agent(task, tools, memory))
    return TaskOutcome(answer, tuple(tools.outcomes), tuple(attempts), memory)


class _Rehearsals:
    def __init__(self, agent: Agent, task: str, environment: Environment, guard: Guard, run: str, name: str) -> None:
        self._agent = agent
        self._task = task
        self._environment = environment
        self._guard = guard
        self._run = run
        self._name = name

    async def run(
        self, n: int, mode: Literal["parallel", "sequential"], budget: TaskBudget, condense: Condense | None
    ) -> list[Attempt]:
        """The attempts that came to an end within the budget."""
        done: list[Attempt] = []
        account = Account(budget.tokens)
        with spending(account):
            work = (
                self._parallel(n, budget, done) if mode == "parallel" else self._sequential(n, budget, done, condense)
            )
            with suppress(TimeoutError):  # what has come to an end by then is used
                await asyncio.wait_for(work, budget.seconds)
        return sorted(done, key=lambda one: one.number)

    async def _parallel(self, n: int, budget: TaskBudget, done: list[Attempt]) -> None:
        async def one(number: int) -> None:
            done.append(await self._attempt(number, "", budget))

        # A group of tasks would wrap what pauses or cancels a run into an exception of its own.
        tasks = [asyncio.ensure_future(one(number)) for number in range(1, n + 1)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _sequential(self, n: int, budget: TaskBudget, done: list[Attempt], condense: Condense | None) -> None:
        for number in range(1, n + 1):
            memory = await _memory(done, condense)
            done.append(await self._attempt(number, memory, budget))

    async def _attempt(self, number: int, memory: str, budget: TaskBudget) -> Attempt:
        return await attempt(
            self._agent,
            self._task,
            self._environment,
            self._guard.world.state,
            number=number,
            memory=memory,
            most=budget.calls,
            note=self._noted,
        )

    async def _noted(self, number: int, place: int, made: RehearsedCall) -> None:
        body = {
            "tool": made.tool,
            "attempt": number,
            "task": self._name,
            "status": made.status,
            "layer": made.layer,
            "confidence": made.confidence,
        }
        payload = {"arguments": dict(made.arguments), "answer": made.answer}
        append = self._guard.ledger.append
        action = f"{self._name}/attempt/{number}/{place}"
        await asyncio.to_thread(append, self._run, "rehearsed", body, payload=payload, action=action)

    def recalled(self) -> str | None:
        """The memory of an earlier pass over the task, if there was one."""
        entry = self._guard.ledger.find(self._run, f"{self._name}/memory", "rehearsed")
        if entry is None:
            return None
        payload = self._guard.ledger.payload(entry)
        return str(payload["memory"]) if isinstance(payload, Mapping) else ""

    async def remembered(self, attempts: Sequence[Attempt], condense: Condense | None) -> str:
        """The memory of the attempts, which is in the ledger when this returns."""
        memory = await _memory(attempts, condense)
        body = {"task": self._name, "attempts": len(attempts), "memory": True}
        append = self._guard.ledger.append
        action = f"{self._name}/memory"
        await asyncio.to_thread(append, self._run, "rehearsed", body, payload={"memory": memory}, action=action)
        return memory


async def _memory(attempts: Sequence[Attempt], condense: Condense | None) -> str:
    if not attempts:
        return ""
    text = _told(attempts) if condense is None else await condense(attempts)
    return frame_rehearsal(text[:_MEMORY])


def _told(attempts: Sequence[Attempt]) -> str:
    lines = [str(one) for one in attempts]
    if revise := advice(attempts):
        lines += ["To revise:", *(f"- {each}" for each in revise)]
    return "\n".join(lines)
