"""Rehearsals of a whole task: an agent at work on a fork of the world, and what it did there."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from envace_sdk.errors import EnvaceError, GuardError
from envace_sdk.json import Json
from envace_sdk.rehearse import Environment, Outcome
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.diff import diff
from envace_sdk.world.state import State
from envace_sdk.world.world import World

from .flow import is_control_flow
from .prediction import WorldDiff

__all__ = ["Agent", "Attempt", "RehearsedCall", "RehearsedToolbox", "Toolbox", "attempt"]

_ANSWER: Final = 600
"""Characters of one answer that are told in a memory."""


class Toolbox(Protocol):
    """The tools as an agent has them in one run over its task."""

    toolset: Toolset
    rehearsed: bool
    """Whether nothing is real."""

    async def __call__(self, name: str, arguments: Mapping[str, Json] | None = None) -> ToolResult:
        """Call a tool."""
        ...


Agent: TypeAlias = Callable[[str, Toolbox, str], Awaitable[str]]
"""Works on a task with tools and gives its final answer: `await agent(task, tools, memory)`. The memory is text to put
into the prompt, framed already; "" where there is none."""


@dataclass(frozen=True, slots=True)
class RehearsedCall:
    """One call of an attempt, with its rehearsed answer."""

    tool: str
    arguments: Mapping[str, Json]
    status: Outcome
    answer: str
    layer: str
    confidence: float

    def __str__(self) -> str:
        return f"{self.tool}({json.dumps(dict(self.arguments), ensure_ascii=False, default=str)}) -> {self.told}"

    @property
    def told(self) -> str:
        """Status and answer in a line."""
        answer = " ".join(self.answer.split())
        shown = answer if len(answer) <= _ANSWER else f"{answer[: _ANSWER - 1]}…"
        return f"{self.status}: {shown}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One rehearsal of the whole task. Nothing in it is real."""

    number: int
    """From 1."""
    calls: tuple[RehearsedCall, ...]
    answer: str
    """The agent's final answer; "" where it came to none."""
    change: WorldDiff
    """How the forked world had changed at the end."""
    error: str = ""
    """Why it was broken off, if it was."""

    @property
    def failures(self) -> tuple[RehearsedCall, ...]:
        """The calls that were answered with an error."""
        return tuple(call for call in self.calls if call.status != "success")

    def __str__(self) -> str:
        lines = [f"Attempt {self.number}:", *(f"  {at}. {call}" for at, call in enumerate(self.calls, 1))]
        if self.error:
            lines.append(f"  broken off: {self.error}")
        if self.change:
            lines += ["  the state would have changed:", *(f"    {line}" for line in str(self.change).splitlines())]
        elif not self.error:
            lines.append("  the state would not have changed")
        if self.answer:
            lines.append(f"  final answer: {' '.join(self.answer.split())[:_ANSWER]}")
        return "\n".join(lines)


Noted: TypeAlias = Callable[[int, int, RehearsedCall], Awaitable[None]]
"""Is told of each rehearsed call, with the attempt's number and its place there."""


class RehearsedToolbox:
    """The tools of one attempt, on a fork that nobody else sees."""

    rehearsed = True

    def __init__(self, environment: Environment, state: State, number: int, most: int, note: Noted | None) -> None:
        self.toolset = environment.toolset
        self.world = World(f"attempt-{number}", state)
        self.calls: list[RehearsedCall] = []
        self._environment = environment
        self._number = number
        self._most = most
        self._note = note

    async def __call__(self, name: str, arguments: Mapping[str, Json] | None = None) -> ToolResult:
        """Rehearse a call.

        Raises:
            UnknownToolError: no tool has that name.
            GuardError: the attempt makes more calls than it may.
        """
        if len(self.calls) >= self._most:
            raise GuardError(f"the attempt makes more than {self._most} calls")
        call = ToolCall(name, dict(arguments or {}))
        rehearsal = await self._environment.call(self.world, call)
        made = RehearsedCall(
            name,
            call.arguments,
            rehearsal.outcome,
            rehearsal.result.first_text,
            rehearsal.layer,
            rehearsal.confidence,
        )
        self.calls.append(made)
        if self._note is not None:
            await self._note(self._number, len(self.calls), made)
        return rehearsal.result


async def attempt(
    agent: Agent,
    task: str,
    environment: Environment,
    state: State,
    *,
    number: int,
    memory: str = "",
    most: int = 100,
    note: Noted | None = None,
) -> Attempt:
    """Have an agent rehearse a task from a state on. What it raises breaks the attempt off, and is told in it."""
    fork = state if number == 1 else state.replace(seed=state.random("attempt", str(number)).getrandbits(48))
    tools = RehearsedToolbox(environment, fork, number, most, note)
    answer, trouble = "", ""
    try:
        answer = str(await agent(task, tools, memory))
    except Exception as error:
        if is_control_flow(error):
            raise
        trouble = (str(error) if isinstance(error, EnvaceError) else f"{type(error).__name__}: {error}")[:_ANSWER]
    return Attempt(number, tuple(tools.calls), answer, WorldDiff.of(diff(fork, tools.world.state)), trouble)


def advice(attempts: Sequence[Attempt]) -> list[str]:
    """What to revise, as the attempts themselves tell: failures, repetitions, and what all of them did."""
    found: list[str] = []
    for one in attempts:
        found += [f"avoid or prepare {call.tool}: {call.told}" for call in one.failures]
        calls = [(call.tool, json.dumps(dict(call.arguments), sort_keys=True, default=str)) for call in one.calls]
        found += [f"{tool} was called {calls.count((tool, given))} times with the same arguments"
                  for tool, given in dict.fromkeys(calls) if calls.count((tool, given)) > 1]  # fmt: skip
    done = [one for one in attempts if not one.error]
    ends = {str(one.change) for one in done}
    if len(done) > 1 and len(ends) == 1:
        found.append("all attempts ended in the same state")
    elif len(ends) > 1:
        found.append("the attempts ended in different states: decide which of them the task asks for")
    return list(dict.fromkeys(found))
