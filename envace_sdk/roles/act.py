"""The acting role: what it is told, and how a conversation with tools is written for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from envace_sdk.models.model import Message
from envace_sdk.tools.model import Tool, ToolCall, ToolResult

from .format import Style, ToolFormat

__all__ = ["Step", "act_prompt", "dialogue"]

Step: TypeAlias = tuple[ToolCall, ToolResult]
"""A call, and what it gave."""

_TASK: Final = (
    "You work for a user by calling tools, one call at a time. Look up what you do not know: never invent an id or a "
    "result. When the task is done, answer the user in plain words, without a call. When it cannot be done, or must "
    "not be, say so and why."
)
_SHORT: Final = "You work for a user by calling tools, one at a time. When the task is done, answer without a call."


def act_prompt(
    tools: Sequence[Tool],
    conversation: Sequence[Message],
    *,
    form: ToolFormat,
    style: Style = "json",
    instructions: str = "",
    examples: Sequence[Sequence[Message]] = (),
) -> tuple[Message, ...]:
    """The prompt for the next act: a system message, worked examples, the conversation so far.

    In a native format the tools travel beside it: put `openai_tools(tools)` into `Request.tools`.

    Args:
        tools: what may be called.
        conversation: the user's words, and what has been done since; see `dialogue`.
        form: how calls are written.
        style: `compact` for small models: shorter words, and one line a tool.
        instructions: further rules, such as a policy the agent must keep.
        examples: whole conversations to show first; one or two are what a small model needs to write calls at all.
    """
    parts = [_SHORT if style == "compact" else _TASK, instructions.strip()]
    if not form.native:
        parts += ["Tools:\n" + form.render_tools(tools, style), form.instructions()]
    system = Message("system", "\n\n".join(filter(None, parts)))
    return (system, *(message for example in examples for message in example), *conversation)


def dialogue(
    asked: str, steps: Sequence[Step], *, form: ToolFormat, answer: str | None = None, tail: Sequence[Message] = ()
) -> tuple[Message, ...]:
    """A user's task and the calls made for it, as messages: a conversation so far, or with `answer` an example.

    Args:
        asked: the user's words.
        steps: each call with its result.
        form: how calls are written.
        answer: what the assistant said at the end.
        tail: what came after that.
    """
    messages = [Message("user", asked)]
    for call, result in steps:
        messages += [form.assistant([call]), form.result(call, result)]
    if answer is not None:
        messages.append(Message("assistant", answer))
    return (*messages, *tail)
