"""Which JSON Schema a schema is written in, and where a schema holds further schemas."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Final

from envace_sdk.json import Json

__all__ = ["Dialect", "Path", "dialect", "reference_keywords", "subschemas"]

Path = tuple[str | int, ...]


class Dialect(IntEnum):
    """The drafts, in order: `dialect < Dialect.DRAFT_2019` reads as it should."""

    DRAFT_3 = 3
    DRAFT_4 = 4
    DRAFT_6 = 6
    DRAFT_7 = 7
    DRAFT_2019 = 2019
    DRAFT_2020 = 2020

    @property
    def uri(self) -> str:
        """The URI of its meta-schema."""
        return _URIS[self]


_URIS: Final = {
    Dialect.DRAFT_3: "http://json-schema.org/draft-03/schema#",
    Dialect.DRAFT_4: "http://json-schema.org/draft-04/schema#",
    Dialect.DRAFT_6: "http://json-schema.org/draft-06/schema#",
    Dialect.DRAFT_7: "http://json-schema.org/draft-07/schema#",
    Dialect.DRAFT_2019: "https://json-schema.org/draft/2019-09/schema",
    Dialect.DRAFT_2020: "https://json-schema.org/draft/2020-12/schema",
}
_BY_URI: Final = {uri.rstrip("#").partition("://")[2]: dialect for dialect, uri in _URIS.items()}


def dialect(schema: Json, default: Dialect = Dialect.DRAFT_2020) -> Dialect:
    """What `$schema` names; `default` where it names nothing that is known (MCP's default is 2020-12)."""
    uri = schema.get("$schema") if isinstance(schema, dict) else None
    if not isinstance(uri, str):
        return default
    return _BY_URI.get(uri.rstrip("#").partition("://")[2], default)


# Keywords whose value is a schema, a list of schemas, or a map of names to schemas, and the drafts that have them.
_FIRST, _LAST = Dialect.DRAFT_3, Dialect.DRAFT_2020
_SCHEMA: Final = {
    "additionalItems": (_FIRST, Dialect.DRAFT_2019),
    "additionalProperties": (_FIRST, _LAST),
    "contains": (Dialect.DRAFT_6, _LAST),
    "else": (Dialect.DRAFT_7, _LAST),
    "if": (Dialect.DRAFT_7, _LAST),
    "items": (_FIRST, _LAST),
    "not": (Dialect.DRAFT_4, _LAST),
    "propertyNames": (Dialect.DRAFT_6, _LAST),
    "then": (Dialect.DRAFT_7, _LAST),
    "unevaluatedItems": (Dialect.DRAFT_2019, _LAST),
    "unevaluatedProperties": (Dialect.DRAFT_2019, _LAST),
}
_LIST: Final = {
    "allOf": (Dialect.DRAFT_4, _LAST),
    "anyOf": (Dialect.DRAFT_4, _LAST),
    "extends": (_FIRST, _FIRST),
    "items": (_FIRST, Dialect.DRAFT_2019),
    "oneOf": (Dialect.DRAFT_4, _LAST),
    "prefixItems": (_LAST, _LAST),
}
_MAP: Final = {
    "$defs": (_FIRST, _LAST),
    "definitions": (_FIRST, _LAST),
    "dependencies": (_FIRST, _LAST),
    "dependentSchemas": (Dialect.DRAFT_2019, _LAST),
    "patternProperties": (_FIRST, _LAST),
    "properties": (_FIRST, _LAST),
}


def reference_keywords(of: Dialect) -> tuple[str, ...]:
    """The keywords that refer to another schema."""
    if of >= Dialect.DRAFT_2020:
        return ("$ref", "$dynamicRef")
    return ("$ref", "$recursiveRef") if of >= Dialect.DRAFT_2019 else ("$ref",)


def subschemas(schema: Json, of: Dialect) -> Iterator[tuple[Path, Json]]:
    """The schemas directly inside one, with their paths: never what merely looks like one in a const or a default."""
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if isinstance(value, list):
            if keyword in _LIST and _LIST[keyword][0] <= of <= _LIST[keyword][1]:
                yield from (((keyword, index), item) for index, item in enumerate(value))
        elif not isinstance(value, dict | bool):
            continue
        elif keyword in _MAP and isinstance(value, dict):
            if _MAP[keyword][0] <= of <= _MAP[keyword][1]:
                yield from (((keyword, name), item) for name, item in value.items() if isinstance(item, dict | bool))
        elif keyword in _SCHEMA and _SCHEMA[keyword][0] <= of <= _SCHEMA[keyword][1]:
            yield (keyword,), value
