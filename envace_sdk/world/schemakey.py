"""The shape of keys that a JSON Schema asks for."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from random import Random

from envace_sdk.json import Json

from .keyshape import Numbered, Scattered, Shape, highest, shape_of

__all__ = ["field_schema", "shape_from_schema"]

_CLOCK = datetime(2026, 1, 1, tzinfo=UTC)


def field_schema(schema: Json, path: str) -> Json:
    """The schema of the field at a dotted path in objects of this schema, or None."""
    if path in _properties(schema):
        return _properties(schema)[path]
    for name in path.split("."):
        schema = _properties(schema).get(name)
    return schema


def _properties(schema: Json) -> dict[str, Json]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    return found if isinstance(found, dict) else {}


def shape_from_schema(schema: Json) -> Shape | None:
    """The shape for a key field of this schema, or None when it leaves the choice open."""
    if not isinstance(schema, dict):
        return None
    kinds = schema.get("type")
    kinds = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    if "string" not in kinds:
        return Numbered("", 0, "", integer=True) if "integer" in kinds or "number" in kinds else None
    examples = schema.get("examples")
    texts = [*examples] if isinstance(examples, list) else []
    texts = [text for text in (*texts, schema.get("default")) if isinstance(text, str) and text]
    shape = shape_of(texts) if not {"pattern", "enum", "const"} & schema.keys() else None
    if shape is None and {"pattern", "format", "minLength", "maxLength"} & schema.keys():
        return _generated(json.dumps(schema))
    if isinstance(shape, Numbered):
        # What stands as an example is likely to be asked for, and must not then be a new entity's.
        return replace(shape, first=1 + highest(texts, shape))
    return shape


@lru_cache(maxsize=256)
def _generated(schema: str) -> Shape:
    from envace_sdk.jsonschema import generate

    definition = json.loads(schema)

    def key(random: Random) -> Json:
        return generate(definition, random=random, clock=_CLOCK)

    return Scattered(key)
