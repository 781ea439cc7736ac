"""The tool, the call and the result: plain values, kept exactly as they came."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.recordings.format import Client

__all__ = ["Tool", "ToolCall", "ToolResult"]


@dataclass(frozen=True, slots=True)
class Tool:
    """An MCP tool definition, kept verbatim (unknown keys included).

    The definition must be a tool that passed quarantine: an object with a string `name`
    and an object `inputSchema`.
    """

    definition: Mapping[str, Json]

    @property
    def name(self) -> str:
        """The name a call must use, exactly."""
        return str(self.definition["name"])

    @property
    def description(self) -> str:
        """What the tool says of itself; untrusted text, "" when absent."""
        return str(self.definition.get("description") or "")

    @property
    def input_schema(self) -> Mapping[str, Json]:
        """The JSON Schema of the arguments."""
        schema: Mapping[str, Json] = self.definition["inputSchema"]
        return schema

    @property
    def output_schema(self) -> Json | None:
        """The JSON Schema of structured content (an object, or in theory a boolean); None when absent."""
        return self.definition.get("outputSchema")

    @property
    def annotations(self) -> Mapping[str, Json]:
        """MCP annotations (`readOnlyHint`, `destructiveHint`, …): hints, never facts."""
        found = self.definition.get("annotations")
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: a tool's name and its arguments. `id` is the caller's, and never affects the answer."""

    name: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    id: str | None = None
    inputs: tuple[Json, ...] = ()
    """What the caller said when it was asked in the middle of the call, turn by turn: each an object of answers."""
    client: Client | None = field(default=None, compare=False)
    """What the caller can do. It decides only between several recordings of the same call."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered, in MCP's wire form.

    `content` holds MCP content blocks as JSON objects (`{"type": "text", "text": …}`);
    `structured` is the structured content, or `UNSET` where there is none (null is a value).
    """

    content: tuple[Mapping[str, Json], ...]
    structured: Json | Unset = UNSET
    is_error: bool = False
    meta: Mapping[str, Json] = field(default_factory=dict)
    fault: Mapping[str, Json] | None = None
    """A JSON-RPC error object, where the call was answered with one instead of a result."""
    wire: Mapping[str, Json] | None = field(default=None, compare=False, repr=False)
    """The result as it was recorded, with the members that have no place above."""

    @classmethod
    def text(cls, text: str, *, is_error: bool = False) -> ToolResult:
        """One text block and no structured content."""
        return cls(({"type": "text", "text": text},), is_error=is_error)

    @classmethod
    def json(cls, value: Json, *, structured: bool, text: str | None = None) -> ToolResult:
        """`value` as a JSON text block, and as structured content too if the tool declares an output schema.

        `text` replaces the JSON text, for a tool that says the same in words.
        """
        block = {"type": "text", "text": json.dumps(value, ensure_ascii=False) if text is None else text}
        return cls((block,), value if structured else UNSET)

    @property
    def first_text(self) -> str:
        """The text of the first text block; "" when there is none."""
        for block in self.content:
            if block.get("type") == "text":
                return str(block.get("text", ""))
        return ""

    def value(self) -> Json:
        """The answer as data: structured content, else the first text block parsed as JSON, else its text."""
        if self.structured is not UNSET:
            return self.structured
        text = self.first_text
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
