"""Mistral: after `[TOOL_CALLS]`, a list of calls; in newer models, each call with its name outside the JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from envace_sdk.errors import MalformedCallError
from envace_sdk.tools.model import ToolCall

from .entries import arguments, decoded, named
from .format import TextFormat
from .stream import Reading, Source
from .strictjson import write_json

__all__ = ["Mistral", "MistralNamed"]

_CALLS: Final = "[TOOL_CALLS]"
_ARGS: Final = "[ARGS]"


class Mistral(TextFormat):
    """`[TOOL_CALLS]` [{"name": …, "arguments": {…}}, …]; a call may have an `id`."""

    name = "mistral"
    optional_keys = frozenset({"id"})

    def render_calls(self, calls: Sequence[ToolCall]) -> str:
        """The list of all calls."""
        return f"{_CALLS}{write_json([self.entry(call) for call in calls])}"

    def grammar(self, source: Source, calls: list[ToolCall]) -> Reading[str]:
        """Text, then the list of calls."""
        text, marker = yield from source.until(_CALLS)
        if not marker:
            return text
        yield from source.space()
        if (yield from source.peek()) != "[":
            raise MalformedCallError(f"{_CALLS} is not followed by a list")
        found = decoded((yield from source.value()))
        yield from source.space()
        if (yield from source.peek()):
            raise MalformedCallError("text after a call")
        if not found:
            raise MalformedCallError("the list of calls is empty")
        calls.extend(map(self.call_of, found))
        return text


class MistralNamed(TextFormat):
    """`[TOOL_CALLS]`name`[ARGS]`{…}, once for each call (tokenizers from version 11 on)."""

    name = "mistral-v11"

    def render_calls(self, calls: Sequence[ToolCall]) -> str:
        """Each call with its marks."""
        return "".join(f"{_CALLS}{call.name}{_ARGS}{write_json(dict(call.arguments))}" for call in calls)

    def grammar(self, source: Source, calls: list[ToolCall]) -> Reading[str]:
        """Text, then calls; only white space may stand between and after them."""
        text, marker = yield from source.until(_CALLS)
        while marker:
            name, args = yield from source.until(_ARGS, _CALLS)
            if args != _ARGS:
                raise MalformedCallError(f"the call's name is not followed by {_ARGS}")
            yield from source.space()
            calls.append(ToolCall(named(name.strip()), arguments(decoded((yield from source.value())))))
            yield from source.space()
            if not (yield from source.peek()):
                break
            if not (yield from source.take(_CALLS)):
                raise MalformedCallError("text after a call")
        return text
