"""The schemas of an OpenAPI document as self-contained JSON Schemas in 2020-12.

References into the document become definitions of the schema itself, and 3.0's own spellings (`nullable`, boolean
`exclusiveMinimum`, `example`) become those of JSON Schema.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import unquote

from envace_sdk.errors import SchemaError
from envace_sdk.json import Json

from .walk import map_children

__all__ = ["Direction", "Schemas", "lookup", "resolve"]

Direction = Literal["input", "output"]
"""`input`: what a request sends, less read-only properties; `output`: what a response holds, less write-only ones."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_ANNOTATIONS: Final = ("title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples")
_LONGEST_CHAIN: Final = 32


class Schemas:
    """Converts the schemas of one request or response; `definitions` holds what they refer to."""

    def __init__(self, document: Mapping[str, Json], direction: Direction) -> None:
        self._document = document
        self._is_3_0 = str(document.get("openapi")).startswith("3.0")
        self._hidden = "readOnly" if direction == "input" else "writeOnly"
        self._names: dict[str, str] = {}
        self._pending: list[str] = []
        self._definitions: dict[str, Json] = {}

    def convert(self, schema: Json) -> Json:
        """The schema with its references leading to `definitions`.

        Raises:
            SchemaError: a reference leads out of the document, or to nothing.
        """
        if not isinstance(schema, dict):
            return schema
        if isinstance(schema.get("$ref"), str):
            siblings = {} if self._is_3_0 else {key: part for key, part in schema.items() if key != "$ref"}
            return {"$ref": self._refer(schema["$ref"]), **self._convert_object(siblings)}
        return self._convert_object(schema)

    def definitions(self) -> dict[str, Json]:
        """What the converted schemas refer to, directly or not.

        Raises:
            SchemaError: as `convert`.
        """
        # Worked off from a list: a chain of references may be longer than the stack is deep.
        while self._pending:
            reference = self._pending.pop()
            self._definitions[self._names[reference]] = self.convert(lookup(self._document, reference))
        return dict(sorted(self._definitions.items()))

    def _refer(self, reference: str) -> str:
        if reference not in self._names:
            lookup(self._document, reference)
            self._names[reference] = self._name(reference)
            self._pending.append(reference)
        return f"#/$defs/{self._names[reference]}"

    def _name(self, reference: str) -> str:
        tokens = [token for token in _tokens(reference) if token not in ("components", "schemas")]
        base = _UNSAFE.sub("_", "_".join(tokens)) or "document"
        name, number = base, 2
        while name in self._names.values():
            name, number = f"{base}_{number}", number + 1
        return name

    def _convert_object(self, schema: Mapping[str, Json]) -> Json:
        converted = map_children(self._without_hidden(schema), self.convert)
        mapping = _dict(_dict(converted.get("discriminator")).get("mapping"))
        if mapping:
            converted["discriminator"] = {
                **converted["discriminator"],
                "mapping": {value: self._remap(target) for value, target in mapping.items()},
            }
        return _upgrade(converted) if self._is_3_0 else converted

    def _remap(self, target: Json) -> Json:
        if not isinstance(target, str) or not target.startswith("#/"):
            return target
        try:
            return self._refer(target)
        except SchemaError:
            return target  # an annotation only: nothing validates by it

    def _without_hidden(self, schema: Mapping[str, Json]) -> dict[str, Json]:
        properties, required = schema.get("properties"), schema.get("required")
        if not isinstance(properties, dict):
            return dict(schema)
        hidden = [name for name, child in properties.items() if self._is_hidden(child)]
        if not hidden:
            return dict(schema)
        shown = {**schema, "properties": {name: child for name, child in properties.items() if name not in hidden}}
        if isinstance(required, list):
            shown["required"] = [name for name in required if name not in hidden]
        return shown

    def _is_hidden(self, schema: Json) -> bool:
        if isinstance(schema, dict) and isinstance(schema.get("$ref"), str) and self._hidden not in schema:
            try:
                schema = resolve(self._document, schema)
            except SchemaError:
                return False
        return isinstance(schema, dict) and schema.get(self._hidden) is True


def lookup(document: Json, reference: str) -> Json:
    """What a reference within the document leads to.

    Raises:
        SchemaError: it leads out of the document, or to nothing.
    """
    if not reference.startswith("#"):
        raise SchemaError(f"{reference} is outside this document, and nothing is ever fetched from elsewhere")
    here = document
    for token in _tokens(reference):
        if isinstance(here, dict) and token in here:
            here = here[token]
        elif isinstance(here, list) and token.isascii() and token.isdigit() and int(token[:9]) < len(here):
            here = here[int(token[:9])]
        else:
            raise SchemaError(f"{reference} leads to nothing")
    return here


def resolve(document: Json, value: Json) -> Json:
    """The value, or what it refers to if it is a reference; references to references are followed.

    Raises:
        SchemaError: as `lookup`, or the references go round in a circle.
    """
    for _ in range(_LONGEST_CHAIN):
        reference = value.get("$ref") if isinstance(value, dict) else None
        if not isinstance(reference, str):
            return value
        value = lookup(document, reference)
    raise SchemaError(f"{reference} leads round in a circle")


def _tokens(reference: str) -> list[str]:
    fragment = unquote(reference[1:], errors="replace")
    if fragment and not fragment.startswith("/"):
        raise SchemaError(f"{reference} is no JSON pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in fragment.split("/")[1:]]


def _upgrade(schema: dict[str, Json]) -> Json:
    """From the dialect of OpenAPI 3.0 to JSON Schema 2020-12."""
    schema = dict(schema)
    for limit, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and limit in schema:
            schema[exclusive] = schema.pop(limit)
    if "example" in schema:
        example = schema.pop("example")
        schema.setdefault("examples", [example])
    return _nullable(schema) if schema.pop("nullable", False) is True else schema


def _nullable(schema: dict[str, Json]) -> Json:
    kind = schema.get("type")
    if isinstance(kind, str) and not any(key in schema for key in ("allOf", "anyOf", "oneOf", "not")):
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
        return {**schema, "type": [kind, "null"]}
    constrains = {key: part for key, part in schema.items() if key not in _ANNOTATIONS}
    if not constrains:
        return schema
    says = {key: part for key, part in schema.items() if key in _ANNOTATIONS}
    return {**says, "anyOf": [constrains, {"type": "null"}]}


def _dict(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}
