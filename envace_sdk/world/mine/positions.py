"""Where values stand: in which argument of which tool, in which part of its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from envace_sdk.json import Json

from .episodes import Step

__all__ = ["Position", "occurrences", "walk"]

_DEPTH: Final = 8
_ELEMENTS: Final = 200
"""Of a longer list or map, these many say enough."""


class Position(NamedTuple):
    """A place where values are seen. In paths, `[]` is any element of a list and `{}` the name of any member."""

    tool: str
    side: Literal["in", "out"]
    path: str

    @property
    def name(self) -> str:
        """The field's own name; "" for the root, or what holds it for an element of a list."""
        return next((part for part in reversed(self.path.split(".")) if part not in {"[]", "{}"}), "")


def walk(value: Json, path: str = "", depth: int = 0, maps: frozenset[str] = frozenset()) -> Iterator[tuple[str, Json]]:
    """The scalars of a value with their paths; `maps` are the paths of objects whose member names are values."""
    if isinstance(value, dict) and depth < _DEPTH:
        if path in maps:
            for name, member in list(value.items())[:_ELEMENTS]:
                yield _join(path, "{}"), name
                yield from walk(member, _join(path, "{}*"), depth + 1, maps)
            return
        for name, member in value.items():
            yield from walk(member, _join(path, name), depth + 1, maps)
    elif isinstance(value, list) and depth < _DEPTH:
        for element in value[:_ELEMENTS]:
            yield from walk(element, _join(path, "[]"), depth + 1, maps)
    elif not isinstance(value, dict | list):
        yield path, value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def occurrences(step: Step, maps: Mapping[str, frozenset[str]]) -> Iterator[tuple[Position, Json]]:
    """Every scalar that a step shows: its arguments, and of a success the answer."""
    for path, value in walk(dict(step.args)):
        yield Position(step.tool, "in", path), value
    if step.ok:
        for path, value in walk(step.value, maps=maps.get(step.tool, frozenset())):
            yield Position(step.tool, "out", path), value
