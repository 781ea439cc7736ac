"""OpenAI's own: tools and calls are data of the chat API, beside the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from envace_sdk.json import Json
from envace_sdk.models.model import Message, NativeCall
from envace_sdk.tools.model import Tool, ToolCall, ToolResult

from .format import Style, TextFormat
from .response import shown_result
from .stream import Reading, Source
from .strictjson import write_json

__all__ = ["Native"]


class Native(TextFormat):
    """Tools go into `Request.tools` (see `openai_tools`), calls come in `Completion.tool_calls`; text is only text."""

    name = "openai"
    native = True

    def instructions(self) -> str:
        """None: the server tells the model."""
        return ""

    def render_tools(self, tools: Sequence[Tool], style: Style = "json") -> str:  # noqa: ARG002
        """Nothing: the tools travel beside the text."""
        return ""

    def render_call(self, name: str, arguments: Mapping[str, Json]) -> str:
        """The JSON object of a call; no text of a conversation holds it."""
        return self.render_calls([ToolCall(name, arguments)])

    def render_calls(self, calls: Sequence[ToolCall]) -> str:
        """The JSON of `tool_calls`; no text of a conversation holds it."""
        return write_json([_native(call, index).as_json() for index, call in enumerate(calls)])

    def assistant(self, calls: Sequence[ToolCall], text: str = "") -> Message:
        """The calls in the message's own field; one without an id gets its place as id."""
        return Message("assistant", text, tuple(_native(call, index) for index, call in enumerate(calls)))

    def result(self, call: ToolCall, result: ToolResult) -> Message:
        """In the tool's role, tied to the call by its id."""
        return Message("tool", shown_result(result), tool_call_id=call.id or _identity(0))

    def grammar(self, source: Source, calls: list[ToolCall]) -> Reading[str]:  # noqa: ARG002
        """Text only."""
        text, _ = yield from source.until()
        return text


def _native(call: ToolCall, index: int) -> NativeCall:
    return NativeCall(call.name, write_json(dict(call.arguments)), call.id or _identity(index))


def _identity(index: int) -> str:
    return f"call_{index}"
