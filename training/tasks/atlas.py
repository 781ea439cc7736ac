"""What in a world goes by which name: where an argument's values come from, and what refers to what.

Nothing here knows a domain. That an argument names an entity is told by its name (that of a collection's key field,
or of its noun), or by its schema, where that admits the keys of one collection and of no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from envace_sdk.errors import SchemaError
from envace_sdk.json import Json
from envace_sdk.jsonschema import compile_schema
from envace_sdk.rehearse.environment import Environment
from envace_sdk.tools.model import Tool
from envace_sdk.world.keys import Document, get_path
from envace_sdk.world.names import noun_of
from envace_sdk.world.state import State

from .words import words

__all__ = ["Atlas", "Mention"]

_MOST: Final = 2000
"""Entities of a collection that are looked at."""
_KEY: Final = re.compile(r"args\.(\w+)")
_TELLING: Final = frozenset({"pattern", "enum", "const"})

Mention = tuple[str, str, str]
"""Collection and key of an entity, and its field that holds the key of another."""


class Atlas:
    """The names and values of one environment in one state.

    Args:
        environment: whose tools are called.
        state: the world in which tasks begin.
    """

    def __init__(self, environment: Environment, state: State) -> None:
        self.environment = environment
        self.state = state
        self._rules = environment.dynamics.tools
        self._collections = environment.dynamics.collections
        self._refers: dict[tuple[str, str], str | None] = {}

    def noun(self, collection: str) -> str:
        """What one entity of the collection is called."""
        return noun_of(collection, self._collections.get(collection))

    def key_field(self, collection: str) -> str | None:
        """The key field of a collection; None where the key is a composite one."""
        fields = self._collections[collection].key_fields
        return fields[0] if len(fields) == 1 else None

    def key_argument(self, tool: Tool) -> str | None:
        """The argument that names the entity the tool is about, if there is one."""
        rule = self._rules.get(tool.name)
        found = _KEY.fullmatch(rule.key.strip()) if rule is not None and isinstance(rule.key, str) else None
        return found.group(1) if found else None

    def keys(self, collection: str) -> Sequence[str]:
        """The keys of a collection in the order of creation."""
        return self._keys.get(collection, ())

    def document(self, collection: str, key: str) -> Document | None:
        """An entity, as tasks find it."""
        return self.state.get(collection, key)

    def refers(self, tool: Tool, name: str, schema: Json) -> str | None:
        """The collection whose keys the argument holds; None where it holds none."""
        place = (tool.name, name)
        if place not in self._refers:
            self._refers[place] = self._referred(tool, name, schema)
        return self._refers[place]

    def values(self, tool: Tool, name: str) -> Sequence[Json]:
        """Values that the world, or a recorded call, has under an argument's name; those of the tool's kind first."""
        rule = self._rules.get(tool.name)
        own = (rule.collection if rule else None) or ""
        seen = self._recorded.get((tool.name, name), ())
        field = rule.filters[name].field if rule is not None and name in rule.filters else name
        return [*self._fields.get(own, {}).get(field, []), *seen] or self._everywhere.get(name, [])

    def mentions(self, collection: str, key: str) -> Sequence[Mention]:
        """The entities of other collections that refer to this one, with the field in which they do."""
        return self._mentions.get((collection, key), ())

    def _referred(self, tool: Tool, name: str, schema: Json) -> str | None:
        if name == self.key_argument(tool):
            rule = self._rules[tool.name]
            return rule.collection if rule.effect != "create" else None
        plain = words(name)
        singular = plain.removesuffix("s")
        named = [
            collection
            for collection in self._collections
            if (field := self.key_field(collection)) is not None
            and (words(field) in {plain, singular} or plain in {self.noun(collection), f"{self.noun(collection)} id"})
        ]
        own = self._rules[tool.name].collection if tool.name in self._rules else None
        if own in named and self._rules[tool.name].effect != "create":
            return own
        if len(named) == 1:
            return named[0]
        return self._admitted(schema) if not named else None

    def _admitted(self, schema: Json) -> str | None:
        """The one collection whose keys the schema admits, where it admits little else."""
        if isinstance(schema, Mapping) and isinstance(schema.get("items"), Mapping):
            schema = schema["items"]
        if not isinstance(schema, Mapping) or not _TELLING & schema.keys():
            return None
        try:
            judge = compile_schema(schema)
        except SchemaError:
            return None
        fitting = [
            collection
            for collection, keys in self._keys.items()
            if keys and all(judge.is_valid(self._raw_key(collection, key)) for key in keys[:5])
        ]
        return fitting[0] if len(fitting) == 1 else None

    def _raw_key(self, collection: str, key: str) -> Json:
        field = self.key_field(collection)
        return key if field is None else get_path(self.state.get(collection, key), field)

    def raw_key(self, collection: str, key: str) -> Json:
        """The key as the entity holds it: a number stays one."""
        return self._raw_key(collection, key)

    @cached_property
    def _keys(self) -> dict[str, list[str]]:
        return {
            name: [key for key, _ in islice(self.state.collection(name).items(), _MOST)] for name in self._collections
        }

    @cached_property
    def _fields(self) -> dict[str, dict[str, list[Json]]]:
        """By collection and top-level field, the distinct scalar values."""
        found: dict[str, dict[str, list[Json]]] = {}
        for collection, keys in self._keys.items():
            fields = found.setdefault(collection, {})
            for key in keys:
                for path, value in _scalars(self.state.get(collection, key) or {}):
                    values = fields.setdefault(path, [])
                    if value not in values:
                        values.append(value)
        return found

    @cached_property
    def _everywhere(self) -> dict[str, list[Json]]:
        found: dict[str, list[Json]] = {}
        for fields in self._fields.values():
            for path, values in fields.items():
                found.setdefault(path, []).extend(values)
        return found

    @cached_property
    def _recorded(self) -> dict[tuple[str, str], list[Json]]:
        found: dict[tuple[str, str], list[Json]] = {}
        for fixture in self.environment.seen:
            for name, value in fixture.call.arguments.items():
                if not fixture.result.is_error:
                    found.setdefault((fixture.call.name, name), []).append(value)
        return found

    @cached_property
    def _mentions(self) -> dict[tuple[str, str], list[Mention]]:
        by_field: dict[str, list[str]] = {}
        for collection in self._collections:
            field = self.key_field(collection)
            if field is not None:
                for name in {field, self.noun(collection).replace(" ", "_")}:
                    by_field.setdefault(name, []).append(collection)
        found: dict[tuple[str, str], list[Mention]] = {}
        for collection, keys in self._keys.items():
            own = self._collections[collection].key_fields
            for key in keys:
                for field, value in (self.state.get(collection, key) or {}).items():
                    targets = by_field.get(field, [])
                    if field in own or not isinstance(value, str) or len(targets) != 1:
                        continue
                    if self.state.get(targets[0], value) is not None:
                        found.setdefault((targets[0], value), []).append((collection, key, field))
        return found


def _scalars(document: Document) -> Iterator[tuple[str, Json]]:
    for name, value in document.items():
        if isinstance(value, dict):
            for inner, part in value.items():
                if not isinstance(part, dict | list) and part is not None:
                    yield f"{name}.{inner}", part
        elif not isinstance(value, list) and value is not None:
            yield name, value
