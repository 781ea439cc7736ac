"""Arguments that a call might really have: entities that are there, values that fit one another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Final

from envace_sdk.errors import SchemaError
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.jsonschema import Validator, compile_schema, generate
from envace_sdk.rehearse.shapes import follow, properties
from envace_sdk.tools.model import Tool
from envace_sdk.world.keys import Document

from .atlas import Atlas

__all__ = ["Arguments"]

_COHERENT: Final = 0.85
"""How often a value is taken from what has been chosen already, where it can be."""
_OPTIONAL: Final = 0.25
_RECORDED: Final = 0.15
"""How often a recorded call's arguments are taken as they are."""
_DEEPEST: Final = 4
_ARGUMENT: Final = re.compile(r"args\.(\w+)")


class Arguments:
    """Draws arguments for the tools of one environment.

    Args:
        atlas: the names and values of its world.
    """

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas
        self._validators: dict[str, Validator] = {}
        self._recorded: dict[str, list[Mapping[str, Json]]] = {}
        for fixture in atlas.environment.seen:
            if not fixture.result.is_error:
                self._recorded.setdefault(fixture.call.name, []).append(fixture.call.arguments)

    def draw(
        self,
        tool: Tool,
        random: Random,
        *,
        given: Mapping[str, Json] | None = None,
        optional: float = _OPTIONAL,
    ) -> dict[str, Json] | None:
        """Arguments that the tool's schema admits, or None where none were found.

        Args:
            tool: what is to be called.
            random: the source of chance.
            given: arguments that are wanted; the others are made to fit them.
            optional: the share of arguments that need not be there and are.
        """
        recorded = self._recorded.get(tool.name)
        if recorded and not given and random.random() < _RECORDED:
            return dict(random.choice(recorded))
        root = tool.input_schema
        chosen = _Chosen(self._atlas, tool, random)
        for name, value in (given or {}).items():
            chosen.take(name, properties(root).get(name), value)
        required = root.get("required")
        must = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        fields = properties(root)
        may = [name for name in fields if name not in {*must, *self._paging(tool)} and random.random() < optional]
        made: dict[str, Json] = dict(given or {})
        for name in (*must, *may):
            if name not in made:
                value = chosen.value(name, fields.get(name, True), root, 0)
                if value is not UNSET:
                    made[name] = value
        return self._admitted(tool, made, chosen, random)

    def _paging(self, tool: Tool) -> set[str]:
        """Arguments that only say how much of an answer is shown: nobody asks for that in words."""
        rule = self._atlas.environment.dynamics.tools.get(tool.name)
        told = (rule.limit, rule.offset, rule.cursor, rule.sort) if rule is not None else ()
        return {name for text in told if text is not None for name in _ARGUMENT.findall(text)}

    def _admitted(self, tool: Tool, made: dict[str, Json], chosen: _Chosen, random: Random) -> dict[str, Json] | None:
        try:
            validator = self._validators.get(tool.name)
            if validator is None:
                validator = self._validators[tool.name] = compile_schema(tool.input_schema, where=tool.name)
            if validator.is_valid(made):
                return made
            mended = generate(tool.input_schema, random=random, clock=self._atlas.state.clock, known=made)
        except SchemaError:
            return None
        kept = isinstance(mended, dict) and all(mended.get(name) == made[name] for name in chosen.given)
        return mended if kept else None


class _Chosen:
    """What has been chosen for one call, so that the rest fits it."""

    def __init__(self, atlas: Atlas, tool: Tool, random: Random) -> None:
        self._atlas = atlas
        self._tool = tool
        self._random = random
        self._documents: list[Document] = []
        self._scalars: dict[str, Json] = {}
        self.given: list[str] = []
        rule = atlas.environment.dynamics.tools.get(tool.name)
        self._changes = rule is not None and rule.effect in {"update", "create"}

    def take(self, name: str, schema: Json, value: Json) -> None:
        """Note an argument that was given."""
        self.given.append(name)
        self._note(name, schema, value)

    def value(self, name: str, schema: Json, root: Mapping[str, Json], depth: int) -> Json | Unset:
        """A value for an argument, or for a member of one."""
        schema = follow(schema, root)
        made = self._made(name, schema, root, depth)
        if made is not UNSET:
            self._note(name, schema, made)
        return made

    def _note(self, name: str, schema: Json, value: Json) -> None:
        if isinstance(value, dict | list):
            return
        self._scalars[name] = value
        collection = self._atlas.refers(self._tool, name, schema)
        document = self._atlas.document(collection, str(value)) if collection is not None else None
        if document is not None:
            self._documents.append(document)

    def _made(self, name: str, schema: Json, root: Mapping[str, Json], depth: int) -> Json | Unset:
        if not isinstance(schema, Mapping):
            return UNSET
        options = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(options, list) and options and depth < _DEEPEST:
            return self._made(name, follow(self._random.choice(options), root), root, depth + 1)
        kind = schema.get("type")
        if (kind == "object" or "properties" in schema) and depth < _DEEPEST:
            return self._object(schema, root, depth)
        if kind == "array" and depth < _DEEPEST:
            return self._array(name, schema, root, depth)
        return self._scalar(name, schema)

    def _object(self, schema: Mapping[str, Json], root: Mapping[str, Json], depth: int) -> Json:
        must = schema.get("required")
        required = must if isinstance(must, list) else []
        made: dict[str, Json] = {}
        for name, part in properties(schema).items():
            if name in required or self._random.random() < _OPTIONAL:
                value = self.value(name, part, root, depth + 1)
                if value is not UNSET:
                    made[name] = value
        return made

    def _array(self, name: str, schema: Mapping[str, Json], root: Mapping[str, Json], depth: int) -> Json:
        least = schema.get("minItems", 1)
        most = schema.get("maxItems", 2)
        count = self._random.choice((1, 1, 2))
        count = max(least if isinstance(least, int) else 1, min(count, most if isinstance(most, int) else 2))
        made: list[Json] = []
        for _ in range(min(count, 5)):
            value = self.value(name, schema.get("items", True), root, depth + 1)
            if value is not UNSET and not any(_is_same(value, other) for other in made):
                made.append(value)
        return made

    def _scalar(self, name: str, schema: Mapping[str, Json]) -> Json | Unset:
        known = [value for document in self._documents for value in _under(document, name, 0)]
        if known and not self._changes_it(name) and self._random.random() < _COHERENT:
            return self._random.choice(known)
        collection = self._atlas.refers(self._tool, name, schema)
        if collection is not None and (key := self._key(collection)) is not None:
            return key
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            fresh = [value for value in schema["enum"] if value not in known]
            return self._random.choice(fresh or schema["enum"])
        pool = [value for value in self._atlas.values(self._tool, name) if not known or value not in known]
        judge = compile_schema(schema) if pool else None
        fitting = [value for value in pool if judge is not None and judge.is_valid(value)]
        if fitting and self._random.random() < _COHERENT:
            return self._random.choice(fitting)
        return generate(schema, random=self._random, clock=self._atlas.state.clock, name=name)

    def _changes_it(self, name: str) -> bool:
        """Whether the call sets the field, so that the value it has already would change nothing."""
        return self._changes and self._atlas.key_argument(self._tool) != name

    def _key(self, collection: str) -> Json | None:
        """A key of the collection, of an entity that fits what has been chosen where there is one."""
        keys = self._atlas.keys(collection)
        if not keys:
            return None
        if self._scalars and self._random.random() < _COHERENT:
            related = [key for key in keys if self._is_related(collection, key)]
            keys = related or keys
        return self._atlas.raw_key(collection, self._random.choice(keys))

    def _is_related(self, collection: str, key: str) -> bool:
        document = self._atlas.document(collection, key) or {}
        return any(document.get(name) == value for name, value in self._scalars.items())


def _is_same(one: Json, other: Json) -> bool:
    """Whether two elements of a list are about the same thing: they begin alike."""
    if isinstance(one, dict) and isinstance(other, dict):
        return next(iter(one.items()), None) == next(iter(other.items()), None)
    return bool(one == other)


def _under(value: Json, name: str, depth: int) -> Iterator[Json]:
    """The scalars under a name, at whatever depth."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value[:20]:
            yield from _under(item, name, depth + 1)
    elif isinstance(value, dict):
        for field, part in value.items():
            if isinstance(part, dict | list):
                yield from _under(part, name, depth + 1)
            elif field == name and part is not None:
                yield part
