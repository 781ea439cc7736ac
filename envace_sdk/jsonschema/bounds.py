"""Whether judging by a schema, and saying what is wrong with a value, ends in bounded time and memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from envace_sdk.errors import SchemaError
from envace_sdk.json import Json

from .bad_schema import BadSchemaError
from .dialect import Dialect, Path, dialect, subschemas
from .generator.graph import Graph, Node

__all__ = ["LONG_PATTERN", "check_bounds", "check_patterns", "depth", "has_alternatives", "most_failures"]

_MOST: Final = 200_000
LONG_PATTERN: Final = 10_000
"""Characters of the longest pattern: an engine that does not backtrack still takes its length times the text's."""
_ALTERNATIVES: Final = frozenset({"anyOf", "oneOf"})


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


def most_failures(schema: Json) -> int:
    """How many failures a schema can find at one place of a value, at most: it has so many parts, and may apply each
    in so many ways.
    """
    parts = sum(1 for _ in _parts(schema))
    try:
        return parts * max(_counted(Graph(schema)).values(), default=1)
    except (SchemaError, RecursionError):
        return parts


def has_alternatives(schema: Json) -> bool:
    """Whether one failure of the schema may hold others: why each of its alternatives does not fit."""
    return any(isinstance(part, dict) and not _ALTERNATIVES.isdisjoint(part) for part in _parts(schema))


def depth(value: Json) -> int:
    """Levels of lists and objects in a value, and one more."""
    levels, level = 1, [value] if isinstance(value, dict | list) else []
    while level:
        levels += 1
        inside = (item for outer in level for item in (outer.values() if isinstance(outer, dict) else outer))
        level = [item for item in inside if isinstance(item, dict | list)]
    return levels


def _parts(schema: Json) -> Iterator[Json]:
    stack = [schema]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(part.values() if isinstance(part, dict) else part if isinstance(part, list) else ())


def check_patterns(schema: Json, of: Dialect, path: Path = ()) -> None:
    """Raises: BadSchemaError for a pattern that is too long."""
    if not isinstance(schema, dict):
        return
    of = dialect(schema, of)
    by_pattern = schema.get("patternProperties")
    for place, patterns in (("pattern", [schema.get("pattern")]), ("patternProperties", by_pattern)):
        for pattern in patterns or ():
            if isinstance(pattern, str) and len(pattern) > LONG_PATTERN:
                reason = (
                    f"a pattern of {len(pattern):,} characters; at most {LONG_PATTERN:,} are matched in bounded time"
                )
                raise BadSchemaError((*path, place), place, reason)
    for place_of, inner in subschemas(schema, of):
        check_patterns(inner, of, path + place_of)


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
