"""Trees: token sequences that begin alike, with what they have in common computed once.

Requests of a group share their prompt, and the turns of a conversation most of it; each by itself would carry all of it
through the model. A tree has the tokens of several sequences in depth-first order, each common beginning once. A token
attends to those before it in its own sequences only, and stands at the position that it has there, so log-probabilities
and gradients are those of the sequences one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Generic, Protocol, TypeVar

__all__ = ["Branch", "Tokens", "Tree", "grow"]

_LEAST_SHARE: Final = 0.25
"""Of a sequence's tokens, what it must share to join a tree: attention costs the square of a tree's size."""


class Tokens(Protocol):
    """Anything that is a sequence of tokens."""

    @property
    def input_ids(self) -> tuple[int, ...]:
        """The tokens."""
        ...


T = TypeVar("T", bound=Tokens)


@dataclass(frozen=True, slots=True)
class Branch(Generic[T]):
    """A sequence, and where its tokens are in the tree."""

    sequence: T
    path: tuple[int, ...]
    """Per token, its place among the tree's."""
    shared: int
    """How many of them, from the first on, an earlier branch has put there; the others follow each other."""


@dataclass(frozen=True, slots=True)
class Tree(Generic[T]):
    """Tokens of one row of a forward pass."""

    input_ids: tuple[int, ...]
    positions: tuple[int, ...]
    """Per token, its place in the sequences that it belongs to."""
    branches: tuple[Branch[T], ...]

    @classmethod
    def of(cls, sequence: T) -> Tree[T]:
        """A sequence alone."""
        places = tuple(range(len(sequence.input_ids)))
        return cls(sequence.input_ids, places, (Branch(sequence, places, 0),))

    @property
    def sequences(self) -> tuple[T, ...]:
        """What it is made of."""
        return tuple(branch.sequence for branch in self.branches)

    def __len__(self) -> int:
        return len(self.input_ids)


def grow(sequences: Sequence[T], most: int) -> list[Tree[T]]:
    """Trees of all sequences, each in exactly one of them.

    Args:
        sequences: in any order.
        most: tokens of a tree; a sequence that is longer is one alone.
    """
    if not sequences:
        return []
    # Next to each other, two sequences share as much as either does with any other.
    ordered = sorted(sequences, key=lambda sequence: sequence.input_ids)
    trees: list[Tree[T]] = []
    size, members = len(ordered[0].input_ids), [(ordered[0], 0)]
    for before, sequence in pairwise(ordered):
        length = len(sequence.input_ids)
        shared = _in_common(before.input_ids, sequence.input_ids)
        if shared < _LEAST_SHARE * length or size + length - shared > most:
            trees.append(_tree(members))
            size, members = length, [(sequence, 0)]
        else:
            size += length - shared
            members.append((sequence, shared))
    return [*trees, _tree(members)]


def _tree(members: Sequence[tuple[T, int]]) -> Tree[T]:
    """A tree of sequences, each with how many tokens it shares with the one before."""
    ids: list[int] = []
    positions: list[int] = []
    branches: list[Branch[T]] = []
    path: tuple[int, ...] = ()
    for sequence, shared in members:
        new = sequence.input_ids[shared:]
        path = path[:shared] + tuple(range(len(ids), len(ids) + len(new)))
        positions += range(shared, shared + len(new))
        ids += new
        branches.append(Branch(sequence, path, shared))
    return Tree(tuple(ids), tuple(positions), tuple(branches))


def _in_common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    for place, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return place
    return min(len(one), len(other))
