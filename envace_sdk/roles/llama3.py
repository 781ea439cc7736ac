"""Llama 3: a message that begins with `{` is calls and nothing else; `parameters` holds the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from envace_sdk.errors import MalformedCallError
from envace_sdk.tools.model import ToolCall

from .format import TextFormat
from .stream import Reading, Source
from .strictjson import write_json

__all__ = ["Llama3"]

_TAG: Final = "<|python_tag|>"


class Llama3(TextFormat):
    """{"name": …, "parameters": {…}}, several with `; ` between; after a text, `<|python_tag|>` introduces them."""

    name = "llama3"
    arguments_key = "parameters"

    def render_calls(self, calls: Sequence[ToolCall]) -> str:
        """The objects, with `; ` between."""
        return "; ".join(write_json(self.entry(call)) for call in calls)

    def beside(self, text: str, calls: str) -> str:
        """The text, the tag, the calls."""
        return f"{text}{_TAG}{calls}"

    def grammar(self, source: Source, calls: list[ToolCall]) -> Reading[str]:
        """Calls from the start, or text, or text and calls with the tag between."""
        text = ""
        if (yield from source.peek()) != "{":
            text, tag = yield from source.until(_TAG)
            if not tag:
                return text
            yield from source.space()
        while True:
            if (yield from source.peek()) != "{":
                raise MalformedCallError("a call is an object, and none begins here")
            calls.append(self.call((yield from source.value())))
            yield from source.space()
            if not (yield from source.peek()):
                return text
            if not (yield from source.take(";")):
                raise MalformedCallError("text after a call")
            yield from source.space()
