"""What several schemas ask for together, once the choices they leave are made."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from envace_sdk.json import Json

from ..equality import same
from ..regex import PatternError, matcher
from .keywords import ANY, ARRAY, FRACTION, INTEGER, NUMBER, OBJECT, STRING, Keywords
from .negate import negated, negations

if TYPE_CHECKING:
    from .graph import Graph, Node

__all__ = [
    "LARGEST",
    "Choice",
    "Choices",
    "Contains",
    "DeadEndError",
    "Group",
    "Nodes",
    "OutOfBoundsError",
    "Shape",
    "shape_of",
]

Nodes: TypeAlias = "tuple[Node, ...]"
Key: TypeAlias = tuple[int, str, int]
Choice: TypeAlias = tuple[Key, int]
Choices: TypeAlias = tuple[Choice, ...]
_KEPT: Final = 20_000
LARGEST: Final = 20_000
"""The most values an instance may be made of: a schema that needs more is out of bounds."""
_LONGEST: Final = 1_000_000


class DeadEndError(Exception):
    """Nothing fits here."""

    def __init__(self, reason: str, pointer: str = "", size: int = 0) -> None:
        super().__init__(reason)
        self.reason, self.pointer = reason, pointer
        self.size = size
        """How many schemas were added up to find out."""


class OutOfBoundsError(DeadEndError):
    """The search has gone on for long enough; it is not to be taken up again elsewhere."""


class TooLargeError(OutOfBoundsError):
    """What must be there is more than there may be."""


@dataclass(frozen=True, slots=True)
class Group:
    """A choice to make: each option adds schemas that must hold."""

    key: Key
    kind: Literal["any", "one", "not", "if", "presence"]
    options: tuple[Nodes, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Facet:
    """What one schema says of properties and items: which of them it speaks of is told by itself alone."""

    said: Keywords
    silent: bool

    def of_property(self, name: str) -> list[Node]:
        """What it asks of a property."""
        said = self.said
        found = []
        if said.properties is not None and name in said.properties:
            found.append(said.properties[name])
        found += [node for pattern, node in said.patterns if matcher(pattern)(name)]
        if not found and said.additional is not None:
            found.append(said.additional)
        return found

    def evaluates(self, name: str) -> bool:
        """Whether it speaks of a property."""
        return not self.silent and (self.said.unevaluated_properties is not None or bool(self.of_property(name)))

    def of_item(self, index: int) -> Node | None:
        """What it asks of an item."""
        prefix = self.said.prefix
        return prefix[index] if index < len(prefix) else self.said.items

    def evaluates_item(self, index: int) -> bool:
        """Whether it speaks of an item."""
        return not self.silent and (self.said.unevaluated_items is not None or self.of_item(index) is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Contains:
    """How many items must fit a schema."""

    node: Node
    low: int
    high: int | None
    facet: Facet


@dataclass(frozen=True, slots=True, eq=False)
class Unevaluated:
    """What is asked of the properties or items of which neither a schema nor those applied in place speak."""

    node: Node
    own: Facet
    around: tuple[Facet, ...]

    def asks_of_property(self, name: str) -> bool:
        """Whether nothing else speaks of a property."""
        return not self.own.of_property(name) and not any(facet.evaluates(name) for facet in self.around)

    def asks_of_item(self, index: int, contained: tuple[Contains, ...]) -> bool:
        """Whether nothing else speaks of an item, which stands for some `contains`."""
        if self.own.of_item(index) is not None or any(facet.evaluates_item(index) for facet in self.around):
            return False
        return not any(wanted.facet is self.own or wanted.facet in self.around for wanted in contained)


@dataclass(slots=True)
class Shape:
    """The sum of the assertions. `groups` are the choices still open."""

    graph: Graph
    nodes: Nodes
    types: int = ANY
    values: list[Json] | None = None
    excluded: list[Json] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    checked: bool = False
    """Whether a value that was made to measure must still be judged."""

    low: int | float = -math.inf
    above: bool = False
    high: int | float = math.inf
    below: bool = False
    multiples: list[int | float] = field(default_factory=list)
    not_multiples: list[int | float] = field(default_factory=list)

    min_length: int = 0
    max_length: float = math.inf
    patterns: list[str] = field(default_factory=list)
    avoided: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    media_type: str = ""
    encoding: str = ""

    facets: list[Facet] = field(default_factory=list)
    min_items: int = 0
    max_items: float = math.inf
    unique: bool = False
    repeated: bool = False
    contains: list[Contains] = field(default_factory=list)
    unevaluated_items: list[Unevaluated] = field(default_factory=list)

    required: dict[str, None] = field(default_factory=dict)
    requires: dict[str, tuple[str, ...]] = field(default_factory=dict)
    names: list[Node] = field(default_factory=list)
    min_properties: int = 0
    max_properties: float = math.inf
    unevaluated_properties: list[Unevaluated] = field(default_factory=list)

    title: str = ""
    description: str = ""
    examples: list[Json] = field(default_factory=list)
    reason: str = "it allows nothing"
    size: int = 0
    memo: dict[object, object] = field(default_factory=dict)

    def declared(self) -> dict[str, None]:
        """The names of the properties it speaks of, in order."""
        found = self.memo.get("declared")
        if found is None:
            names = [name for facet in self.facets if not facet.silent for name in facet.said.properties or ()]
            found = self.memo["declared"] = dict.fromkeys([*names, *self.required])
        return found  # type: ignore[return-value]

    def of_property(self, name: str) -> Nodes | None:
        """What is asked of a property's value; None if it must not be there."""
        key = ("property", name)
        if key not in self.memo:
            if len(self.memo) > _KEPT:
                self.memo.clear()
            found = [node for facet in self.facets for node in facet.of_property(name)]
            if not self.groups:  # an alternative may yet speak of it
                found += [rest.node for rest in self.unevaluated_properties if rest.asks_of_property(name)]
            self.memo[key] = _together(found)
        return self.memo[key]  # type: ignore[return-value]

    def of_item(self, index: int, contained: tuple[Contains, ...] = ()) -> Nodes | None:
        """What is asked of an item that stands for some of `contains`; None if it must not be there."""
        key = ("item", min(index, self.tuple_length), *map(id, contained))
        if key not in self.memo:
            found = [node for facet in self.facets if (node := facet.of_item(index)) is not None]
            if not self.groups:
                found += [rest.node for rest in self.unevaluated_items if rest.asks_of_item(index, contained)]
            self.memo[key] = _together([*found, *(wanted.node for wanted in contained)])
        return self.memo[key]  # type: ignore[return-value]

    @property
    def tuple_length(self) -> int:
        """How many items are spoken of one by one."""
        found = self.memo.get("tuple")
        if found is None:
            found = self.memo["tuple"] = max((len(facet.said.prefix) for facet in self.facets), default=0)
        return found  # type: ignore[return-value]


def _together(nodes: list[Node]) -> Nodes | None:
    """The schemas without repetition, and without those that allow anything; None if one allows nothing."""
    found = dict.fromkeys(node for node in nodes if not node.is_true)
    if any(node.is_false for node in found):
        return None
    return tuple(found)


def shape_of(graph: Graph, nodes: Nodes, choices: Choices = ()) -> Shape:
    """The shape of some schemas together, with some choices made.

    Raises:
        DeadEndError: they contradict each other.
    """
    key = (nodes, choices)
    found = graph.shapes.get(key)
    if found is None:
        if len(graph.shapes) > _KEPT:
            graph.shapes.clear()
        if key in graph.adding:  # it is needed for itself: nothing speaks against it so far
            return Shape(graph, nodes)
        graph.adding.add(key)
        try:
            found = graph.shapes[key] = _summed(graph, nodes, choices)
        finally:
            graph.adding.discard(key)
    if isinstance(found, DeadEndError):
        raise DeadEndError(found.reason, size=found.size)
    return found


def _summed(graph: Graph, nodes: Nodes, choices: Choices) -> Shape | DeadEndError:
    adding = _Sum(graph, nodes, dict(choices))
    try:
        for node in nodes:
            adding.add(node, silent=False)
        _settle(adding.shape)
    except DeadEndError as dead:
        return DeadEndError(dead.reason, size=adding.size)
    adding.shape.size = adding.size
    return adding.shape


class _Sum:
    """Adds schemas up."""

    def __init__(self, graph: Graph, nodes: Nodes, choices: dict[Key, int]) -> None:
        self.graph, self.choices = graph, choices
        self.shape = Shape(graph, nodes)
        self._seen: dict[int, tuple[Facet, ...]] = {}

    @property
    def size(self) -> int:
        """How many schemas were added."""
        return len(self._seen)

    def add(self, node: Node, *, silent: bool) -> tuple[Facet, ...]:
        """Add a schema, and give the facets it brought: those in which its unevaluated keywords look."""
        if node.serial in self._seen:
            return self._seen[node.serial]
        self._seen[node.serial] = ()  # a schema that holds itself adds nothing
        said = node.keywords
        silent = silent or said.silent
        shape = self.shape
        facet = Facet(said, silent)
        self.assertions(said)
        self.containers(said, facet)
        around = [found for inner in self.in_place(node, said) for found in self.add(inner, silent=silent)]
        if not self.graph.has_unevaluated:
            return ()
        scope = tuple(dict.fromkeys((facet, *around)))
        if said.unevaluated_properties is not None:
            shape.unevaluated_properties.append(Unevaluated(said.unevaluated_properties, facet, scope[1:]))
        if said.unevaluated_items is not None:
            shape.unevaluated_items.append(Unevaluated(said.unevaluated_items, facet, scope[1:]))
        if said.unevaluated_properties is not None or said.unevaluated_items is not None:
            shape.checked = True
        self._seen[node.serial] = scope
        return scope

    def in_place(self, node: Node, said: Keywords) -> Iterator[Node]:
        """The schemas that hold for the same value: at once, or by choice."""
        yield from said.all_of
        for group in self.groups(node, said):
            chosen = self.choices.get(group.key)
            if chosen is None and len(group.options) > 1:
                self.shape.groups.append(group)
            elif group.options:
                yield from group.options[min(chosen or 0, len(group.options) - 1)]
            else:
                raise DeadEndError("it must differ from what allows everything")

    def groups(self, node: Node, said: Keywords) -> Iterator[Group]:
        always = node.memo.get("groups")
        if always is None:
            always = node.memo["groups"] = tuple(_groups(node, said))
        for group in always:  # type: ignore[attr-defined]
            # An alternative of anyOf, once chosen, holds by itself, and so does the one way to differ.
            if group.kind != "any" and len(group.options) > 1:
                self.shape.checked = True
            yield group
        for index, (name, dependent) in enumerate(said.dependent):
            absent, present = self.graph.presence(name)
            there = name in self.shape.required
            options: tuple[Nodes, ...] = ((dependent,),) if there else ((absent,), (present, dependent))
            yield Group((node.serial, "presence", index), "presence", options)

    def assertions(self, said: Keywords) -> None:
        shape = self.shape
        shape.types &= said.types
        if not shape.types:
            raise DeadEndError("no type is left that all its schemas allow")
        if said.values is not None:
            values = said.values if shape.values is None else shape.values
            shape.values = [value for value in values if any(same(value, other) for other in said.values)]
        shape.excluded += said.excluded
        if said.excluded:
            shape.checked = True
        self.numbers(said)
        self.strings(said)
        shape.title = shape.title or said.title
        shape.description = shape.description or said.description
        shape.examples += said.examples

    def numbers(self, said: Keywords) -> None:
        shape = self.shape
        for limit, strict in ((said.minimum, False), (said.above, True)):
            if limit is not None and (limit > shape.low or (limit == shape.low and strict)):
                shape.low, shape.above = limit, strict
        for limit, strict in ((said.maximum, False), (said.below, True)):
            if limit is not None and (limit < shape.high or (limit == shape.high and strict)):
                shape.high, shape.below = limit, strict
        if said.multiple_of is not None and said.multiple_of not in shape.multiples:
            shape.multiples.append(said.multiple_of)
        if said.not_multiple_of is not None:
            shape.not_multiples.append(said.not_multiple_of)

    def strings(self, said: Keywords) -> None:
        shape = self.shape
        shape.min_length = max(shape.min_length, said.min_length)
        if said.max_length is not None:
            shape.max_length = min(shape.max_length, said.max_length)
        if said.pattern is not None and said.pattern not in shape.patterns:
            shape.patterns.append(said.pattern)
        shape.avoided += said.avoided
        if said.format is not None and said.format not in shape.formats:
            shape.formats.append(said.format)
        shape.media_type = shape.media_type or said.media_type or ""
        shape.encoding = shape.encoding or said.encoding or ""

    def containers(self, said: Keywords, facet: Facet) -> None:
        shape = self.shape
        if said.properties is not None or said.patterns or said.additional or said.prefix or said.items:
            shape.facets.append(facet)
        shape.min_items = max(shape.min_items, said.min_items)
        if said.max_items is not None:
            shape.max_items = min(shape.max_items, said.max_items)
        shape.unique = shape.unique or said.unique
        shape.repeated = shape.repeated or said.repeated
        if said.contains is not None:
            shape.contains.append(Contains(said.contains, said.min_contains, said.max_contains, facet))
            shape.checked = True
        for name in said.required:
            shape.required[name] = None
        for name, names in (said.requires or {}).items():
            shape.requires[name] = shape.requires.get(name, ()) + names
        if said.names is not None and not said.names.is_true:
            shape.names.append(said.names)
        shape.min_properties = max(shape.min_properties, said.min_properties)
        if said.max_properties is not None:
            shape.max_properties = min(shape.max_properties, said.max_properties)


def _groups(node: Node, said: Keywords) -> Iterator[Group]:
    for index, options in enumerate(said.any_of):
        yield Group((node.serial, "any", index), "any", tuple((option,) for option in options))
    for index, options in enumerate(said.one_of):
        yield Group((node.serial, "one", index), "one", _exclusive(options))
    if said.negated is not None:
        ways = tuple((way,) for way in negations(said.negated))
        # Most values differ anyway, so the first option is not to steer at all.
        yield Group((node.serial, "not", 0), "not", ((), *ways) if len(ways) > 1 else ways)
    if said.condition is not None:
        condition, then, otherwise = said.condition
        yield Group((node.serial, "if", 0), "if", ((condition, then), (negated(condition), otherwise)))


def _exclusive(options: Nodes) -> tuple[Nodes, ...]:
    """Each alternative by itself, which is enough where they differ anyway; then each with all others ruled out."""
    plain: list[Nodes] = []
    strict: list[Nodes] = []
    for index, option in enumerate(options):
        others = [other for place, other in enumerate(options) if place != index]
        simple = [ways[0] for other in others if len(ways := _plain_negations(other)) == 1]
        plain.append((option, *simple))
        strict.append((option, *map(negated, others)))
    return tuple(plain + strict) if len(options) > 1 else tuple(plain)


def _plain_negations(node: Node) -> Nodes:
    """The ways to fail a schema, if they are plain assertions."""
    ways = negations(node)
    return ways if all(not way.keywords.all_of for way in ways) else ()


def _settle(shape: Shape) -> None:
    """Strike the kinds of which no value can be.

    Raises:
        DeadEndError: none is left.
    """
    for kind, problem in ((NUMBER, _number_problem), (STRING, _string_problem), (ARRAY, _array_problem),
                          (OBJECT, _object_problem)):  # fmt: skip
        if shape.types & kind and (reason := problem(shape)):
            shape.types &= ~kind
            shape.reason = reason
    if shape.types & FRACTION and shape.multiples and all(isinstance(step, int) for step in shape.multiples):
        shape.types &= ~FRACTION | INTEGER
    if shape.values is not None and not shape.values:
        raise DeadEndError("no value is left of its enum and const")
    if not shape.types:
        raise DeadEndError(shape.reason)


def _contradiction(graph: Graph, nodes: Nodes) -> str:
    """Why nothing can meet what is asked of a part that must be there, as far as that shows at first sight."""
    try:
        shape_of(graph, nodes)
    except DeadEndError as dead:
        return dead.reason
    return ""


def _number_problem(shape: Shape) -> str:
    if shape.low > shape.high or (shape.low == shape.high and (shape.above or shape.below)):
        return f"no number lies between {shape.low} and {shape.high}"
    return ""


def _string_problem(shape: Shape) -> str:
    if shape.min_length > shape.max_length:
        return f"minLength {shape.min_length} is above maxLength {shape.max_length}"
    if shape.min_length > _LONGEST:
        return f"minLength {shape.min_length} is out of bounds"
    try:
        for pattern in (*shape.patterns, *shape.avoided):
            matcher(pattern)
    except PatternError as error:
        return f"pattern: {error}"
    return ""


def _array_problem(shape: Shape) -> str:
    if max(shape.min_items, *(wanted.low for wanted in shape.contains), 0) > LARGEST:
        return f"an array of more than {LARGEST} items is out of bounds"
    for index in range(shape.tuple_length + 1):
        if index >= shape.max_items:
            break
        if not shape.contains and shape.of_item(index) is None:
            shape.max_items = index
    for index in range(min(shape.min_items, shape.tuple_length + 1)):
        if reason := _contradiction(shape.graph, shape.of_item(index) or ()):
            return f"item {index}: {reason}"
    if shape.min_items > shape.max_items:
        return f"at least {shape.min_items} items are asked for, and at most {shape.max_items} allowed"
    for wanted in shape.contains:
        if wanted.low > shape.max_items or (wanted.high is not None and wanted.high < wanted.low):
            return f"{wanted.low} items must fit contains, which is more than there may be"
        if wanted.low > 0 and wanted.node.is_false:
            return "contains allows no item"
    return ""


def _object_problem(shape: Shape) -> str:
    for name in shape.required:
        nodes = shape.of_property(name)
        if nodes is None:
            return f"property {name!r} is required and forbidden"
        if reason := _contradiction(shape.graph, nodes):
            return f"property {name!r}: {reason}"
        if any(node.is_false for node in shape.names):
            return f"property {name!r} is required, and propertyNames forbids all names"
    if len(shape.required) > shape.max_properties:
        return f"{len(shape.required)} properties are required, and at most {shape.max_properties} allowed"
    if shape.min_properties > LARGEST:
        return f"minProperties {shape.min_properties} is out of bounds"
    if shape.min_properties > shape.max_properties:
        return f"minProperties {shape.min_properties} is above maxProperties {shape.max_properties}"
    return ""
