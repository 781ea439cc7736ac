"""The hot path: jsonschema-rs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import jsonschema_rs

from envace_sdk.json import Json

from .pointer import lookup
from .violation import Failure

__all__ = ["failures", "meta_schemas", "registry", "scrubbed", "validator"]

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def validator(schema: Json, registry: jsonschema_rs.Registry | None = None) -> jsonschema_rs.Validator:
    """The compiled schema. Formats are annotations, as they are for MCP clients; nothing is ever fetched.

    Raises:
        ValueError: jsonschema-rs refuses it; a `jsonschema_rs.ValidationError` says where and why.
    """
    return jsonschema_rs.validator_for(schema, validate_formats=False, offline=True, registry=registry)


@lru_cache(maxsize=1)
def meta_schemas() -> tuple[tuple[str, Json], ...]:
    """Those of every draft, by URI: a schema may refer to one without anything being fetched."""
    from jsonschema_specifications import REGISTRY

    return tuple((uri, REGISTRY[uri].contents) for uri in sorted(REGISTRY))


def registry(*resources: tuple[str, Json]) -> jsonschema_rs.Registry:
    """The meta-schemas, and further documents by URI; what they refer to beyond that is taken to allow anything.

    Raises:
        ValueError: a document is not a schema.
    """
    return jsonschema_rs.Registry([*meta_schemas(), *resources], retriever=lambda _uri: True)


def scrubbed(value: Json) -> Json:
    """The value with each lone surrogate, which Rust's strings cannot hold, replaced by a private character of its own:
    lengths and equality stay as they were.
    """
    if isinstance(value, str):
        return _SURROGATE.sub(lambda match: chr(0xF0000 + ord(match[0]) - 0xD800), value)
    if isinstance(value, dict):
        return {scrubbed(key): scrubbed(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(item) for item in value]
    return value


def failures(error: jsonschema_rs.ValidationError, schema: Json) -> Failure:
    """An error of jsonschema-rs, told in our words."""
    kind, schema_path = error.kind.name, tuple(error.schema_path)
    about = dict(_particulars(error))
    rule = "false" if kind == "falseSchema" else _keyword(schema_path) or kind
    parent = _parent(schema, schema_path, rule)
    context = about.pop("context", ())
    branches = [[failures(inner, schema) for inner in branch] for branch in context]
    return Failure(rule, tuple(error.instance_path), schema_path, parent, about, branches)


def _keyword(schema_path: tuple[str | int, ...]) -> str | None:
    if "propertyNames" in schema_path[-2:-1]:
        return "propertyNames"
    last = schema_path[-1] if schema_path else None
    return last if isinstance(last, str) else None


def _parent(schema: Json, schema_path: tuple[str | int, ...], rule: str) -> Json:
    """The schema that holds the keyword. The path is relative to the nearest `$id`, so it may lead nowhere."""
    path = schema_path[:-1]
    if rule == "propertyNames" and schema_path[-1:] != ("propertyNames",):
        path = schema_path[:-2]
    found = lookup(schema, path)
    return found if isinstance(found, dict) and rule in found else None


def _particulars(error: jsonschema_rs.ValidationError) -> Iterator[tuple[str, Json]]:
    for key, value in error.kind.as_dict().items():
        if key == "expected_value":
            yield "options", [value]
        elif key == "error":  # of a property's name
            if isinstance(value, jsonschema_rs.ValidationError):
                yield "name", value.instance
        else:
            yield key, value
