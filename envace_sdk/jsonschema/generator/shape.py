"""What several schemas ask for together, once the choices they leave are made."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from envace_sdk.json import Json

from .facets import Contains, Facet, Unevaluated
from .groups import Group, Nodes
from .keywords import ANY

if TYPE_CHECKING:
    from .graph import Graph, Node

__all__ = ["Shape"]

_KEPT: Final = 2000


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
