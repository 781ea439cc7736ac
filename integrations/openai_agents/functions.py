"""Function tools whose calls are judged before they are executed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agents import FunctionTool, RunContextWrapper, ToolGuardrailFunctionOutput, ToolInputGuardrail
from agents.exceptions import ModelBehaviorError
from agents.tool import set_function_tool_failure_error_function, with_function_tool_failure_error_handler
from agents.tool_context import ToolContext
from agents.tool_guardrails import ToolInputGuardrailData
from envace_sdk.integrations.telling import doubtful, stopped

from envace_sdk.errors import ApprovalRequired, InDoubtError, NotExecutedError, Refused
from envace_sdk.guard import Action
from envace_sdk.json import Json

from .calls import arguments_in, result_of, value_of
from .judging import Judging, told

__all__ = ["guarded_function"]


def guarded_function(tool: FunctionTool, judging: Judging, server: str) -> FunctionTool:
    """A guarded copy. Its own guardrails, timeout and handling of errors stay."""
    guarding = _Guarding(tool, judging, server)
    # Only tools that were made of a function turn exceptions into results; the guard must see them first.
    turns_errors = hasattr(tool.on_invoke_tool, "__agents_bind_function_tool__")
    invoke = guarding.invoke
    in_time = tool.timeout_seconds is None or tool.timeout_behavior != "error_as_result"
    return replace(
        tool,
        timeout_error_function=tool.timeout_error_function or (None if in_time else guarding.late),
        on_invoke_tool=with_function_tool_failure_error_handler(invoke, lambda *_: None) if turns_errors else invoke,
        needs_approval=guarding.needs_approval,
        tool_input_guardrails=[
            *(tool.tool_input_guardrails or ()),
            ToolInputGuardrail(guarding.guardrail, name="rehearsal"),
        ],
    )


class _Guarding:
    def __init__(self, tool: FunctionTool, judging: Judging, server: str) -> None:
        self.tool = tool
        self.judging = judging
        self.server = server
        self.own = tool.needs_approval
        self.inner = set_function_tool_failure_error_function(copy.copy(tool), None)
        if self.own is not False:
            judging.own.add(tool.name)

    def action(self, context: RunContextWrapper[Any], arguments: Mapping[str, Json], call_id: str) -> Action:
        return self.judging.action(context, self.tool.name, arguments, call_id, self.server)

    def late(self, _: RunContextWrapper[Any], error: Exception) -> str:
        return doubtful(self.tool.name, error)

    async def needs_approval(self, context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
        return await self.judging.asks(self.action(context, arguments, call_id), self.own, context, arguments)

    async def guardrail(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        """Refuses here what it can, since a refusal need not be of the type that the tool declares for its output."""
        arguments = arguments_in(data.context.tool_arguments)
        if arguments is None:
            return ToolGuardrailFunctionOutput.reject_content(self._unreadable())
        action = self.action(data.context, arguments, data.context.tool_call_id)
        verdict = await self.judging.guard.decide(action, self.judging.shown(data.context))
        if verdict.proceeds:
            return ToolGuardrailFunctionOutput.allow(verdict.as_json())
        return ToolGuardrailFunctionOutput.reject_content(stopped(action, verdict), verdict.as_json())

    async def invoke(self, context: ToolContext[Any], text: str) -> Any:
        arguments = arguments_in(text)
        if arguments is None:
            raise ModelBehaviorError(self._unreadable())

        async def execute() -> Any:
            try:
                return await self.inner.on_invoke_tool(context, text)
            except ModelBehaviorError as error:
                if str(error).startswith("Invalid JSON input"):
                    raise NotExecutedError(str(error)) from error
                raise

        action = self.action(context, arguments, context.tool_call_id)
        try:
            outcome = await self.judging.guard.run(action, execute, self.judging.shown(context), read=result_of)
        except (ApprovalRequired, Refused, InDoubtError) as stop:
            if self.tool.output_json_schema is not None:
                raise
            return told(self.tool.name, stop)
        return value_of(outcome)

    def _unreadable(self) -> str:
        return f"Invalid JSON input for tool {self.tool.name}: expected a JSON object"
