"""Micro-batches: trees of like size together, as many as the token budget allows, shared among processes.

A tree is a sequence, or several with what they have in common once. Axis names: B trees of a micro-batch, T tokens of
its largest, N trained tokens of all of them, flat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from envace_sdk.models.decoding import tree_mask
from envace_sdk.models.trees import Tree, grow

from .rows import ROLES, Row
from .segments import Segment, TokenSequence

__all__ = ["Batch", "MicroBatch", "collate", "plan", "share_out"]


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What goes through the model together."""

    trees: tuple[Tree[TokenSequence], ...]
    adapter: str | None = None
    """Which of the policy's adapters is active; None if it has but one set of weights."""
    is_idle: bool = False
    """Computed without weight, to keep another process company."""

    @property
    def tokens(self) -> int:
        """How many tokens the model computes, padding included."""
        return len(self.trees) * max(map(len, self.trees))


@dataclass(frozen=True, slots=True)
class Batch:
    """A micro-batch as tensors on a device."""

    input_ids: Tensor
    """[B, T], padded on the right."""
    attention_mask: Tensor | None
    """[B, T], what is no padding, or None where nothing is; [B, 1, T, T] where sequences share tokens."""
    positions: Tensor | None
    """[B, T], the place of each token in its sequences; None where they share none."""
    predicts: Tensor
    """[N]: the places in the flat [B * T] whose hidden states predict trained tokens."""
    targets: Tensor
    """[N]: the trained tokens, in the order of `predicts`."""
    sampled: Tensor
    """[N]: the sampler's log-probabilities, or 0."""
    known: Tensor
    """[N], bool: whether the sampler's log-probability is known."""
    advantages: Tensor
    """[N]"""
    shares: Tensor
    """[N]: the weight of each token in the loss; over a whole step's tokens they add up to 1, or less if some are not
    computed."""
    roles: Tensor
    """[N]: index into `ROLES`."""


def plan(
    sequences: Sequence[TokenSequence], budget: int, adapter: str | None = None, *, share_prefixes: bool = False
) -> list[MicroBatch]:
    """All sequences in micro-batches of at most `budget` tokens; one that is longer goes alone.

    Longest first: what does not fit the memory fails at once, not at the end of a step.

    Args:
        sequences: what the model is run on.
        budget: tokens, padding included.
        adapter: which is active.
        share_prefixes: compute once what several sequences begin with.
    """
    trees = grow(sequences, budget) if share_prefixes else [Tree.of(sequence) for sequence in sequences]
    batches: list[MicroBatch] = []
    current: list[Tree[TokenSequence]] = []
    for tree in sorted(trees, key=len, reverse=True):
        if current and (len(current) + 1) * len(current[0]) > budget:
            batches.append(MicroBatch(tuple(current), adapter))
            current = []
        current.append(tree)
    if current:
        batches.append(MicroBatch(tuple(current), adapter))
    return batches


def share_out(batches: Sequence[MicroBatch], processes: int) -> list[list[MicroBatch]]:
    """The micro-batches of each process, with about equally many tokens each; some may get none."""
    shares: list[list[MicroBatch]] = [[] for _ in range(processes)]
    loads = [0] * processes
    for batch in sorted(batches, key=lambda batch: batch.tokens, reverse=True):
        least = loads.index(min(loads))
        shares[least].append(batch)
        loads[least] += batch.tokens
    return shares


def collate(batch: MicroBatch, share: Callable[[Row], float], *, pad_id: int, device: torch.device) -> Batch:
    """A micro-batch as tensors; `share` gives the weight of each token of a row."""
    trees = batch.trees
    longest = max(map(len, trees))
    input_ids = torch.full((len(trees), longest), pad_id)
    positions = torch.zeros(len(trees), longest, dtype=torch.long)
    mask = torch.zeros(len(trees), longest, dtype=torch.long)
    predicts: list[int] = []
    targets: list[int] = []
    sampled: list[float] = []
    segments: list[Segment] = []
    for place, tree in enumerate(trees):
        input_ids[place, : len(tree)] = torch.tensor(tree.input_ids)
        positions[place, : len(tree)] = torch.tensor(tree.positions)
        mask[place, : len(tree)] = 1
        for branch in tree.branches:
            for segment in branch.sequence.segments:
                segments.append(segment)
                predicts += (place * longest + node for node in branch.path[segment.start - 1 : segment.stop - 1])
    for segment in segments:
        targets += segment.row.completion_ids
        sampled += segment.row.logprobs or [0.0] * len(segment.row.completion_ids)
    are_plain = all(len(tree.branches) == 1 for tree in trees)
    if not are_plain:
        mask = tree_mask(trees, longest)
    rows = [segment.row for segment in segments]
    repeats = torch.tensor([len(row.completion_ids) for row in rows])

    def per_token(values: list[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float32).repeat_interleave(repeats).to(device)

    return Batch(
        input_ids=input_ids.to(device),
        attention_mask=None if bool(mask.all()) else mask.to(device),
        positions=None if are_plain else positions.to(device),
        predicts=torch.tensor(predicts).to(device),
        targets=torch.tensor(targets).to(device),
        sampled=torch.tensor(sampled, dtype=torch.float32).to(device),
        known=per_token([float(bool(row.logprobs)) for row in rows]).bool(),
        advantages=per_token([row.advantage for row in rows]),
        shares=per_token([share(row) for row in rows]),
        roles=per_token([float(ROLES.index(row.role)) for row in rows]).long(),
    )
