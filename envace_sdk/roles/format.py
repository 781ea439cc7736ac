"""What every tool-call format can do, and the formats by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, Protocol, TypeAlias

from envace_sdk.errors import MalformedCallError
from envace_sdk.json import Json
from envace_sdk.models.model import Completion, Message
from envace_sdk.tools.export import export
from envace_sdk.tools.model import Tool, ToolCall, ToolResult

from .entries import arguments, decoded, identity, named, native_calls
from .response import shown_result
from .signatures import signature
from .stream import CallStream, Parsed, Reading, Source
from .strictjson import write_json

__all__ = ["Style", "TextFormat", "ToolFormat", "openai_tools"]

Style: TypeAlias = Literal["json", "compact"]
"""How tools are shown: their whole definitions as JSON, or one line each that a small model has room for."""


class ToolFormat(Protocol):
    """How a family of models writes tool calls."""

    @property
    def name(self) -> str:
        """`hermes`, `llama3`, …"""
        ...

    @property
    def native(self) -> bool:
        """Whether tools and calls travel beside the text, as data of the API."""
        ...

    def instructions(self) -> str:
        """How to write a call, told to the model."""
        ...

    def render_tools(self, tools: Sequence[Tool], style: Style = "json") -> str:
        """The tools as text for the system prompt; "" in a native format."""
        ...

    def render_call(self, name: str, arguments: Mapping[str, Json]) -> str:
        """One call as the model must write it."""
        ...

    def assistant(self, calls: Sequence[ToolCall], text: str = "") -> Message:
        """The assistant's message that makes these calls. Raises: ModelError if text has no place beside a call."""
        ...

    def result(self, call: ToolCall, result: ToolResult) -> Message:
        """The message that tells the model what a call gave."""
        ...

    def parse(self, text: str, *, thinking: bool = False) -> Parsed:
        """The calls in a whole text.

        Args:
            text: what the model wrote.
            thinking: the prompt has already opened `<think>`.

        Raises:
            MalformedCallError: something in it begins like a call and is none, or text follows a call.
        """
        ...

    def read(self, completion: Completion, *, thinking: bool = False) -> Parsed:
        """The calls of a completion: those that the server parsed if there are any, else those in the text.

        Raises:
            MalformedCallError: as `parse`.
        """
        ...

    def stream(self, *, thinking: bool = False) -> CallStream:
        """A parser to feed piece by piece; with the same outcome as `parse`, wherever the pieces are cut."""
        ...


class TextFormat:
    """The common part of the formats in which calls are part of the text: their grammar is all that differs."""

    name: ClassVar[str]
    arguments_key: ClassVar[str] = "arguments"
    optional_keys: ClassVar[frozenset[str]] = frozenset()
    native: ClassVar[bool] = False

    def instructions(self) -> str:
        """How to write a call, told to the model."""
        return f"To call a tool, write exactly this and nothing after it:\n{self.shape()}"

    def shape(self) -> str:
        """A call with placeholders."""
        return self.render_call("TOOL", {"ARGUMENT": "VALUE"})

    def render_tools(self, tools: Sequence[Tool], style: Style = "json") -> str:
        """One tool a line: its definition in OpenAI's form, or its signature."""
        if style == "compact":
            return "\n".join(signature(tool) for tool in tools)
        return "\n".join(write_json(function) for function in openai_tools(tools))

    def render_call(self, name: str, arguments: Mapping[str, Json]) -> str:
        """One call as the model must write it."""
        return self.render_calls([ToolCall(name, arguments)])

    def render_calls(self, calls: Sequence[ToolCall]) -> str:
        """Several calls of one message."""
        raise NotImplementedError

    def assistant(self, calls: Sequence[ToolCall], text: str = "") -> Message:
        """The assistant's message that makes these calls. Raises: ModelError, see `beside`."""
        if not calls:
            return Message("assistant", text)
        rendered = self.render_calls(calls)
        return Message("assistant", self.beside(text, rendered) if text else rendered)

    def beside(self, text: str, calls: str) -> str:
        """Text and the rendered calls of one message. Raises: ModelError if the format has no place for the text."""
        return f"{text}\n{calls}"

    def result(self, call: ToolCall, result: ToolResult) -> Message:
        """The message that tells the model what a call gave, in the tool's own role."""
        return Message("tool", shown_result(result), name=call.name, tool_call_id=call.id)

    def parse(self, text: str, *, thinking: bool = False) -> Parsed:
        """The calls in a whole text. Raises: MalformedCallError."""
        stream = self.stream(thinking=thinking)
        stream.feed(text)
        return stream.finish()

    def read(self, completion: Completion, *, thinking: bool = False) -> Parsed:
        """The calls of a completion. Raises: MalformedCallError."""
        if completion.tool_calls:
            return Parsed(native_calls(completion.tool_calls), completion.text.strip())
        return self.parse(completion.text, thinking=thinking)

    def stream(self, *, thinking: bool = False) -> CallStream:
        """A parser to feed piece by piece."""
        return CallStream(self.grammar, thinking)

    def grammar(self, source: Source, calls: list[ToolCall]) -> Reading[str]:
        """Reads a message of this format."""
        raise NotImplementedError

    def entry(self, call: ToolCall) -> dict[str, Json]:
        """The JSON object of a call."""
        head: dict[str, Json] = {"name": call.name, self.arguments_key: dict(call.arguments)}
        return {**head, "id": call.id} if call.id is not None and "id" in self.optional_keys else head

    def call(self, text: str) -> ToolCall:
        """The call that a JSON text holds. Raises: MalformedCallError."""
        return self.call_of(decoded(text))

    def call_of(self, entry: Json) -> ToolCall:
        """The call that a JSON value is. Raises: MalformedCallError."""
        if not isinstance(entry, dict):
            raise MalformedCallError(
                f"a call is an object with name and {self.arguments_key}, not {write_json(entry)[:40]}"
            )
        for key in ("name", self.arguments_key):
            if key not in entry:
                raise MalformedCallError(f"the call has no {key}")
        extra = entry.keys() - {"name", self.arguments_key} - self.optional_keys
        if extra:
            raise MalformedCallError(f"the call has a member {write_json(min(extra))} that does not belong there")
        return ToolCall(named(entry["name"]), arguments(entry[self.arguments_key]), identity(entry.get("id")))


def openai_tools(tools: Sequence[Tool]) -> tuple[Mapping[str, Json], ...]:
    """The tools as `Request.tools` takes them; what OpenAI's form has no place for (output schemas) is left out."""
    return tuple(export(tool.definition, "openai")[0] for tool in tools)
