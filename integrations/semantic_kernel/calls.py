"""The kernel's calls as actions, and its results as ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from envace_sdk.integrations.entries import Entries
from pydantic_core import PydanticSerializationError, to_jsonable_python
from semantic_kernel.contents import ChatHistory, FunctionCallContent
from semantic_kernel.filters import AutoFunctionInvocationContext, FunctionInvocationContext
from semantic_kernel.functions import FunctionResult

from envace_sdk.errors import ApprovalRequired, EvidenceError
from envace_sdk.evidence.canonical import digest
from envace_sdk.guard import as_result
from envace_sdk.json import Json
from envace_sdk.tools.model import ToolResult

__all__ = ["Made", "arguments_of", "made_by", "result_of"]


@dataclass
class Made:
    """A call that a model made, as the filter around it knows it."""

    function: str
    """Its full name."""
    call_id: str
    turn: str
    """What the conversation was when it was made, which is the same when it is resumed: a digest."""
    entries: Entries = field(default_factory=Entries)
    pause: ApprovalRequired | None = None
    failure: BaseException | None = None
    """What must not become a result."""


def made_by(context: AutoFunctionInvocationContext) -> Made:
    """The call that is about to be invoked."""
    call = context.function_call_content
    call_id = (call.id or "") if call is not None else ""
    history = context.chat_history
    return Made(context.function.fully_qualified_name, call_id, _turn(history, call_id) if history else "")


def _turn(history: ChatHistory, call_id: str) -> str:
    messages = history.messages
    at = len(messages)
    for index in range(len(messages) - 1, -1, -1):
        if any(isinstance(item, FunctionCallContent) and item.id == call_id for item in messages[index].items):
            at = index
            break
    return digest([at, *([str(message.role), message.content] for message in messages[:at])])[:16]


def arguments_of(context: FunctionInvocationContext) -> Mapping[str, Json]:
    """The arguments that a model can choose.

    Raises:
        EvidenceError: one of them cannot be written as JSON.
    """
    chosen = {parameter.name for parameter in context.function.parameters if parameter.include_in_function_choices}
    try:
        written: dict[str, Json] = to_jsonable_python(
            {name: value for name, value in context.arguments.items() if name in chosen}
        )
    except PydanticSerializationError as error:
        name = context.function.name
        raise EvidenceError(f"{name}: an argument cannot be written as JSON, so it cannot be judged: {error}") from None
    return written


def result_of(value: Any) -> ToolResult:
    """What a function returned."""
    returned = value.value if isinstance(value, FunctionResult) else value
    if isinstance(returned, ToolResult):
        return as_result(returned)
    return as_result(to_jsonable_python(returned, serialize_unknown=True))
