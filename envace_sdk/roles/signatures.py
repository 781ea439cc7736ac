"""A tool in one line, for models with little room: `get_order(order_id: string, verbose?: boolean): what it does`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.model import Tool

from .strictjson import write_json

__all__ = ["schema_outline", "signature"]

_DEPTH: Final = 6
_SIZE: Final = 500
_MANY: Final = 8
_DESCRIPTION: Final = 160
_PATTERN: Final = 24
"""Characters of a pattern above which it takes more room than it helps."""
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")


def signature(tool: Tool) -> str:
    """Name, arguments with their types (`?`: may be left out), and the first sentence of the description."""
    fields = _Outline(tool.input_schema).members(tool.input_schema, 0)
    said = _SENTENCE.split(" ".join(tool.description.split()), maxsplit=1)[0]
    short = said if len(said) <= _DESCRIPTION else said[: _DESCRIPTION - 1].rstrip() + "…"
    line = f"{tool.name}({', '.join(fields)})"
    return f"{line}: {write_json(short)[1:-1]}" if short else line


def schema_outline(schema: Json) -> str:
    """A schema in the words of type annotations: `{id: string /^R-[0-9]{4}$/, lines: {sku: string}[], note?: null}`.

    It tells the shape, and short patterns, without which whoever fills it in cannot know how keys are written. Bounds
    are left out, and what lies very deep or far out is called `any`.
    """
    return _Outline(schema, patterns=True).type(schema, 0)


class _Outline:
    def __init__(self, root: Json, *, patterns: bool = False) -> None:
        self._root = root
        self._patterns = patterns
        self._left = _SIZE

    def type(self, schema: Json, depth: int) -> str:
        self._left -= 1
        if not isinstance(schema, dict) or depth > _DEPTH or self._left < 0:
            return "any"
        if isinstance(schema.get("$ref"), str):
            return self.type(_target(self._root, schema["$ref"]), depth + 1)
        if "const" in schema:
            return write_json(schema["const"])
        if isinstance(schema.get("enum"), list):
            return _either([write_json(value) for value in schema["enum"]])
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                return _either([self.type(inner, depth + 1) for inner in schema[keyword]])
        return self._typed(schema, schema.get("type"), depth)

    def _typed(self, schema: dict[str, Json], kind: Json, depth: int) -> str:
        if isinstance(kind, list):
            return _either([self._typed(schema, one, depth) for one in kind if isinstance(one, str)])
        if kind == "array":
            inner = self.type(schema.get("items"), depth + 1)
            return f"({inner})[]" if " | " in inner or inner.startswith("string /") else f"{inner}[]"
        if kind == "object" or "properties" in schema:
            members = self.members(schema, depth + 1)
            return f"{{{', '.join(members)}}}" if members else "object"
        if not isinstance(kind, str):
            return "any"
        return f"{kind}{self._pattern(schema)}" if kind == "string" else kind

    def _pattern(self, schema: Mapping[str, Json]) -> str:
        pattern = schema.get("pattern")
        if not self._patterns or not isinstance(pattern, str) or len(pattern) > _PATTERN:
            return ""
        return f" /{write_json(pattern)[1:-1]}/"

    def members(self, schema: Mapping[str, Json], depth: int) -> list[str]:
        properties = schema.get("properties")
        required = schema.get("required")
        needed = required if isinstance(required, list) else []
        out = []
        for name, inner in properties.items() if isinstance(properties, dict) else ():
            if self._left < 0:
                out.append("…")
                break
            out.append(f"{_shown(name)}{'' if name in needed else '?'}: {self.type(inner, depth)}")
        return out


def _shown(name: str) -> str:
    return name if name.isidentifier() else write_json(name)


def _either(forms: list[str]) -> str:
    distinct = list(dict.fromkeys(forms))
    return " | ".join([*distinct[:_MANY], *(["…"] if len(distinct) > _MANY else [])]) or "any"


def _target(root: Json, reference: str) -> Json:
    """What a reference into the same schema names; None where it leads elsewhere."""
    here = root
    if not reference.startswith("#"):
        return None
    for part in reference[1:].split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        here = here.get(key) if isinstance(here, dict) else None
    return here
