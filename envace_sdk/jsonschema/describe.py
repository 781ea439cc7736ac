"""Schemas and values in a few words, for error messages."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from envace_sdk.json import Json

__all__ = ["describe_schema", "describe_value", "listed", "literal", "type_name"]

_SHORT: Final = 60


def literal(value: Json, limit: int = _SHORT) -> str:
    """A value as text, strings in single quotes, shortened."""
    if isinstance(value, str):
        text = "'" + value[:limit].encode("unicode_escape", "backslashreplace").decode("ascii") + "'"
        if value.isprintable():
            text = f"'{value[:limit]}'"
        return text if len(value) <= limit else text[:-1] + "…'"
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, TypeError, RecursionError):
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else text[:limit] + "…"


def type_name(value: Json) -> str:
    """The JSON type of a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case dict():
            return "object"
    return type(value).__name__


def listed(items: Iterable[str], most: int = 6, last: str = " or ") -> str:
    """`'a', 'b' or 'c'`, and how many more."""
    found = list(items)
    if len(found) > most:
        return ", ".join(found[:most]) + f", … ({len(found) - most} more)"
    return last.join(filter(None, (", ".join(found[:-1]), *found[-1:])))


def describe_value(value: Json) -> str:
    """What was got: its type, and the value itself where it is short."""
    match value:
        case None:
            return "null"
        case dict():
            if not value:
                return "an empty object"
            return f"object with {listed((literal(key, 30) for key in value), last=' and ')}"
        case list() | tuple():
            return f"array of {len(value)}" if value else "an empty array"
    return f"{type_name(value)} {literal(value)}"


def describe_schema(schema: Json, depth: int = 0) -> str:
    """What a schema asks for, as a noun phrase: "integer ≥ 1", "one of 'a' or 'b'", "string or null"."""
    if isinstance(schema, bool):
        return "any value" if schema else "no value"
    if not isinstance(schema, dict):
        return "a valid value"
    if "const" in schema:
        return literal(schema["const"])
    if isinstance(schema.get("enum"), list):
        return "one of " + listed(map(literal, schema["enum"]))
    for keyword in ("anyOf", "oneOf"):
        options = schema.get(keyword)
        if isinstance(options, list) and options and depth < 2 and "type" not in schema:
            return listed(dict.fromkeys(describe_schema(option, depth + 1) for option in options))
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    noun = listed(kind for kind in kinds if isinstance(kind, str))
    limits = _limits(schema)
    if not noun and not limits:
        return "a value that fits its schema"
    return " ".join(filter(None, (noun or "value", limits)))


def _limits(schema: dict[str, Json]) -> str:
    parts = [
        f"{sign} {literal(schema[keyword])}"
        for keyword, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
        if isinstance(schema.get(keyword), int | float) and not isinstance(schema[keyword], bool)
    ]
    if "multipleOf" in schema:
        parts.append(f"that is a multiple of {literal(schema['multipleOf'])}")
    if "format" in schema:
        parts.append(f"in format {literal(schema['format'])}")
    if "pattern" in schema:
        parts.append(f"that matches {literal(schema['pattern'])}")
    for least, most, unit in (
        ("minLength", "maxLength", "character"),
        ("minItems", "maxItems", "item"),
        ("minProperties", "maxProperties", "propert"),
    ):
        parts.append(_count(schema.get(least), schema.get(most), unit))
    return " ".join(filter(None, parts))


def _count(least: Json, most: Json, unit: str) -> str:
    def units(number: Json) -> str:
        if unit == "propert":
            return f"{number} propert{'y' if number == 1 else 'ies'}"
        return f"{number} {unit}{'' if number == 1 else 's'}"

    if least is None and most is None:
        return ""
    if most is None:
        return f"of at least {units(least)}"
    if least is None:
        return f"of at most {units(most)}"
    return f"of {units(most)}" if least == most else f"of {least} to {units(most)}"
