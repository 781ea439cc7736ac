"""The guard as a middleware of LangChain's agents."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command, TracePolicy, omit_payload

from envace_sdk.errors import GuardError
from envace_sdk.evidence import PREFIX
from envace_sdk.guard import Guard, acts_of, audit_claims
from envace_sdk.json import Json

from . import messages
from .calls import Servers, annotations_of, passes_of, server_of, visible
from .doorbell import can_pause
from .onecall import Call, Kept
from .pausing import TaskPause
from .quiet import Quiet
from .turn import barrier, distinct, turn_of

__all__ = ["CLAIMS", "RehearsalMiddleware", "Returned"]

Returned: TypeAlias = ToolMessage | Command[Any]
"""What answers a tool call."""

CLAIMS: Final = PREFIX + "unsupported_claims"
"""In `additional_kwargs` of a final answer, the claims in it that nothing observed supports."""

_REQUEST: Final = 500


class RehearsalMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Has each tool call of an agent rehearsed and judged before it is executed: `create_agent(…, middleware=[…, it])`.

    It must be the last in the list, which is next to the tool. Where another one comes after it, what that changes is
    not executed, and what that answers in the tool's place is marked as claimed.

    A call that is refused is answered with a message of the status `error` which says that nothing was executed; one
    that a person must decide interrupts the graph, until the ledger says what they decided. An answer of the tool has
    its evidence in `additional_kwargs`.

    Args:
        guard: judges, and remembers.
        scope: `call`: each call waits for its own approval, while its siblings run. `turn`: no call of a turn runs
            before all approvals for it are decided.
        asks: whether people can be asked. False: what a person would have to decide is refused.
        audit: whether to look in the final answer for claims that nothing observed supports; see `CLAIMS`.
        servers: the server whose tools they are, as the guard's environment and policy call it.
        context: what a person should know besides the action; by default, what the user said last.
    """

    trace_policy = TracePolicy(process_inputs=omit_payload)

    def __init__(
        self,
        guard: Guard,
        *,
        scope: Literal["call", "turn"] = "call",
        asks: bool = True,
        audit: bool = True,
        servers: Servers = "",
        context: Callable[[ToolCallRequest], Mapping[str, Json]] | None = None,
    ) -> None:
        super().__init__()
        if scope not in ("call", "turn"):
            raise GuardError(f"scope is {scope!r}; it must be 'call' or 'turn'")
        self.guard = guard
        self.tools = []
        self._scope = scope
        self._asks = asks
        self._audit = audit
        self._servers = servers
        self._context = context or _said
        self._passes = passes_of(guard)
        self._kept = Kept()

    # The beginning and the end of a run

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:  # noqa: ARG002
        """Refuse to start where people can be asked and nothing remembers the run while they are.

        Raises:
            GuardError: there is no checkpointer.
        """
        if self._asks and not self.guard.shadow and not can_pause():
            raise GuardError(
                "the guard may have to ask a person, and without a checkpointer the run could not go on afterwards: "
                "pass one to create_agent, or `asks=False` to have such calls refused"
            )

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """As `before_agent`."""
        self.before_agent(state, runtime)

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Hold the final answer against what was observed."""
        answer = state["messages"][-1] if state["messages"] else None
        if not self._audit or not isinstance(answer, AIMessage) or not answer.text:
            return None
        run, guard = _thread(runtime) or "main", self.guard
        if not audit_claims(answer.text, acts_of(guard.ledger, run, guard.environment)):
            return None
        found = guard.audit_claims(answer.text, run)  # only what is found costs a write to the ledger
        told = {**answer.additional_kwargs, CLAIMS: [claim.as_json() for claim in found]}
        return {"messages": [answer.model_copy(update={"additional_kwargs": told})]}

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As `after_agent`."""
        return await asyncio.to_thread(self.after_agent, state, runtime)

    # Before the calls of a turn, with scope="turn"

    def after_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """With `scope="turn"`, wait until all that a person must decide about the turn is decided."""
        answer = self._turn(state)
        if answer is None:
            return None
        changed = distinct(answer)
        barrier(self.guard, changed or answer, _thread(runtime), self._servers)
        return None if changed is None else {"messages": [changed]}

    async def aafter_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As `after_model`."""
        # An interrupt needs the context of the node, which a thread of asyncio's has a copy of.
        return None if self._turn(state) is None else await asyncio.to_thread(self.after_model, state, runtime)

    def _turn(self, state: AgentState[Any]) -> AIMessage | None:
        answer = state["messages"][-1] if state["messages"] else None
        waits = self._scope == "turn" and self._asks and isinstance(answer, AIMessage) and bool(answer.tool_calls)
        return answer if waits and isinstance(answer, AIMessage) else None

    # A call

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Returned]) -> Returned:
        """Rehearse and judge a call; execute it if it may be.

        Raises:
            InDoubtError: it may have been executed before, and nobody knows.
            ToolCallError: it was executed before, and the tool raised an exception.
            Whatever the tool raises.
        """
        call = self._call(request)
        if call is None:
            return _no_such_tool(request)
        while not call.answered:
            call.begin()
            try:
                with call.executing(), Quiet() as quiet:

                    def execute() -> Any:
                        try:
                            with quiet.aloud():
                                call.returned = handler(_narrowed(request, call))
                        except Exception as error:
                            call.raised = error
                        return call.settle()

                    call.finish(self.guard.run_sync(call.action, execute, self._context(request), read=call.read))
            except Exception as error:
                call.stop(error)
        return call.answer  # type: ignore[no-any-return]

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Returned]]
    ) -> Returned:
        """As `wrap_tool_call`."""
        call = self._call(request)
        if call is None:
            return _no_such_tool(request)
        while not call.answered:
            await asyncio.to_thread(call.begin)
            try:
                with call.executing(), Quiet() as quiet:

                    async def execute() -> Any:
                        try:
                            with quiet.aloud():
                                call.returned = await handler(_narrowed(request, call))
                        except Exception as error:
                            call.raised = error
                        return call.settle()

                    call.finish(await self.guard.run(call.action, execute, self._context(request), read=call.read))
            except Exception as error:
                await asyncio.to_thread(call.stop, error)
        return call.answer  # type: ignore[no-any-return]

    def _call(self, request: ToolCallRequest) -> Call | None:
        """The call of a request; None where the agent has no such tool."""
        tool, asked = request.tool, request.tool_call
        if tool is None:
            return None
        info = request.runtime.execution_info
        if info is None:
            raise GuardError("the guard needs to know which task of a graph a call belongs to: run it in one")
        turn = turn_of(request.state, asked["id"]) if self._scope == "turn" else ""
        current = self._passes.current(info, task=turn)
        action = current.calls.action(
            asked["name"],
            visible(tool, asked["args"]),
            call_id=asked["id"] or "",
            server=server_of(asked["name"], self._servers),
            annotations=annotations_of(tool),
        )
        pause = TaskPause(self.guard.ledger, current, asks=self._asks)
        return Call(action, tool, asked["id"], pause, self._kept)


def _thread(runtime: Runtime[Any]) -> str:
    info = runtime.execution_info
    return (info.thread_id or "") if info is not None else ""


def _narrowed(request: ToolCallRequest, call: Call) -> ToolCallRequest:
    """The request with just the arguments that were judged, for the tool behind what makes sure of that."""
    arguments = call.arguments(request.tool_call["args"])
    return request.override(tool_call={**request.tool_call, "args": arguments}, tool=call.innermost())


def _no_such_tool(request: ToolCallRequest) -> ToolMessage:
    name = request.tool_call["name"]
    return messages.unexecuted("there is no tool of that name", name=name, call_id=request.tool_call["id"])


def _said(request: ToolCallRequest) -> dict[str, Json]:
    """What the user said last."""
    state = request.state
    history = state.get("messages", []) if isinstance(state, Mapping) else []
    last = next((one for one in reversed(history) if isinstance(one, HumanMessage)), None)
    return {} if last is None else {"request": last.text[:_REQUEST]}
