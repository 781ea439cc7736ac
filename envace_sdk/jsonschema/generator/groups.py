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
