"""Whether judging by a schema ends in bounded time, whatever the engine."""

from __future__ import annotations

from typing import Final

from envace_sdk.errors import SchemaError
from envace_sdk.json import Json

from .bad_schema import BadSchemaError
from .generator.graph import Graph, Node

__all__ = ["check_bounds"]

_MOST: Final = 200_000


def check_bounds(schema: Json) -> None:
    """Count the ways in which schemas apply to one and the same value: engines walk each of them anew.

    Twenty definitions that each refer to the next one twice are a million ways, and forty never come to an end.

    Raises:
        BadSchemaError: there are too many.
    """
    try:
        graph = Graph(schema)
        if any(ways > _MOST for ways in _counted(graph).values()):
            raise BadSchemaError((), "$ref", "its references multiply, so that judging a value could take forever")
    except SchemaError:
        pass  # a reference that leads nowhere: whether it is ever followed is for the engine to find out


def _counted(graph: Graph) -> dict[int, int]:
    ways: dict[int, int] = {}
    entered: set[int] = set()
    stack = [graph.node(source) for source in graph.sources()]
    while stack:
        node = stack[-1]
        inner = _in_place(node)
        waiting = [other for other in inner if other.serial not in entered]
        entered.add(node.serial)
        if waiting:
            stack.extend(waiting)
            continue
        stack.pop()
        if node.serial not in ways:
            ways[node.serial] = 1 + sum(ways.get(other.serial, 1) for other in inner)
    return ways


def _in_place(node: Node) -> list[Node]:
    """The schemas that apply to the value itself."""
    said = node.keywords
    found = [*said.all_of, *(option for options in (*said.any_of, *said.one_of) for option in options)]
    found += [other for other in (said.negated, *(said.condition or ())) if other is not None]
    return found + [other for _, other in said.dependent]
