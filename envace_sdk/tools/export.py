"""Writing MCP definitions in the formats of OpenAI and Anthropic, and saying what does not fit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from envace_sdk.json import Json

from .finding import Finding, warning
from .formats import SOURCE_META, Format

__all__ = ["export"]

_NAMES: Final = {
    "openai": re.compile(r"[A-Za-z0-9_-]{1,64}"),
    "openai-responses": re.compile(r"[A-Za-z0-9_-]{1,64}"),
    "anthropic": re.compile(r"[A-Za-z0-9_-]{1,128}"),
}
_CARRIED: Final = frozenset({"name", "description", "inputSchema"})


def export(definition: Mapping[str, Json], to: Format) -> tuple[Json, list[Finding]]:
    """The definition in another format, and a warning for everything that the format has no place for.

    The definition must have passed quarantine. What a definition brought along from that format comes back.
    """
    if to == "mcp":
        return dict(definition), []
    name = str(definition["name"])
    found = [replace(finding, tool=name) for finding in _losses(definition, to)]
    source = _source(definition)
    inside, outside = _mapping(source.get("function")), _mapping(source.get("tool"))
    common = {key: definition[key] for key in ("name", "description") if definition.get(key) is not None}
    schema = definition["inputSchema"]
    if to == "anthropic":
        return {**common, "input_schema": schema, **(outside if source.get("format") == to else {})}, found
    function = {**common, "parameters": schema}
    same_family = source.get("format") in ("openai", "openai-responses")
    if to == "openai-responses":
        return {"type": "function", **function, **(inside if same_family else {})}, found
    return {
        "type": "function",
        "function": {**function, **(inside if same_family else {})},
        **(outside if source.get("format") == to else {}),
    }, found


def _losses(definition: Mapping[str, Json], to: Format) -> Iterator[Finding]:
    if not _NAMES[to].fullmatch(str(definition["name"])):
        yield warning(("name",), "name-refused", f"{to} refuses such a name", "rename the tool")
    for field, part in definition.items():
        if field in _CARRIED or part is None:
            continue
        if field == "_meta":
            beside = [key for key in part if key != SOURCE_META]
            if not beside and _source(definition).get("format") in _kin(to):
                continue
        yield warning((field,), "lost", f"{to} has no place for {field}", "keep the MCP definition beside it")


def _kin(to: Format) -> tuple[str, ...]:
    return ("anthropic",) if to == "anthropic" else ("openai", "openai-responses")


def _source(definition: Mapping[str, Json]) -> Mapping[str, Json]:
    return _mapping(_mapping(definition.get("_meta")).get(SOURCE_META))


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
