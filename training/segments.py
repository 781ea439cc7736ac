"""Sequences: what the model is run on, made of rows in one of two renderings.

- `split`: a sequence per row. A context that several turns share is computed once per turn.
- `stream`: the rows of a trajectory of which each extends the one before (its prompt begins with the other's prompt and
  completion) are one sequence; each token is computed once. Where a row does not extend the one before, a new sequence
  begins: nothing is ever trained in a context that the sampler did not see.

A sequence holds role-tagged segments: the completions of its rows. What lies between them is context (the task, tool
definitions, what the template adds, answers of a real tool) and is not trained. Both renderings give the same
gradients where contexts are equal, because a causal model's prediction depends on nothing that follows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .rows import ROLES, Role, Row

__all__ = ["Rendering", "Segment", "TokenSequence", "render", "split", "stream"]

Rendering: TypeAlias = Literal["split", "stream"]


@dataclass(frozen=True, slots=True)
class Segment:
    """The tokens from `start` on, as many as the row's completion has, are that completion."""

    start: int
    row: Row

    @property
    def stop(self) -> int:
        """The place after its last token."""
        return self.start + len(self.row.completion_ids)


@dataclass(frozen=True, slots=True)
class TokenSequence:
    """Token ids of one forward pass, and which of them are trained."""

    input_ids: tuple[int, ...]
    segments: tuple[Segment, ...]
    """In order, not overlapping, none at place 0; the last one ends the sequence."""

    def roles(self) -> list[Role | None]:
        """Per token, the role that emitted it; None for context."""
        found: list[Role | None] = [None] * len(self.input_ids)
        for segment in self.segments:
            found[segment.start : segment.stop] = [segment.row.role] * (segment.stop - segment.start)
        return found

    def __len__(self) -> int:
        return len(self.input_ids)


def render(rows: Iterable[Row], rendering: Rendering, *, apart: Collection[Role] = ()) -> list[TokenSequence]:
    """Sequences for all rows given, each row in exactly one of them.

    Args:
        rows: In any order.
        rendering: `split` or `stream`.
        apart: Roles that have parameters of their own: their segments share no sequence with those of another role,
            since the same context has other activations under other parameters.
    """
    if rendering == "split":
        return split(rows)
    rows = list(rows)
    alone = [stream(row for row in rows if row.role == role) for role in ROLES if role in apart]
    return stream(row for row in rows if row.role not in apart) + [sequence for found in alone for sequence in found]


def split(rows: Iterable[Row]) -> list[TokenSequence]:
    """A sequence per row."""
    return [_sequence([row]) for row in rows]


def stream(rows: Iterable[Row]) -> list[TokenSequence]:
    """As few sequences as the rows' contexts allow."""
    trajectories: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        trajectories.setdefault((row.task, row.sample), []).append(row)
    return [_sequence(chain) for members in trajectories.values() for chain in _chains(members)]


def _chains(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows in runs of which each extends the one before; shorter prompts come first."""
    chains: list[list[Row]] = []
    for row in sorted(rows, key=lambda row: (len(row.prompt_ids), row.turn)):
        chain = next((chain for chain in chains if _extends(row, chain[-1])), None)
        if chain is None:
            chains.append([row])
        else:
            chain.append(row)
    yield from chains


def _extends(row: Row, earlier: Row) -> bool:
    shown, answered = len(earlier.prompt_ids), earlier.length
    return (
        len(row.prompt_ids) >= answered
        and row.prompt_ids[shown:answered] == earlier.completion_ids
        and row.prompt_ids[:shown] == earlier.prompt_ids
    )


def _sequence(chain: Sequence[Row]) -> TokenSequence:
    last = chain[-1]
    segments = tuple(Segment(len(row.prompt_ids), row) for row in chain)
    return TokenSequence(last.prompt_ids + last.completion_ids, segments)
