"""A toolset whose calls are judged before they are executed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from envace_sdk.integrations.entries import Entries
from envace_sdk.integrations.telling import APPROVAL, doubtful, refused
from pydantic_ai import RunContext
from pydantic_ai.exceptions import ApprovalRequired as Pause
from pydantic_ai.exceptions import ModelRetry, ToolFailed
from pydantic_ai.messages import ModelResponse, ToolReturn
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool, WrapperToolset
from pydantic_core import PydanticSerializationError, to_jsonable_python

from envace_sdk.errors import ApprovalRequired, EvidenceError, LostAnswerError, Refused, TimedOutError
from envace_sdk.guard import Action, Context, Guard, Outcome, as_result
from envace_sdk.tools.model import ToolResult

__all__ = ["GuardedToolset"]

Deps = TypeVar("Deps")


@dataclass
class GuardedToolset(WrapperToolset[Deps]):
    """Puts each call of a toolset before a guard, with the validated arguments that the tool would get.

    What is refused fails with `ToolFailed`, so that the model reads why. What a person must decide ends the run with
    `DeferredToolRequests` (which the agent's `output_type` must allow), unless a handler answers within the run; the
    guard goes by the approval in its ledger, never by what the framework is told. Come back with `resume`.

    Another wrapper inside this one can still change arguments after they were judged: wrap last.

    Raises (from a run):
        InDoubtError, EvidenceError, StoreError: as `Guard.run`; the run ends.
        EvidenceError: an argument cannot be written as JSON.
    """

    guard: Guard = field(kw_only=True)
    server: str = field(default="", kw_only=True)
    """The server whose tools they are, as the guard's policy calls it."""
    context: Callable[[RunContext[Any]], Context] | None = field(default=None, kw_only=True)
    """What a person should know of the run besides the call; by default, the user's prompt."""
    entries: Entries = field(default_factory=Entries, kw_only=True, repr=False)
    """Of the run."""

    async def for_run(self, ctx: RunContext[Deps]) -> AbstractToolset[Deps]:
        """A copy for one run: its calls are numbered apart from those of other runs."""
        return replace(self, wrapped=await self.wrapped.for_run(ctx), entries=Entries())

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Deps], tool: ToolsetTool[Deps]
    ) -> Any:
        """Judge the call, and execute it if it may."""
        action = self._action(name, tool_args, ctx, tool)

        async def execute() -> Any:
            try:
                return await self.wrapped.call_tool(name, tool_args, ctx, tool)
            except ModelRetry as error:
                # A tool that ran out of time asks to be tried again. Whether it did its work, nobody knows.
                if isinstance(error.__context__, TimeoutError):
                    raise TimedOutError(str(error)) from error
                raise

        try:
            with self.entries.entry(action) as entered:
                outcome = await self.guard.run(entered, execute, self._context(ctx), read=_result)
        except ApprovalRequired as pause:
            raise Pause(metadata={APPROVAL: pause.payload}) from pause
        except Refused as refusal:
            raise ToolFailed(refused(refusal)) from refusal
        except LostAnswerError as lost:
            raise ToolFailed(doubtful(name, lost)) from lost
        return _value(outcome)

    def _action(self, name: str, arguments: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]) -> Action:
        annotations = (tool.tool_def.metadata or {}).get("annotations")
        return Action(
            name,
            _json(name, arguments),
            self.server,
            ctx.tool_call_id or "",
            ctx.conversation_id or ctx.run_id or "",
            _turn(ctx),
            annotations=_json(name, annotations) if isinstance(annotations, dict) else {},
        )

    def _context(self, ctx: RunContext[Any]) -> Context:
        if self.context is not None:
            return self.context(ctx)
        return {"prompt": ctx.prompt} if isinstance(ctx.prompt, str) else {}


def _turn(ctx: RunContext[Any]) -> str:
    """The response that made the call, which is the same in the run that resumes: its moment."""
    for message in reversed(ctx.messages):
        if isinstance(message, ModelResponse) and any(
            call.tool_call_id == ctx.tool_call_id for call in message.tool_calls
        ):
            return message.timestamp.isoformat()
    return ctx.run_id or ""


def _json(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        written: dict[str, Any] = to_jsonable_python(arguments)
    except PydanticSerializationError as error:
        raise EvidenceError(f"{name}: an argument cannot be written as JSON, so it cannot be judged: {error}") from None
    return written


def _result(value: Any) -> ToolResult:
    returned = value.return_value if isinstance(value, ToolReturn) else value
    if isinstance(returned, ToolResult):
        return as_result(returned)
    return as_result(to_jsonable_python(returned, serialize_unknown=True))


def _value(outcome: Outcome) -> Any:
    if outcome.replayed and outcome.result.is_error:
        text = outcome.result.first_text
        raise ModelRetry(text) if outcome.raised == "ModelRetry" else ToolFailed(text)
    return outcome.value
