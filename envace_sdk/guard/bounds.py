"""Whether a schema bounds a value: what an explicit rule must do to every argument of a risky call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from envace_sdk.json import Json

__all__ = ["is_bounded", "unbounded"]

_DEPTH: Final = 20
_PARTS: Final = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", re.DOTALL)
"""What a pattern is read by: an escaped character, a class, a bracket, or a bar."""


def is_bounded(schema: Json, depth: int = 0) -> bool:
    """Whether the schema admits only values within limits that it states itself.

    `enum` and `const` do, so do a boolean, a text with `maxLength` or a `pattern` that is anchored at both ends (each
    alternative of it), a number with a limit on both sides, a list with `maxItems` and bounded items, and an object
    without additional properties whose properties are bounded.
    """
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return False
    if "enum" in schema or "const" in schema:
        return True
    kinds = schema.get("type")
    names = kinds if isinstance(kinds, list) else [kinds]
    return bool(names) and all(_bounds(str(name), schema, depth) for name in names)


def _bounds(kind: str, schema: Mapping[str, Json], depth: int) -> bool:
    if kind in {"boolean", "null"}:
        return True
    if kind == "string":
        return "maxLength" in schema or _is_anchored(str(schema.get("pattern", "")))
    if kind in {"integer", "number"}:
        below = "minimum" in schema or "exclusiveMinimum" in schema
        return below and ("maximum" in schema or "exclusiveMaximum" in schema)
    if kind == "array":
        return "maxItems" in schema and is_bounded(schema.get("items"), depth + 1)
    if kind == "object":
        parts = schema.get("properties", {})
        closed = schema.get("additionalProperties") is False and isinstance(parts, Mapping)
        return closed and all(is_bounded(part, depth + 1) for part in parts.values())
    return False


def _is_anchored(pattern: str) -> bool:
    """Whether a text must match as a whole. `^a|b$` is no such pattern: it means what starts with a, or ends with b."""
    inner = pattern[:-1]
    escaped = (len(inner) - len(inner.rstrip("\\"))) % 2 == 1
    if not (pattern.startswith("^") and pattern.endswith("$")) or escaped:
        return False
    depth = 0
    for part in _PARTS.findall(pattern):
        depth += (part == "(") - (part == ")")
        if part == "|" and depth == 0:
            return False
    return True


def unbounded(schemas: Mapping[str, Json], arguments: Mapping[str, Json]) -> list[str]:
    """The arguments of a call that no schema bounds, by name."""
    return sorted(name for name in arguments if not is_bounded(schemas.get(name)))
