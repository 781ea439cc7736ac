"""Recognising the lists that tools come in, and reading each as MCP definitions.

MCP definitions are kept verbatim. Those of OpenAI and Anthropic are rewritten; what MCP has no field for is kept
under `_meta["dev.envace/source"]`, so that converting back gives the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from envace_sdk.errors import ToolsetError
from envace_sdk.json import Json

from .finding import Finding, error, printable

__all__ = ["SOURCE_META", "Entry", "Format", "format_of", "is_client_config", "is_openapi", "read_entry", "tool_list"]

Format = Literal["mcp", "openai", "openai-responses", "anthropic"]
"""How a tool is written down: MCP, OpenAI chat completions, OpenAI responses, Anthropic messages."""

SOURCE_META: Final = "dev.envace/source"
"""The `_meta` key that holds what a foreign format says and MCP has no field for."""

_KNOWN: Final = (
    "an MCP tools/list result, a list of MCP, OpenAI or Anthropic tools, an OpenAPI 3 document, or a client's mcp.json"
)
_CONFIG_KEYS: Final = ("mcpServers", "servers", "context_servers")


@dataclass(frozen=True, slots=True)
class Entry:
    """One tool as it was loaded, with what reading it found; an error among that quarantines it."""

    definition: Json
    findings: tuple[Finding, ...] = ()


def tool_list(document: Json, where: str) -> tuple[list[Json], tuple[str, ...]]:
    """The list of tools in a document, and the keys that lead to it.

    Raises:
        ToolsetError: it holds no such list; the message says what was expected.
    """
    if isinstance(document, list):
        return document, ()
    if not isinstance(document, dict):
        raise ToolsetError(f"{where}: expected {_KNOWN}")
    if isinstance(document.get("error"), dict) and "result" not in document:
        told = printable(str(document["error"].get("message", "no message"))[:200])
        raise ToolsetError(f"{where}: a JSON-RPC error, not a catalogue: {told}")
    if isinstance(document.get("result"), dict) and "tools" not in document:
        found, keys = tool_list(document["result"], f"{where}: result")
        return found, ("result", *keys)
    for key in ("tools", "functions"):
        if key in document:
            if not isinstance(document[key], list):
                raise ToolsetError(f"{where}: /{key}: expected a list of tools")
            return document[key], (key,)
    if format_of(document) == "openai" or ("name" in document and format_of(document) is not None):
        return [document], ()
    if "swagger" in document:
        raise ToolsetError(f"{where}: Swagger 2 is not read; convert it to OpenAPI 3 first (npx swagger2openapi)")
    raise ToolsetError(f"{where}: expected {_KNOWN}")


def is_openapi(document: Json) -> bool:
    """Whether a document says that it is an OpenAPI description."""
    return isinstance(document, dict) and "openapi" in document


def is_client_config(document: Json) -> bool:
    """Whether a document is a client's configuration of MCP servers."""
    if not isinstance(document, dict):
        return False
    inner = document.get("mcp")
    holders = (document, inner) if isinstance(inner, dict) else (document,)
    return any(isinstance(holder.get(key), dict) for holder in holders for key in _CONFIG_KEYS)


def format_of(tool: Json) -> Format | None:
    """The format a single tool is written in, or None where it is none of those known."""
    if not isinstance(tool, dict):
        return None
    if "inputSchema" in tool:
        return "mcp"
    if "input_schema" in tool:
        return "anthropic"
    if isinstance(tool.get("function"), dict):
        return "openai"
    if "parameters" in tool or tool.get("type") == "function":
        return "openai-responses"
    return None


def read_entry(tool: Json) -> Entry:
    """A tool in any format as an MCP definition. What cannot be read stays as it is, for the linter to explain."""
    found = format_of(tool)
    if found == "anthropic":
        return Entry(_from_anthropic(tool))
    if found == "openai":
        return Entry(_from_openai(tool["function"], _beside(tool, ("type", "function")), found))
    if found == "openai-responses":
        return Entry(_from_openai(tool, {}, found))
    if found is None and isinstance(tool, dict) and isinstance(tool.get("type"), str):
        hosted = error(
            ("type",),
            "hosted-tool",
            f"{tool['type'][:60]!r} is run by the model's provider, and says nothing of its arguments",
            "leave it out, or describe it with a schema",
        )
        return Entry(tool, (hosted,))
    return Entry(tool)


def _from_openai(function: Mapping[str, Json], outside: Mapping[str, Json], source: Format) -> Json:
    kept = _beside(function, ("name", "description", "parameters", "type"))
    extra = {"format": source, **({"function": kept} if kept else {}), **({"tool": outside} if outside else {})}
    return _definition(function, function.get("parameters"), extra)


def _from_anthropic(tool: Mapping[str, Json]) -> Json:
    kept = _beside(tool, ("name", "description", "input_schema"))
    return _definition(tool, tool["input_schema"], {"format": "anthropic", **({"tool": kept} if kept else {})})


def _definition(holder: Mapping[str, Json], schema: Json, source: Mapping[str, Json]) -> Json:
    made = {key: holder[key] for key in ("name", "description") if key in holder}
    return {**made, "inputSchema": _object_schema(schema), "_meta": {SOURCE_META: source}}


def _object_schema(schema: Json) -> Json:
    # These providers take an absent schema, or one without a type, for that of an object; MCP does not.
    if schema is None or schema == {}:
        return {"type": "object", "properties": {}}
    if isinstance(schema, dict) and "type" not in schema:
        return {"type": "object", **schema}
    return schema


def _beside(holder: Mapping[str, Json], keys: Sequence[str]) -> dict[str, Json]:
    return {key: part for key, part in holder.items() if key not in keys}
