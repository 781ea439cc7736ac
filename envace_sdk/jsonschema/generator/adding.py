"""Adds schemas up to a shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..equality import identity
from .dead_ends import DeadEndError
from .facets import Contains, Facet, Unevaluated
from .groups import Choices, Group, Key, Nodes, groups_of
from .keywords import Keywords
from .settle import settle
from .shape import Shape

if TYPE_CHECKING:
    from .graph import Graph, Node

__all__ = ["add_up"]


def add_up(graph: Graph, nodes: Nodes, choices: Choices) -> Shape | DeadEndError:
    """The shape of some schemas together, with some choices made; or why they contradict each other."""
    adding = _Sum(graph, nodes, dict(choices))
    try:
        for node in nodes:
            adding.add(node, silent=False)
        settle(adding.shape)
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
            always = node.memo["groups"] = tuple(groups_of(node, said))
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
            if shape.values is None:
                shape.values = said.values
            else:
                wanted = set(map(identity, said.values))
                shape.values = [value for value in shape.values if identity(value) in wanted]
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
