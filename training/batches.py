"""Micro-batches: sequences of like length together, as many as the token budget allows, shared among processes.

Axis names: B sequences of a micro-batch, T tokens of its longest, N trained tokens of all of them, flat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .rows import ROLES, Row
from .segments import TokenSequence

__all__ = ["Batch", "MicroBatch", "collate", "plan", "share_out"]


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Sequences that go through the model together."""

    sequences: tuple[TokenSequence, ...]
    adapter: str | None = None
    """Which of the policy's adapters is active; None if it has but one set of weights."""
    is_idle: bool = False
    """Computed without weight, to keep another process company."""

    @property
    def tokens(self) -> int:
        """How many tokens the model computes, padding included."""
        return len(self.sequences) * max(map(len, self.sequences))


@dataclass(frozen=True, slots=True)
class Batch:
    """A micro-batch as tensors on a device."""

    input_ids: Tensor
    """[B, T], padded on the right."""
    attention_mask: Tensor | None
    """[B, T]; None where nothing is padded."""
    predicts: Tensor
    """[B, T], bool: the position before a trained token, whose hidden state predicts it."""
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


def plan(sequences: Sequence[TokenSequence], budget: int, adapter: str | None = None) -> list[MicroBatch]:
    """All sequences in micro-batches of at most `budget` tokens; one that is longer goes alone.

    Longest first: what does not fit the memory fails at once, not at the end of a step.
    """
    batches: list[MicroBatch] = []
    current: list[TokenSequence] = []
    for sequence in sorted(sequences, key=len, reverse=True):
        if current and (len(current) + 1) * len(current[0]) > budget:
            batches.append(MicroBatch(tuple(current), adapter))
            current = []
        current.append(sequence)
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
    sequences = batch.sequences
    longest = max(map(len, sequences))
    input_ids = torch.full((len(sequences), longest), pad_id)
    mask = torch.zeros(len(sequences), longest, dtype=torch.long)
    predicts = torch.zeros(len(sequences), longest, dtype=torch.bool)
    targets: list[int] = []
    sampled: list[float] = []
    segments = [segment for sequence in sequences for segment in sequence.segments]
    for place, sequence in enumerate(sequences):
        input_ids[place, : len(sequence)] = torch.tensor(sequence.input_ids)
        mask[place, : len(sequence)] = 1
        for segment in sequence.segments:
            predicts[place, segment.start - 1 : segment.stop - 1] = True
    for segment in segments:
        targets += segment.row.completion_ids
        sampled += segment.row.logprobs or [0.0] * len(segment.row.completion_ids)
    rows = [segment.row for segment in segments]
    repeats = torch.tensor([len(row.completion_ids) for row in rows])

    def per_token(values: list[float]) -> Tensor:
        return torch.tensor(values, dtype=torch.float32).repeat_interleave(repeats).to(device)

    return Batch(
        input_ids=input_ids.to(device),
        attention_mask=None if bool(mask.all()) else mask.to(device),
        predicts=predicts.to(device),
        targets=torch.tensor(targets).to(device),
        sampled=torch.tensor(sampled, dtype=torch.float32).to(device),
        known=per_token([float(bool(row.logprobs)) for row in rows]).bool(),
        advantages=per_token([row.advantage for row in rows]),
        shares=per_token([share(row) for row in rows]),
        roles=per_token([float(ROLES.index(row.role)) for row in rows]).long(),
    )
