"""Plain JSON, for models that know no format: a message that begins with `{` or `[` is calls and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from envace_sdk.errors import MalformedCallError, ModelError
from envace_sdk.tools.model import ToolCall

from .entries import decoded
from .format import TextFormat
from .stream import Reading, Source
from .strictjson import write_json

__all__ = ["PlainJson"]


class PlainJson(TextFormat):
    """{"name": …, "arguments": {…}}, or a list of such objects."""

    name = "json"

    def render_calls(self, calls: Sequence[ToolCall]) -> str:
        """An object, or the list of them."""
        entries = [self.entry(call) for call in calls]
        return write_json(entries[0] if len(entries) == 1 else entries)

    def beside(self, text: str, calls: str) -> str:  # noqa: ARG002
        """Nothing may stand beside a call."""
        raise ModelError("the format json has no place for text beside a call; leave it out")

    def grammar(self, source: Source, calls: list[ToolCall]) -> Reading[str]:
        """Calls, or text."""
        first = yield from source.peek()
        if first not in {"{", "["}:
            text, _ = yield from source.until()
            return text
        found = decoded((yield from source.value()))
        yield from source.space()
        if (yield from source.peek()):
            raise MalformedCallError("text after a call")
        if found == []:
            raise MalformedCallError("the list of calls is empty")
        calls.extend(map(self.call_of, found if isinstance(found, list) else [found]))
        return ""
