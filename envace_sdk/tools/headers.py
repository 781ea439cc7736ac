"""`x-mcp-header`: a property mirrored into an HTTP header. Clients of 2026-07-28 must drop a tool that misuses it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from envace_sdk.json import Json

from .finding import Finding, error
from .walk import Path, positions

__all__ = ["header_findings"]

_KEY: Final = "x-mcp-header"
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TYPES: Final = ("string", "integer", "boolean")


def header_findings(schema: Mapping[str, Json]) -> Iterator[Finding]:
    """Every invalid use of `x-mcp-header` in an input schema."""
    seen: dict[str, Path] = {}
    for here in positions(schema):
        if not isinstance(here.schema, dict) or _KEY not in here.schema:
            continue
        where = ("inputSchema", *here.path, _KEY)
        problem = _problem(here.path, here.schema)
        token = here.schema[_KEY]
        if problem is None and (first := seen.setdefault(token.lower(), here.path)) != here.path:
            problem = f"header {token!r} is already taken by {'.'.join(map(str, first[1::2]))}"
        if problem is not None:
            yield error(where, "mcp-header", problem, f"correct or remove `{_KEY}`: clients drop the tool otherwise")


def _problem(path: Path, schema: Mapping[str, Json]) -> str | None:
    if not path or any(keyword != "properties" for keyword in path[::2]):
        return "only a property reached from the root through `properties` alone may be mirrored into a header"
    token, kind = schema[_KEY], schema.get("type")
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        return "a header name is a non-empty RFC 9110 token"
    if kind not in _TYPES:
        return f"only a property of type {', '.join(_TYPES)} may be mirrored into a header"
    return None
