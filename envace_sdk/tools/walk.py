"""Visiting every place of a JSON Schema that holds a schema, and no place that holds data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json

__all__ = ["Path", "Position", "map_children", "positions"]

_ONE: Final = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LIST: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_MAP: Final = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})

Path = tuple[str | int, ...]
"""Keys and indices from the root of a document to a place in it."""


@dataclass(frozen=True, slots=True)
class Position:
    """One schema inside a schema: its path from the root, and the path of the schema that holds it."""

    path: Path
    schema: Json
    parent: Path | None


def positions(schema: Json) -> Iterator[Position]:
    """Every schema within `schema`, itself first, each before what it holds. References are not followed.

    An explicit stack keeps this total on input of any depth.
    """
    stack = [Position((), schema, None)]
    while stack:
        here = stack.pop()
        yield here
        if isinstance(here.schema, dict):
            stack.extend(reversed(list(_children(here))))


def _children(here: Position) -> Iterator[Position]:
    for keyword, value in here.schema.items():
        if keyword in _MAP and isinstance(value, dict):
            for name, child in value.items():
                # `dependencies` of draft 7 also holds lists of property names.
                if not (keyword == "dependencies" and isinstance(child, list)):
                    yield Position((*here.path, keyword, name), child, here.path)
        elif keyword in _LIST and isinstance(value, list):
            for index, child in enumerate(value):
                yield Position((*here.path, keyword, index), child, here.path)
        elif keyword in _ONE:
            yield Position((*here.path, keyword), value, here.path)


def map_children(schema: Mapping[str, Json], change: Callable[[Json], Json]) -> dict[str, Json]:
    """A copy of an object schema in which `change` has replaced each schema directly inside it."""
    return {keyword: _mapped(keyword, value, change) for keyword, value in schema.items()}


def _mapped(keyword: str, value: Json, change: Callable[[Json], Json]) -> Json:
    if keyword in _MAP and isinstance(value, dict):
        return {
            name: child if keyword == "dependencies" and isinstance(child, list) else change(child)
            for name, child in value.items()
        }
    if keyword in _LIST and isinstance(value, list):
        return [change(child) for child in value]
    return change(value) if keyword in _ONE else value
