"""The JSON Schema of a response, for decoding under constraint."""

from __future__ import annotations

from typing import Final

from envace_sdk.json import Json
from envace_sdk.jsonschema import Dialect, dialect
from envace_sdk.jsonschema.dialect import reference_keywords, subschemas
from envace_sdk.tools.model import Tool

__all__ = ["response_schema"]

_PLACE: Final = "#/$defs/result"


def response_schema(tool: Tool, *, errors: bool = True) -> Json:
    """The schema of `{"result": …}`, with a result valid against the tool's output schema, or `{"error": "…"}`.

    Args:
        tool: whose response it is.
        errors: whether it may be an error.
    """
    result = {"result": {"$ref": _PLACE}} if tool.output_schema is not None else {"result": {}}
    forms = [_single(result), *([_single({"error": {"type": "string", "minLength": 1}})] if errors else [])]
    schema: dict[str, Json] = {"anyOf": forms} if errors else forms[0]
    if tool.output_schema is None:
        return schema
    of = dialect(tool.output_schema)
    head = {"$schema": tool.output_schema["$schema"]} if of is not Dialect.DRAFT_2020 else {}
    return {**head, **schema, "$defs": {"result": _moved(tool.output_schema, of)}}


def _single(member: dict[str, Json]) -> dict[str, Json]:
    return {"type": "object", "properties": member, "required": list(member), "additionalProperties": False}


def _moved(schema: Json, of: Dialect) -> Json:
    """The schema with its references to itself pointing to its new place."""
    if not isinstance(schema, dict):
        return schema
    out = {keyword: value for keyword, value in schema.items() if keyword not in {"$schema", "$id"}}
    for keyword in reference_keywords(of):
        target = out.get(keyword)
        if isinstance(target, str) and (target == "#" or target.startswith("#/")):
            out[keyword] = _PLACE + target[1:]
    for path, inner in subschemas(schema, of):
        if len(path) == 1:
            out[str(path[0])] = _moved(inner, of)
            continue
        keyword, at = str(path[0]), path[1]
        if out[keyword] is schema[keyword]:
            out[keyword] = schema[keyword].copy()
        out[keyword][at] = _moved(inner, of)
    return out
