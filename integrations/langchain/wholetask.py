"""An agent of LangChain that rehearses its task in private, then carries it out once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.messages.utils import convert_to_messages
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool

from envace_sdk.errors import GuardError
from envace_sdk.guard import Attempt, Condense, Guard, TaskBudget, Toolbox, rehearse_then_commit
from envace_sdk.inprocess.running import run
from envace_sdk.tools.model import ToolCall, ToolResult

from .doorbell import resumption
from .middleware import RehearsalMiddleware
from .tools import answer_of

__all__ = ["MakeAgent", "RehearseThenCommit", "RehearsedRun"]

MakeAgent: TypeAlias = Callable[[Sequence[BaseTool], Sequence[AgentMiddleware[Any, Any, Any]]], Any]
"""Makes an agent with these tools and, last in its list, these middlewares: `create_agent(model, tools,
middleware=[…, *middleware], checkpointer=…)`."""


@dataclass(frozen=True, slots=True)
class RehearsedRun:
    """What came of a task."""

    state: Mapping[str, Any]
    """Of the agent after the run in earnest; with `__interrupt__` where a person must decide first."""
    answer: str
    """The agent's last words there; "" where it waits."""
    attempts: tuple[Attempt, ...]
    """What was only rehearsed; empty where the memory came from an earlier call."""
    memory: str
    """What the run in earnest was guided by."""

    @property
    def waits(self) -> bool:
        """Whether a person must decide first."""
        return bool(self.state.get("__interrupt__"))


class RehearseThenCommit:
    """Has an agent rehearse each task n times on forks of the known world, then carry it out once, guided by a memory.

    In the rehearsals the agent is made with rehearsed tools, without the checkpointer; in earnest with the real ones
    and a `RehearsalMiddleware`. The memory stands before the user's messages, framed as a prediction. Where a run waits
    for a person, invoke it again with the same input and thread once they have decided (or use `resume` with `agent`):
    the run goes on, and nothing is rehearsed again.

    The method is the test-time scaling of EnvACE (arXiv 2608.06197); see `envace_sdk.guard.rehearse_then_commit`.

    Args:
        make_agent: makes the agent.
        tools: the real tools; the guard's environment must know those that are to be rehearsed.
        guard: judges the calls in earnest; all that is rehearsed stands in its ledger as rehearsed.
        n: how many rehearsals; 0 for none.
        mode: `parallel`: independent of each other; `sequential`: each with the memory of those before it.
        budget: of the rehearsals of one task.
        condense: makes the memory.
        middleware: for the run in earnest; by default `RehearsalMiddleware(guard)`.
    """

    def __init__(
        self,
        make_agent: MakeAgent,
        tools: Sequence[BaseTool],
        *,
        guard: Guard,
        n: int = 2,
        mode: Literal["parallel", "sequential"] = "parallel",
        budget: TaskBudget | None = None,
        condense: Condense | None = None,
        middleware: RehearsalMiddleware | None = None,
    ) -> None:
        self.guard = guard
        self.agent = make_agent(tools, [middleware or RehearsalMiddleware(guard)])
        """The agent as it works in earnest."""
        self._make_agent = make_agent
        self._tools = tuple(tools)
        self._n = n
        self._mode: Literal["parallel", "sequential"] = mode
        self._budget = budget
        self._condense = condense

    def invoke(self, given: Mapping[str, Any], config: RunnableConfig | None = None, *, turn: str = "") -> RehearsedRun:
        """Rehearse the task and carry it out, blocking.

        Args:
            given: the agent's input, with `messages`; the last one of the user is the task.
            config: of the thread.
            turn: tells this task from others with the same words in the thread.

        Raises:
            GuardError: there is no message of a user.
            InDoubtError, EvidenceError: as `Guard.run`.
            Whatever the agent raises in earnest.
        """
        return run(self._run(given, config or {}, turn, blocking=True))

    async def ainvoke(
        self, given: Mapping[str, Any], config: RunnableConfig | None = None, *, turn: str = ""
    ) -> RehearsedRun:
        """As `invoke`."""
        return await self._run(given, config or {}, turn, blocking=False)

    async def _run(
        self, given: Mapping[str, Any], config: RunnableConfig, turn: str, *, blocking: bool
    ) -> RehearsedRun:
        history = convert_to_messages(given.get("messages", []))
        task = next((one.text for one in reversed(history) if isinstance(one, HumanMessage)), None)
        if task is None:
            raise GuardError("there is nothing to rehearse: the input has no message of a user")
        earnest = _Earnest(self.agent, {**given, "messages": history}, config, blocking=blocking)

        async def agent(_: str, tools: Toolbox, memory: str) -> str:
            if not tools.rehearsed:
                return await earnest.run(memory)
            made = self._make_agent([_rehearsed(tool, tools) for tool in self._tools], [])
            state = await _forgetful(made).ainvoke({**given, "messages": _guided(memory, history)})
            return _last_words(state)

        found = await rehearse_then_commit(
            agent,
            task,
            n=self._n,
            mode=self._mode,
            budget=self._budget,
            guard=self.guard,
            execute=_never,
            thread=str(config.get("configurable", {}).get("thread_id", "")),
            turn=turn,
            condense=self._condense,
        )
        return RehearsedRun(earnest.state, found.answer, found.attempts, found.memory)


class _Earnest:
    """The one run that is real: begun with the memory, or let run on where it waits for a person."""

    def __init__(self, agent: Any, given: Mapping[str, Any], config: RunnableConfig, *, blocking: bool) -> None:
        self.state: Mapping[str, Any] = {}
        self._agent = agent
        self._given = given
        self._config = config
        self._blocking = blocking

    async def run(self, memory: str) -> str:
        agent, config = self._agent, self._config
        if self._blocking:
            paused = (await asyncio.to_thread(agent.get_state, config)).interrupts if agent.checkpointer else ()
        else:
            paused = (await agent.aget_state(config)).interrupts if agent.checkpointer else ()
        start: Any = {**self._given, "messages": _guided(memory, self._given["messages"])}
        start = resumption(paused) if paused else start
        if self._blocking:
            self.state = await asyncio.to_thread(agent.invoke, start, config)
        else:
            self.state = await agent.ainvoke(start, config)
        return "" if self.state.get("__interrupt__") else _last_words(self.state)


async def _never(call: ToolCall) -> ToolResult:
    raise GuardError(f"{call.name} is executed by the agent itself")


def _forgetful(agent: Any) -> Any:
    """The agent without its checkpointer: nothing that is only rehearsed belongs into a thread."""
    return agent.copy({"checkpointer": None}) if getattr(agent, "checkpointer", None) else agent


def _guided(memory: str, history: Sequence[BaseMessage]) -> list[BaseMessage]:
    return [*([HumanMessage(memory)] if memory else []), *history]


def _last_words(state: Mapping[str, Any]) -> str:
    said = state["messages"][-1] if state.get("messages") else None
    return said.text if isinstance(said, AIMessage) else ""


def _rehearsed(tool: BaseTool, tools: Toolbox) -> BaseTool:
    """A tool that looks like the real one, and calls the toolbox of an attempt."""

    async def called(**arguments: Any) -> Any:
        return answer_of(await tools(tool.name, arguments))

    shown: Any = tool.tool_call_schema
    return StructuredTool(
        name=tool.name,
        description=tool.description,
        args_schema=shown if isinstance(shown, dict) else shown.model_json_schema(),
        coroutine=called,
        response_format="content_and_artifact",
        return_direct=tool.return_direct,
        handle_tool_error=True,
    )
