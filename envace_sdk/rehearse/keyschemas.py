"""What the tools of a toolset ask of the keys of each collection.

A new key is shown by output schemas, and then passed to the tools that take it: it has to meet both.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from random import Random

from envace_sdk.errors import SchemaError
from envace_sdk.json import Json
from envace_sdk.jsonschema import generate
from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Change, Dynamics, ToolRule
from envace_sdk.world.keyfield import without_formats

from .shapes import TRUST, follow, properties, shown_entity

__all__ = ["KeySchemas"]

_CLOCK = datetime(2026, 1, 1, tzinfo=UTC)
_DEPTH = 8
_ARGUMENT = re.compile(r"\s*args\.([A-Za-z_]\w*)\s*", re.ASCII)
_NOTES = {"title", "description", "$id", "$comment", "$schema", "$anchor", "examples", "example", "deprecated"}
_VALUES = {"enum", "const", "default", "examples", "example"}


class KeySchemas:
    """By collection, the schema of an entity as far as its key goes; found when first asked for."""

    def __init__(self, tools: Iterable[Tool], dynamics: Dynamics) -> None:
        self._dynamics = dynamics
        rules = [(tool, rule) for tool in tools if (rule := dynamics.tools.get(tool.name)) is not None]
        self._rules = sorted(rules, key=lambda pair: TRUST.get(pair[1].effect, 9))
        self._found: dict[str, Json] = {}

    def __call__(self, collection: str) -> Json:
        """An object schema with the key fields of which something is known, or None."""
        if collection not in self._found:
            self._found[collection] = self._schema(collection)
        return self._found[collection]

    def _schema(self, collection: str) -> Json:
        rule = self._dynamics.collections.get(collection)
        fields = {} if rule is None else {field: self._field(collection, field) for field in rule.key_fields}
        fields = {field: schema for field, schema in fields.items() if schema is not None}
        return {"type": "object", "properties": fields} if fields else None

    def _field(self, collection: str, field: str) -> Json:
        """What all agree on: outputs first, then arguments; one that contradicts those before it is left out."""
        parts: dict[str, dict[str, Json]] = {}
        for part in (*self._shown(collection, field), *self._taken(collection, field)):
            if isinstance(part, dict):
                told = {name: value for name, value in part.items() if name not in _NOTES}
                parts.setdefault(json.dumps(told, sort_keys=True), part)
        agreed: list[dict[str, Json]] = []
        for part in parts.values():
            if len(parts) == 1 or _is_satisfiable([*agreed, part]):
                agreed.append(part)
        return _merged(agreed) if agreed else None

    def _shown(self, collection: str, field: str) -> Iterator[Json]:
        single = len(self._dynamics.collections[collection].key_fields) == 1
        for tool, rule in self._rules:
            if rule.collection != collection:
                continue
            root = tool.output_schema
            shown = shown_entity(tool, rule)
            if shown is not None:
                yield from _at(shown, shown if root is None else root, field)
            elif rule.returns.object and isinstance(root, dict):
                names = {f"entity.{field}", "key" if single else ""}
                for name, source in rule.returns.object.items():
                    if source.strip() in names:
                        yield from _at(root, root, name)

    def _taken(self, collection: str, field: str) -> Iterator[Json]:
        place = self._dynamics.collections[collection].key_fields.index(field)
        for tool, rule in self._rules:
            for key in _keys(rule, collection):
                named = _ARGUMENT.fullmatch(key[place]) if place < len(key) else None
                if named is not None:
                    yield from _at(tool.input_schema, tool.input_schema, named[1])


def _keys(rule: ToolRule, collection: str) -> Iterator[Sequence[str]]:
    """The expressions of the keys by which a rule names entities of the collection."""
    changes: tuple[ToolRule | Change, ...] = (rule, *rule.also)
    for change in changes:
        if change.collection == collection and change.key is not None:
            yield [change.key] if isinstance(change.key, str) else change.key


def _at(schema: Json, root: Mapping[str, Json], path: str, depth: int = 0) -> Iterator[Json]:
    """What is said of the field at a dotted path, free of references."""
    schema = follow(schema, root)
    if not isinstance(schema, dict) or depth > _DEPTH:
        return
    fields = properties(schema)
    if path in fields:
        with contextlib.suppress(LookupError):  # one that refers to itself, or beyond the tool, says nothing
            yield _inlined(fields[path], root, 0)
    elif "." in path:
        head, _, rest = path.partition(".")
        yield from _at(fields.get(head), root, rest, depth + 1)
    parts = schema.get("allOf")
    for part in parts if isinstance(parts, list) else []:
        yield from _at(part, root, path, depth + 1)


def _inlined(schema: Json, root: Mapping[str, Json], depth: int) -> Json:
    if depth > _DEPTH:
        raise LookupError(depth)
    if isinstance(schema, list):
        return [_inlined(item, root, depth + 1) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("$ref"), str):
        target = follow({"$ref": schema["$ref"]}, root)
        if not isinstance(target, dict | bool) or (isinstance(target, dict) and "$ref" in target):
            raise LookupError(schema["$ref"])
        beside = {name: value for name, value in schema.items() if name != "$ref" and name not in _NOTES}
        found = _inlined(target, root, depth + 1)
        return {"allOf": [found, _inlined(beside, root, depth + 1)]} if beside else found
    return {
        name: value if name in _VALUES else _inlined(value, root, depth + 1)
        for name, value in schema.items()
        if name not in {"$defs", "definitions"}
    }


def _merged(parts: Sequence[dict[str, Json]]) -> Json:
    first, *rest = parts
    if not rest:
        return first
    own = first.get("allOf")
    return {**first, "allOf": [*(own if isinstance(own, list) else []), *rest]}


def _is_satisfiable(parts: Sequence[dict[str, Json]]) -> bool:
    try:
        generate(without_formats(_merged(parts)), random=Random(0), clock=_CLOCK)
    except SchemaError:
        return False
    return True
