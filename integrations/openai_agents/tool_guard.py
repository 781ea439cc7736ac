"""The guard as it is put before the tools of agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents import FunctionTool, RunContextWrapper, RunState
from agents.items import ToolApprovalItem
from agents.mcp import MCPServer

from envace_sdk.guard import Context, Guard
from envace_sdk.ledger import Approval
from envace_sdk.ledger.action import action_digest

from .calls import arguments_in
from .functions import guarded_function
from .judging import Judging
from .servers import guard_server

__all__ = ["ToolGuard"]


class ToolGuard:
    """Puts the calls of function tools and MCP servers before a guard.

    Where a person must decide, the run is interrupted as by `needs_approval`; `approvals` says what is asked, and
    `resume` lets the run go on. The guard goes by the approval in its ledger, never by what the run's state says.

    Args:
        guard: judges.
        thread: tells the conversation of a run, from its context; by default all share one.
        context: what a person should know of the run besides the call; by default nothing.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        thread: Callable[[RunContextWrapper[Any]], str] | None = None,
        context: Callable[[RunContextWrapper[Any]], Context] | None = None,
    ) -> None:
        self.guard = guard
        self._judging = Judging(guard, thread, context)

    def tool(self, tool: FunctionTool, *, server: str = "") -> FunctionTool:
        """A guarded copy of a function tool. Its own guardrails, timeout and handling of errors stay."""
        return guarded_function(tool, self._judging, server)

    def server(self, server: MCPServer, *, name: str = "") -> MCPServer:
        """Guard all tools of an MCP server, in place: whoever calls them, also past an agent, comes before the guard.

        Args:
            server: the server.
            name: what the guard's policy calls it; by default the server's own name.
        """
        guard_server(server, self._judging, name or server.name)
        return server

    def approvals(self, state: RunState[Any, Any]) -> list[Approval]:
        """What the guard asks people about an interrupted run, as its ledger has it."""
        found = (self._asked(item) for item in state.get_interruptions())
        return [approval for approvals in found for approval in approvals if approval.state == "pending"]

    def resume(self, state: RunState[Any, Any]) -> RunState[Any, Any]:
        """Let the calls that people have answered come before the guard again; the rest stays interrupted.

        What a tool's own `needs_approval` asks is left to whoever answers that.
        """
        for item in state.get_interruptions():
            asked = self._asked(item)
            answered = any(approval.state != "pending" for approval in asked)
            unreadable = arguments_in(getattr(item.raw_item, "arguments", None)) is None
            if item.tool_name not in self._judging.own and (answered or unreadable):
                state.approve(item)
        return state

    def _asked(self, item: ToolApprovalItem) -> list[Approval]:
        """The approvals that were asked for such a call. The server's name may stand before the tool's."""
        arguments, name = arguments_in(getattr(item.raw_item, "arguments", None)), item.tool_name or ""
        if arguments is None:
            return []
        return [
            asked
            for asked in self.guard.ledger.approvals.select()
            if name.endswith(asked.tool) and asked.digest == action_digest(asked.tool, arguments, server=asked.server)
        ]
