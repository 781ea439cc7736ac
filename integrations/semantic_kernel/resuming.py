"""Letting a conversation run on after people have answered."""

from __future__ import annotations

from collections.abc import Mapping

from envace_sdk.integrations.telling import approval_in
from semantic_kernel import Kernel
from semantic_kernel.contents import ChatHistory, ChatMessageContent, FunctionCallContent, FunctionResultContent
from semantic_kernel.functions import KernelArguments

from envace_sdk.json import Json

__all__ = ["approvals", "resume"]


def approvals(history: ChatHistory) -> list[Mapping[str, Json]]:
    """What the guard asks about the last turn: the payloads of `ApprovalRequired`, with the approval's id in each."""
    found = (approval_in(item.metadata) for message in history.messages for item in _waiting(message))
    return [payload for payload in found if payload is not None]


async def resume(kernel: Kernel, history: ChatHistory, arguments: KernelArguments | None = None) -> bool:
    """Invoke the calls that waited for people again, and put what comes of them into the history.

    What was approved runs, what was rejected or edited is told to the model, and what nobody has answered is asked
    again.

    Args:
        kernel: the guarded kernel.
        history: as the turn left it; its calls that waited get their results.
        arguments: those of the turn, besides the model's.

    Returns:
        Whether the model can go on: False where a call still waits.

    Raises:
        As `Rehearsal.on_call`.
    """
    for message in list(history.messages):
        for item in _waiting(message):
            call = _call(history, item.id or "")
            if call is None:
                continue
            before = len(history.messages)
            await kernel.invoke_function_call(call, history, arguments=arguments)
            answers = [found for added in history.messages[before:] for found in added.items]
            del history.messages[before:]
            message.items[message.items.index(item) : message.items.index(item) + 1] = answers
    return not approvals(history)


def _waiting(message: ChatMessageContent) -> list[FunctionResultContent]:
    results = [item for item in message.items if isinstance(item, FunctionResultContent)]
    return [item for item in results if approval_in(item.metadata) is not None]


def _call(history: ChatHistory, call_id: str) -> FunctionCallContent | None:
    calls = (item for message in reversed(history.messages) for item in message.items)
    return next((item for item in calls if isinstance(item, FunctionCallContent) and item.id == call_id), None)
