"""A tool's arguments, flattened: what `{input: {title}}` wraps counts as arguments like any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from envace_sdk.json import UNSET, Json, Unset

from .words import bag, singular, split

__all__ = ["Argument", "arguments_of", "fields_of", "resolve"]

_WRAPPERS = bag(
    "input inputs data payload body field fields attribute attributes patch change changes update updates filter "
    "filters param params parameter parameters property properties option options args argument arguments request "
    "values criteria where query object entity resource details set spec new paging pagination page sort search "
    "selector record item edit edits form"
)
_MAX_FIELDS = 200
_MAX_DEPTH = 3
_MAX_NESTING = 8
_MAX_STEPS = 200


@dataclass(frozen=True)
class Argument:
    """One value a call can give."""

    path: tuple[str, ...]
    schema: Mapping[str, Json]
    required: bool
    """Whether every call gives it (all objects around it are required too)."""

    @cached_property
    def name(self) -> str:
        """Its own name, as spelled."""
        return self.path[-1]

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its name in lower-case words; at least one, if only of signs."""
        return split(self.path[-1]) or (self.path[-1].lower() or "_",)

    @cached_property
    def types(self) -> frozenset[str]:
        """JSON types it may have, null aside; empty when the schema does not say."""
        found = self.schema.get("type")
        names = [found] if isinstance(found, str) else found if isinstance(found, list) else []
        types = {name for name in names if isinstance(name, str)} - {"null"}
        if not types and self.enum:
            types = {_type_of(value) for value in self.enum}
        if not types and isinstance(self.schema.get("properties"), Mapping):
            types = {"object"}
        return frozenset(types)

    @cached_property
    def enum(self) -> tuple[Json, ...]:
        """The values it is limited to, null aside; empty when it is not limited."""
        if "const" in self.schema:
            return (self.schema["const"],)
        values = self.schema.get("enum")
        return tuple(value for value in values if value is not None) if isinstance(values, list) else ()

    @cached_property
    def default(self) -> Json | Unset:
        """What its schema says an absent one means."""
        return self.schema.get("default", UNSET)

    @cached_property
    def description(self) -> str:
        """What its schema says of it."""
        found = self.schema.get("description")
        return found if isinstance(found, str) else ""

    @property
    def is_scalar(self) -> bool:
        """Whether it can be a string or a number, as far as the schema tells."""
        return not self.types or bool(self.types & {"string", "integer", "number"})

    @property
    def is_text(self) -> bool:
        """Whether it is free text."""
        return (not self.types or "string" in self.types) and not self.enum

    @property
    def is_number(self) -> bool:
        """Whether it is a number and nothing else."""
        return bool(self.types) and self.types <= {"integer", "number"}

    @property
    def is_flag(self) -> bool:
        """Whether it is a boolean and nothing else."""
        return self.types == {"boolean"}

    @property
    def is_list(self) -> bool:
        """Whether it is a list, as far as the schema tells."""
        return "array" in self.types

    @property
    def is_object(self) -> bool:
        """Whether it is an object."""
        return "object" in self.types

    @cached_property
    def item(self) -> Mapping[str, Json]:
        """The schema of a list's elements."""
        return _mapping(self.schema.get("items"))


def arguments_of(schema: Mapping[str, Json], nouns: frozenset[str] = frozenset()) -> tuple[Argument, ...]:
    """The arguments of an input schema. Objects that only wrap arguments (`input`, `filter`, or a word of `nouns`:
    the tool's own) are opened; an object that is a value of its own (`address`) stays whole.
    """
    found: list[Argument] = []
    for argument in _open(resolve(schema, schema), schema, (), True, nouns, _MAX_DEPTH):
        found.append(argument)
        if len(found) >= _MAX_FIELDS:
            break
    return tuple(found)


def fields_of(schema: Json, root: Json) -> tuple[Argument, ...]:
    """The members of an object schema, nothing opened."""
    resolved = resolve(schema, root)
    required = _names(resolved.get("required"))
    members = _mapping(resolved.get("properties"))
    return tuple(
        Argument((name,), resolve(member, root), name in required)
        for name, member in list(members.items())[:_MAX_FIELDS]
        if name.strip()
    )


def _open(
    schema: Mapping[str, Json],
    root: Json,
    path: tuple[str, ...],
    required: bool,
    nouns: frozenset[str],
    depth: int,
) -> Iterator[Argument]:
    members = _mapping(schema.get("properties"))
    given = _names(schema.get("required"))
    for name, member in list(members.items())[:_MAX_FIELDS]:
        if not name.strip():
            continue  # a name of blanks names nothing, least of all a key
        argument = Argument((*path, name), resolve(member, root), required and name in given)
        alone = len(members) == 1 and not path
        if depth and argument.is_object and argument.schema.get("properties") and (alone or _wraps(argument, nouns)):
            yield from _open(argument.schema, root, argument.path, argument.required, nouns, depth - 1)
        else:
            yield argument


def _wraps(argument: Argument, nouns: frozenset[str]) -> bool:
    words = argument.words
    return bool(words) and (words[-1] in _WRAPPERS or all(singular(w) in nouns or w in _WRAPPERS for w in words))


def resolve(schema: Json, root: Json) -> Mapping[str, Json]:
    """The schema with its local `$ref`, `allOf` and null alternatives worked in; {} for what is no object schema."""
    return _Resolver(root).resolve(schema, _MAX_NESTING)


class _Resolver:
    """One resolution; its steps are bounded, because alternatives that refer to each other multiply."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._steps = _MAX_STEPS

    def resolve(self, schema: Json, depth: int) -> Mapping[str, Json]:
        self._steps -= 1
        if not isinstance(schema, Mapping) or depth < 0 or self._steps < 0:
            return {}
        found: dict[str, Json] = dict(schema)
        reference = found.pop("$ref", None)
        if isinstance(reference, str):
            found = {**self.resolve(_pointer(reference, self._root), depth - 1), **found}
        for part in _list(found.pop("allOf", None)):
            found = _merge(found, self.resolve(part, depth - 1))
        for keyword in ("anyOf", "oneOf"):
            variants = [self.resolve(part, depth - 1) for part in _list(found.get(keyword))[:16]]
            variants = [part for part in variants if part.get("type") != "null" and part.get("const", 0) is not None]
            if variants:
                del found[keyword]
                found = _merge(found, variants[0] if len(variants) == 1 else _union(variants))
        return found


def _merge(left: Mapping[str, Json], right: Mapping[str, Json]) -> dict[str, Json]:
    merged = {**right, **left}
    properties = {**_mapping(right.get("properties")), **_mapping(left.get("properties"))}
    if properties:
        merged["properties"] = properties
    required = [*_names(left.get("required")), *_names(right.get("required"))]
    if required:
        merged["required"] = required
    return merged


def _union(variants: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """What several alternatives have in common: all their types and members, required where every one requires it."""
    types: list[str] = []
    properties: dict[str, Json] = {}
    enum: list[Json] = []
    for variant in variants:
        found = variant.get("type")
        types += [found] if isinstance(found, str) else [t for t in _list(found) if isinstance(t, str)]
        properties = {**_mapping(variant.get("properties")), **properties}
        enum += [variant["const"]] if "const" in variant else _list(variant.get("enum"))
    union: dict[str, Json] = {"type": list(dict.fromkeys(types))} if types else {}
    if properties:
        union["properties"] = properties
        union["required"] = [
            name for name in properties if all(name in _names(variant.get("required")) for variant in variants)
        ]
    if enum and all("const" in variant or "enum" in variant for variant in variants):
        union["enum"] = enum
    return union


def _pointer(reference: str, root: Json) -> Json:
    if not reference.startswith("#"):
        return None
    node = root
    for step in reference[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping) and step in node:
            node = node[step]
        elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
            node = node[int(step)]
        else:
            return None
    return node


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _names(value: Json) -> frozenset[str]:
    return frozenset(name for name in _list(value) if isinstance(name, str))


def _type_of(value: Json) -> str:
    for kind, name in _TYPE_NAMES:
        if isinstance(value, kind):
            return name
    return "null"


_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (dict, "object"),
)
