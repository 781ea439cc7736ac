"""A function that looks like the tool it calls, for frameworks and people that inspect it."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Mapping
from typing import Any, Final

from envace_sdk.json import Json
from envace_sdk.tools.model import Tool

__all__ = ["describe"]

_TYPES: Final[dict[str, Any]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "number": float,
    "object": dict,
    "string": str,
}


def describe(function: Callable[..., Any], tool: Tool) -> Callable[..., Any]:
    """The function with the tool's name, description, and arguments as far as Python can spell them."""
    schema = tool.input_schema
    properties, required = schema.get("properties"), schema.get("required")
    given = properties if isinstance(properties, Mapping) else {}
    needed = set(required) if isinstance(required, list) else set()
    names = [name for name in given if name.isidentifier() and not keyword.iskeyword(name)]
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if name in needed else None,
            annotation=_annotation(given[name]),
        )
        for name in names
    ]
    if len(names) < len(given) or schema.get("additionalProperties", True) is not False:
        parameters.append(inspect.Parameter("more", inspect.Parameter.VAR_KEYWORD, annotation=Any))
    function.__name__ = function.__qualname__ = tool.name
    function.__doc__ = tool.description or None
    function.__signature__ = inspect.Signature(parameters, return_annotation=Any)  # type: ignore[attr-defined]
    function.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": Any}
    return function


def _annotation(schema: Json) -> Any:
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return _TYPES.get(kind, Any) if isinstance(kind, str) else Any
