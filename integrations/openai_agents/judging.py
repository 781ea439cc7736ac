"""What functions and MCP servers have in common: a call as an action, and the need for an approval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents import RunContextWrapper
from envace_sdk.integrations.telling import doubtful, refused, waiting

from envace_sdk.errors import ApprovalRequired, InDoubtError, Refused
from envace_sdk.guard import Action, Context, Guard
from envace_sdk.json import Json

from .calls import Approves, asks, turn_of

__all__ = ["Judging", "told"]


@dataclass(frozen=True)
class Judging:
    """A guard, with what it is told of a run."""

    guard: Guard
    thread: Callable[[RunContextWrapper[Any]], str] | None = None
    context: Callable[[RunContextWrapper[Any]], Context] | None = None
    own: set[str] = field(default_factory=set)
    """Tools whose own author asks for approvals: those are not ours to answer."""

    def action(
        self,
        context: RunContextWrapper[Any] | None,
        tool: str,
        arguments: Mapping[str, Json],
        call_id: str,
        server: str = "",
        hints: Mapping[str, Json] | None = None,
    ) -> Action:
        """A call as an action."""
        thread = self.thread(context) if self.thread is not None and context is not None else ""
        turn = "" if context is None else turn_of(context)
        return Action(tool, arguments, server, call_id, thread, turn, annotations=hints or {})

    def shown(self, context: RunContextWrapper[Any] | None) -> Context:
        """What a person is shown besides the call."""
        return self.context(context) if self.context is not None and context is not None else {}

    async def asks(
        self, action: Action, own: Approves, context: RunContextWrapper[Any], arguments: dict[str, Any]
    ) -> bool:
        """Whether the run must be interrupted: the guard asks, or the tool's author does."""
        verdict = await self.guard.decide(action, self.shown(context))
        if verdict.kind == "ask" and not verdict.proceeds:
            return True
        # What will be refused anyway is nothing to ask a person about.
        return verdict.proceeds and await asks(own, context, arguments, action.call_id)


def told(tool: str, stop: ApprovalRequired | Refused | InDoubtError) -> str:
    """What the model reads of a call that was stopped."""
    if isinstance(stop, ApprovalRequired):
        return waiting(stop)
    return refused(stop) if isinstance(stop, Refused) else doubtful(tool, stop)
