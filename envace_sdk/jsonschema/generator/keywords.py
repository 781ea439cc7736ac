"""What one schema says, with the differences between the drafts ironed out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from envace_sdk.json import Json

from ..dialect import Dialect
from ..equality import same

if TYPE_CHECKING:
    from .graph import Node

__all__ = ["ANY", "ARRAY", "BOOLEAN", "FRACTION", "INTEGER", "NULL", "NUMBER", "OBJECT", "STRING", "Keywords",
           "kind_of", "kinds", "parse"]  # fmt: skip

# The kinds of values, as bits of a set. A number is an integer or a fraction: 1.0 is an integer.
NULL, BOOLEAN, INTEGER, FRACTION, STRING, ARRAY, OBJECT = (1 << bit for bit in range(7))
NUMBER: Final = INTEGER | FRACTION
ANY: Final = (1 << 7) - 1
_TYPES: Final = {"null": NULL, "boolean": BOOLEAN, "integer": INTEGER, "number": NUMBER, "string": STRING,
                 "array": ARRAY, "object": OBJECT}  # fmt: skip


def kinds(types: Json) -> int:
    """The set of kinds that a `type` keyword names."""
    if isinstance(types, str):
        return _TYPES.get(types, ANY)
    found = 0
    for name in types if isinstance(types, list) else ():
        found |= _TYPES.get(name, ANY) if isinstance(name, str) else ANY
    return found


def kind_of(value: Json) -> int:
    """The kind of a value."""
    match value:
        case None:
            return NULL
        case bool():
            return BOOLEAN
        case int():
            return INTEGER
        case float():
            return INTEGER if value.is_integer() else FRACTION
        case str():
            return STRING
        case dict():
            return OBJECT
    return ARRAY


@dataclass(slots=True)
class Keywords:
    """The assertions of one schema. Schemas within are nodes; what is absent says nothing."""

    types: int = ANY
    values: list[Json] | None = None
    excluded: tuple[Json, ...] = ()

    all_of: tuple[Node, ...] = ()
    """Everything that must hold too, the targets of references included."""
    any_of: tuple[tuple[Node, ...], ...] = ()
    one_of: tuple[tuple[Node, ...], ...] = ()
    negated: Node | None = None
    condition: tuple[Node, Node, Node] | None = None
    """if, then, else."""
    dependent: tuple[tuple[str, Node], ...] = ()
    """What must hold where a property is present."""

    minimum: int | float | None = None
    above: int | float | None = None
    maximum: int | float | None = None
    below: int | float | None = None
    multiple_of: int | float | None = None
    not_multiple_of: int | float | None = None

    min_length: int = 0
    max_length: int | None = None
    pattern: str | None = None
    avoided: tuple[str, ...] = ()
    """Patterns that must not match."""
    format: str | None = None
    media_type: str | None = None
    encoding: str | None = None

    prefix: tuple[Node, ...] = ()
    items: Node | None = None
    min_items: int = 0
    max_items: int | None = None
    unique: bool = False
    repeated: bool = False
    """The opposite: two items are the same."""
    contains: Node | None = None
    min_contains: int = 1
    max_contains: int | None = None
    unevaluated_items: Node | None = None

    properties: Mapping[str, Node] | None = None
    patterns: tuple[tuple[str, Node], ...] = ()
    additional: Node | None = None
    names: Node | None = None
    required: tuple[str, ...] = ()
    requires: Mapping[str, tuple[str, ...]] | None = None
    """Properties that the presence of one requires."""
    min_properties: int = 0
    max_properties: int | None = None
    unevaluated_properties: Node | None = None

    title: str = ""
    description: str = ""
    examples: tuple[Json, ...] = ()

    silent: bool = False
    """Whether properties and items that it speaks of stay unevaluated: it was made from a negation."""


def parse(source: Json, node: Node) -> Keywords:
    """The keywords of a schema of the document."""
    if not isinstance(source, dict):
        return Keywords(types=ANY if source is not False else 0)
    return _Reader(source, node).read()


class _Reader:
    def __init__(self, source: dict[str, Json], node: Node) -> None:
        self.source, self.graph = source, node.graph
        self.of = self.graph.dialect(source)
        self.said = Keywords()

    def read(self) -> Keywords:
        references = self.references()
        if references and self.of <= Dialect.DRAFT_7:  # there, nothing beside a reference counts
            self.said.all_of = references
            return self.said
        self.annotations()
        self.anything()
        self.combined(references)
        self.numbers()
        self.strings()
        self.arrays()
        self.objects()
        if self.of is Dialect.DRAFT_3:
            self.draft_3()
        return self.said

    def references(self) -> tuple[Node, ...]:
        found = []
        for keyword, since, until in (
            ("$ref", Dialect.DRAFT_3, Dialect.DRAFT_2020),
            ("$recursiveRef", Dialect.DRAFT_2019, Dialect.DRAFT_2019),
            ("$dynamicRef", Dialect.DRAFT_2020, Dialect.DRAFT_2020),
        ):
            target = self.source.get(keyword)
            if isinstance(target, str) and since <= self.of <= until:
                found.append(self.graph.resolve(target, self.source, dynamic=keyword != "$ref"))
        return tuple(found)

    def text(self, keyword: str) -> str:
        value = self.source.get(keyword)
        return value if isinstance(value, str) else ""

    def number(self, keyword: str) -> int | float | None:
        value = self.source.get(keyword)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def count(self, keyword: str, since: Dialect = Dialect.DRAFT_3) -> int | None:
        value = self.number(keyword) if self.of >= since else None
        return None if value is None else int(value)

    def node(self, keyword: str, since: Dialect = Dialect.DRAFT_3) -> Node | None:
        value = self.source.get(keyword)
        return self.graph.node(value) if isinstance(value, dict | bool) and self.of >= since else None

    def nodes(self, keyword: str, since: Dialect = Dialect.DRAFT_3) -> tuple[Node, ...]:
        value = self.source.get(keyword)
        return tuple(map(self.graph.node, value)) if isinstance(value, list) and self.of >= since else ()

    def named(self, keyword: str, since: Dialect = Dialect.DRAFT_3) -> dict[str, Json]:
        value = self.source.get(keyword)
        return value if isinstance(value, dict) and self.of >= since else {}

    def annotations(self) -> None:
        said = self.said
        said.title, said.description = self.text("title"), self.text("description")
        examples = self.source.get("examples")
        found = list(examples) if isinstance(examples, list) else []
        found += [self.source[keyword] for keyword in ("example", "default") if keyword in self.source]
        said.examples = tuple(found)

    def anything(self) -> None:
        said, source = self.said, self.source
        if "type" in source:
            said.types = kinds(source["type"])
        if isinstance(source.get("enum"), list):
            said.values = list(source["enum"])
        if "const" in source and self.of >= Dialect.DRAFT_6:
            const = source["const"]
            said.values = [const] if said.values is None or any(same(const, value) for value in said.values) else []

    def combined(self, references: tuple[Node, ...]) -> None:
        said, since = self.said, Dialect.DRAFT_4
        said.all_of = references + self.nodes("allOf", since)
        said.any_of = tuple(filter(None, [self.nodes("anyOf", since)]))
        said.one_of = tuple(filter(None, [self.nodes("oneOf", since)]))
        said.negated = self.node("not", since)
        condition = self.node("if", Dialect.DRAFT_7)
        then, otherwise = self.node("then", Dialect.DRAFT_7), self.node("else", Dialect.DRAFT_7)
        if condition is not None and not (then is None and otherwise is None):
            true = self.graph.true
            said.condition = (condition, then or true, otherwise or true)

    def numbers(self) -> None:
        said = self.said
        said.minimum, said.maximum = self.number("minimum"), self.number("maximum")
        if self.of > Dialect.DRAFT_4:
            said.above, said.below = self.number("exclusiveMinimum"), self.number("exclusiveMaximum")
        else:
            if self.source.get("exclusiveMinimum") is True:
                said.minimum, said.above = None, said.minimum
            if self.source.get("exclusiveMaximum") is True:
                said.maximum, said.below = None, said.maximum
        said.multiple_of = self.number("divisibleBy" if self.of is Dialect.DRAFT_3 else "multipleOf")

    def strings(self) -> None:
        said = self.said
        said.min_length, said.max_length = self.count("minLength") or 0, self.count("maxLength")
        said.pattern = self.text("pattern") or None
        said.format = self.text("format") or None
        said.media_type = self.text("contentMediaType") or None
        said.encoding = self.text("contentEncoding") or None

    def arrays(self) -> None:
        said = self.said
        if isinstance(self.source.get("items"), list) and self.of < Dialect.DRAFT_2020:
            said.prefix, said.items = self.nodes("items"), self.node("additionalItems")
        else:
            said.prefix, said.items = self.nodes("prefixItems", Dialect.DRAFT_2020), self.node("items")
        said.min_items, said.max_items = self.count("minItems") or 0, self.count("maxItems")
        said.unique = self.source.get("uniqueItems") is True
        said.contains = self.node("contains", Dialect.DRAFT_6)
        least = self.count("minContains", Dialect.DRAFT_2019)
        said.min_contains = 1 if least is None else least
        said.max_contains = self.count("maxContains", Dialect.DRAFT_2019)
        said.unevaluated_items = self.node("unevaluatedItems", Dialect.DRAFT_2019)

    def objects(self) -> None:
        said, node = self.said, self.graph.node
        properties = self.source.get("properties")
        if isinstance(properties, dict):
            said.properties = {name: node(inner) for name, inner in properties.items()}
        said.patterns = tuple((name, node(inner)) for name, inner in self.named("patternProperties").items())
        said.additional = self.node("additionalProperties")
        said.names = self.node("propertyNames", Dialect.DRAFT_6)
        required = self.source.get("required")
        said.required = tuple(_texts(required)) if isinstance(required, list) else ()
        said.min_properties = self.count("minProperties", Dialect.DRAFT_4) or 0
        said.max_properties = self.count("maxProperties", Dialect.DRAFT_4)
        said.unevaluated_properties = self.node("unevaluatedProperties", Dialect.DRAFT_2019)
        self.dependencies()

    def dependencies(self) -> None:
        requires = {
            name: tuple(_texts(names)) for name, names in self.named("dependentRequired", Dialect.DRAFT_2019).items()
        }
        dependent = self.named("dependentSchemas", Dialect.DRAFT_2019)
        for name, value in self.named("dependencies").items():
            if isinstance(value, str | list):
                names = [value] if isinstance(value, str) else value
                requires[name] = requires.get(name, ()) + tuple(_texts(names))
            else:
                dependent = {**dependent, name: value}
        self.said.requires = requires or None
        self.said.dependent = tuple((name, self.graph.node(inner)) for name, inner in dependent.items())

    def draft_3(self) -> None:
        said = self.said
        said.required = tuple(
            name
            for name, inner in self.named("properties").items()
            if isinstance(inner, dict) and inner.get("required") is True
        )
        said.all_of += tuple(filter(None, [self.node("extends"), *self.nodes("extends")]))
        if "disallow" in self.source:
            said.types &= ANY ^ kinds(self.source["disallow"])


def _texts(values: Iterable[Json]) -> list[str]:
    return [value for value in values if isinstance(value, str)]
