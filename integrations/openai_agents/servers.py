"""MCP servers whose tools are judged before they are executed."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from agents import RunContextWrapper, ToolGuardrailFunctionOutput, ToolInputGuardrail
from agents.mcp import MCPServer
from agents.tool_context import ToolContext
from agents.tool_guardrails import ToolInputGuardrailData

from envace_sdk.errors import ApprovalRequired, InDoubtError, Refused
from envace_sdk.json import Json

from .calls import Approves, result_of, wire_of
from .judging import Judging, told

__all__ = ["guard_server"]

_call: ContextVar[ToolContext[Any] | None] = ContextVar("envace_openai_call", default=None)
"""Of the MCP call under way: a server is not told who calls it."""


def guard_server(server: MCPServer, judging: Judging, name: str) -> None:
    """Guard all tools of a server, in place, so that nobody who holds it gets past the guard."""
    guarding = _Guarding(server, judging, name)
    server.tool_input_guardrails = [
        *(server.tool_input_guardrails or ()),
        ToolInputGuardrail(_remember, name="rehearsal"),
    ]
    # The public policy of a server is not told the arguments of a call. Without this one, a call that a person must
    # decide about is refused instead.
    vars(server).update(call_tool=guarding.call_tool, _get_needs_approval_for_tool=guarding.approval_for)


async def _remember(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
    _call.set(data.context)
    return ToolGuardrailFunctionOutput.allow()


class _Guarding:
    def __init__(self, server: MCPServer, judging: Judging, name: str) -> None:
        self.judging = judging
        self.name = name
        self.original = server.call_tool
        self.own_approval = server._get_needs_approval_for_tool
        self.hints: dict[str, Mapping[str, Json]] = {}

    def approval_for(self, tool: Any, agent: Any) -> Approves:
        own: Approves = self.own_approval(tool, agent)
        if own is not False:
            self.judging.own.add(tool.name)
        if tool.annotations is not None:
            self.hints[tool.name] = tool.annotations.model_dump(mode="json", by_alias=True, exclude_none=True)

        async def needs(context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
            hints = self.hints.get(tool.name)
            action = self.judging.action(context, tool.name, arguments, call_id, self.name, hints)
            return await self.judging.asks(action, own, context, arguments)

        return needs

    async def call_tool(self, tool_name: str, arguments: dict[str, Any] | None, meta: Any = None) -> Any:
        context = _call.get()
        call_id = "" if context is None else context.tool_call_id
        hints = self.hints.get(tool_name)
        action = self.judging.action(context, tool_name, arguments or {}, call_id, self.name, hints)
        more = () if meta is None else (meta,)

        async def execute() -> Any:
            return await self.original(tool_name, arguments, *more)

        try:
            outcome = await self.judging.guard.run(action, execute, self.judging.shown(context), read=result_of)
        except (ApprovalRequired, Refused, InDoubtError) as stop:
            text = {"type": "text", "text": told(tool_name, stop)}
            return _call_tool_result({"content": [text], "isError": True})
        return _call_tool_result(wire_of(outcome.result)) if outcome.replayed else outcome.value


def _call_tool_result(wire: Mapping[str, Json]) -> Any:
    from mcp.types import CallToolResult  # a type that only MCP servers need

    return CallToolResult.model_validate(wire)
