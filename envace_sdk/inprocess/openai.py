"""Rehearsed tools for OpenAI's APIs: function specs, and an executor for the calls that a model makes.

Calls may be plain data or the objects of the `openai` package, which is not needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from envace_sdk.errors import ToolsetError
from envace_sdk.json import Json
from envace_sdk.tools.export import export
from envace_sdk.tools.model import ToolResult

from .running import run

if TYPE_CHECKING:
    from .tools import RehearsedTools

__all__ = ["OpenAIFunctions"]

_REFUSED: Final = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST: Final = 64


class OpenAIFunctions:
    """The specs to send to a model, and what answers its calls.

    Args:
        tools: that are called.
        api: `chat` completions or `responses`; their specs and calls differ in form.
    """

    def __init__(self, tools: RehearsedTools, api: Literal["chat", "responses"] = "chat") -> None:
        if api not in ("chat", "responses"):
            raise ToolsetError(f"OpenAI has no API {api!r} here: use 'chat' or 'responses'")
        self._tools = tools
        self._is_chat = api == "chat"
        self._names: dict[str, str] = {}
        self.specs: list[dict[str, Json]] = [self._spec(dict(tool.definition)) for tool in tools.environment.toolset]
        """For the `tools` parameter of a request."""

    async def execute(self, call: Any) -> dict[str, Json]:
        """Answer one call of the model, with the message or item to send back.

        An error result, arguments that are no JSON object and unknown names are told to the model.

        Raises:
            EnvaceError: as `Environment.call`; a fault that loses the answer raises `LostAnswerError`.
            ToolsetError: it is no function call of this API.
        """
        data = _plain(call)
        function = data.get("function") if self._is_chat else data
        identifier = data.get("id" if self._is_chat else "call_id")
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise ToolsetError("expected a function call of a model, with its name and arguments")
        text = await self._answer(function["name"], function.get("arguments"))
        if self._is_chat:
            return {"role": "tool", "tool_call_id": identifier, "content": text}
        return {"type": "function_call_output", "call_id": identifier, "output": text}

    async def execute_all(self, message: Any) -> list[dict[str, Json]]:
        """Answer every function call of a message or a whole response, in order; none gives an empty list.

        Raises:
            EnvaceError: as `execute`.
        """
        return [await self.execute(call) for call in self._calls(message)]

    def execute_sync(self, call: Any) -> dict[str, Json]:
        """As `execute`, blocking."""
        return run(self.execute(call))

    def execute_all_sync(self, message: Any) -> list[dict[str, Json]]:
        """As `execute_all`, blocking."""
        return run(self.execute_all(message))

    def _spec(self, definition: dict[str, Json]) -> dict[str, Json]:
        name = str(definition["name"])
        spec, _ = export(definition, "openai" if self._is_chat else "openai-responses")
        safe = self._safe(name)
        self._names[safe] = name
        if self._is_chat:
            return {**spec, "function": {**spec["function"], "name": safe}}
        # Left out, this API would hold the model, and the schema, to its strict mode.
        return {"strict": False, **spec, "name": safe}

    def _safe(self, name: str) -> str:
        """A name that OpenAI takes, and no other tool has."""
        plain = _REFUSED.sub("_", name)[:_LONGEST]
        safe, number = plain, 1
        while safe in self._names:
            number += 1
            safe = f"{plain[: _LONGEST - len(str(number)) - 1]}_{number}"
        return safe

    async def _answer(self, name: str, arguments: Json) -> str:
        tool = self._names.get(name)
        if tool is None:
            return f"Error: there is no function {name!r}"
        try:
            given = json.loads(arguments or "{}") if isinstance(arguments, str | None) else arguments
        except (ValueError, RecursionError) as error:
            return f"Error: the arguments of {name} are not JSON: {error}"
        if not isinstance(given, Mapping):
            return f"Error: the arguments of {name} are not a JSON object"
        return _text((await self._tools.call(tool, given)).result)

    def _calls(self, message: Any) -> Sequence[Any]:
        if isinstance(message, Sequence) and not isinstance(message, str):
            found: Any = message
        else:
            data = _plain(message)
            if self._is_chat:
                choices = data.get("choices")
                data = _plain(_plain(choices[0])["message"]) if choices else data
            found = data.get("tool_calls" if self._is_chat else "output") or ()
        wanted = "function" if self._is_chat else "function_call"
        return [call for call in map(_plain, found) if call.get("type", wanted) == wanted]


def _plain(value: Any) -> Mapping[str, Any]:
    """Raises: ToolsetError."""
    if hasattr(value, "model_dump"):
        value = value.model_dump()
    if not isinstance(value, Mapping):
        raise ToolsetError(f"expected an object of the OpenAI API, got {type(value).__name__}")
    return value


def _text(result: ToolResult) -> str:
    """What a model reads of a result."""
    return "\n".join(
        str(block.get("text", "")) if block.get("type") == "text" else json.dumps(dict(block), ensure_ascii=False)
        for block in result.content
    )
