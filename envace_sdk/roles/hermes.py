"""Hermes, Qwen and many others: each call is JSON in a `<tool_call>` tag, after what text there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from envace_sdk.errors import MalformedCallError
from envace_sdk.models.model import Message
from envace_sdk.tools.model import ToolCall, ToolResult

from .format import TextFormat
from .response import shown_result
from .stream import Reading, Source
from .strictjson import write_json

__all__ = ["Hermes"]

_OPEN: Final = "<tool_call>"
_CLOSE: Final = "</tool_call>"


class Hermes(TextFormat):
    """`<tool_call>` {"name": …, "arguments": {…}} `</tool_call>`, once for each call."""

    name = "hermes"

    def render_calls(self, calls: Sequence[ToolCall]) -> str:
        """One tag a call."""
        return "\n".join(f"{_OPEN}\n{write_json(self.entry(call))}\n{_CLOSE}" for call in calls)

    def result(self, call: ToolCall, result: ToolResult) -> Message:  # noqa: ARG002  other formats name the call
        """In a `<tool_response>` tag of a user's turn, as these models' own templates have it."""
        return Message("user", f"<tool_response>\n{shown_result(result)}\n</tool_response>")

    def grammar(self, source: Source, calls: list[ToolCall]) -> Reading[str]:
        """Text, then calls; only white space may stand between and after them."""
        text, marker = yield from source.until(_OPEN, _CLOSE)
        while marker:
            if marker == _CLOSE:
                raise MalformedCallError(f"{_CLOSE} without {_OPEN}")
            yield from source.space()
            body = yield from source.value()
            yield from source.space()
            if not (yield from source.take(_CLOSE)):
                raise MalformedCallError(f"the call's JSON is not followed by {_CLOSE}")
            calls.append(self.call(body))
            yield from source.space()
            if not (yield from source.peek()):
                break
            if not (yield from source.take(_OPEN)):
                raise MalformedCallError("text after a call")
        return text
