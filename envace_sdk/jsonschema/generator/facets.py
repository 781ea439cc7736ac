"""What single schemas ask of the parts of a value, which cannot be added up before it is known which part is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..regex import matcher
from .keywords import Keywords

if TYPE_CHECKING:
    from .graph import Node

__all__ = ["Contains", "Facet", "Unevaluated"]


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
