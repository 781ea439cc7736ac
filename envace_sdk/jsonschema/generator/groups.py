"""The choices a schema leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from .keywords import Keywords
from .negate import negated, negations

if TYPE_CHECKING:
    from .graph import Node

__all__ = ["Choices", "Group", "Key", "Nodes", "groups_of"]

Nodes: TypeAlias = "tuple[Node, ...]"
Key: TypeAlias = tuple[int, str, int]
"""Of a choice: the schema's number, what kind of choice it is, and which of that kind."""
Choices: TypeAlias = tuple[tuple[Key, int], ...]
"""Choices made: the option taken of each."""


@dataclass(frozen=True, slots=True)
class Group:
    """A choice to make: each option adds schemas that must hold."""

    key: Key
    kind: Literal["any", "one", "not", "if", "presence"]
    options: tuple[Nodes, ...]


def groups_of(node: Node, said: Keywords) -> Iterator[Group]:
    """The choices of one schema, whatever else is asked."""
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
    if len(options) < 2:
        return (options,)
    plain = [_plain_negation(option) for option in options]
    strict = [negated(option) for option in options]

    def without(index: int, ways: list[Node | None] | list[Node]) -> Nodes:
        return tuple(way for place, way in enumerate(ways) if place != index and way is not None)

    told_apart = any(way is not None for way in plain)
    return (
        *((option, *(without(index, plain) if told_apart else ())) for index, option in enumerate(options)),
        *((option, *without(index, strict)) for index, option in enumerate(options)),
    )


def _plain_negation(node: Node) -> Node | None:
    """The way to fail a schema, if there is but one and it is a plain assertion."""
    ways = negations(node)
    return ways[0] if len(ways) == 1 and not ways[0].keywords.all_of else None
