"""Schemas made ready for jsonschema-rs, where it would refuse them or judge otherwise."""

from __future__ import annotations

from envace_sdk.json import Json

from .dialect import Dialect, dialect, subschemas
from .regex import portable

__all__ = ["prepared"]


def prepared(schema: Json, of: Dialect) -> Json:
    """A copy that jsonschema-rs judges as the reference implementation judges the original: Python's patterns
    rewritten, an unknown `$schema` ignored, the content keywords annotations in every draft.
    """
    if not isinstance(schema, dict):
        return schema
    of = dialect(schema, of)
    copy = dict(schema)
    for (keyword, *rest), inner in subschemas(schema, of):
        if not rest:
            copy[keyword] = prepared(inner, of)
            continue
        if copy[keyword] is schema[keyword]:
            copy[keyword] = schema[keyword].copy()
        copy[keyword][rest[0]] = prepared(inner, of)
    if "$schema" in copy and dialect(copy, Dialect.DRAFT_3) is Dialect.DRAFT_3:
        del copy["$schema"]
    if of <= Dialect.DRAFT_7:
        copy.pop("contentMediaType", None)
        copy.pop("contentEncoding", None)
    if isinstance(pattern := copy.get("pattern"), str):
        copy["pattern"] = portable(pattern) or pattern
    if isinstance(by_pattern := copy.get("patternProperties"), dict):
        copy["patternProperties"] = _rewritten(by_pattern)
    return copy


def _rewritten(by_pattern: dict[str, Json]) -> dict[str, Json]:
    names = [portable(pattern) or pattern for pattern in by_pattern]
    return dict(zip(names, by_pattern.values(), strict=True)) if len(set(names)) == len(names) else by_pattern
