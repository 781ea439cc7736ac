"""Sums over the tokens of a step, kept on the device until the step is over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor

from .batches import Batch
from .loss import TokenTerms, roles_of
from .metrics import Mismatch, RoleMetrics
from .processes import Processes
from .rows import ROLES, Role

__all__ = ["Tally"]

_PER_ROLE = ("tokens", "entropy", "clipped", "kl")
_MISMATCH = ("tokens", "mean_absolute", "kl", "capped")


class Tally:
    """What the micro-batches of one epoch add up to."""

    def __init__(self) -> None:
        names = ["loss", *(f"mismatch/{name}" for name in _MISMATCH)]
        names += [f"{role}/{name}" for role in ROLES for name in _PER_ROLE]
        self.sums: dict[str, Tensor | float] = dict.fromkeys(names, 0.0)

    def add(self, loss: Tensor, batch: Batch, terms: TokenTerms, entropy: Tensor) -> None:
        """Add a micro-batch."""
        self.sums["loss"] += loss.double()
        for role, where in roles_of(batch.roles):
            values = (where, entropy[where], terms.clipped[where], terms.kl[where])
            for name, value in zip(_PER_ROLE, values, strict=True):
                self.sums[f"{role}/{name}"] += value.double().sum()
        delta = terms.log_mismatch[batch.known]
        # E over the sampler's tokens of r - 1 - log r is KL(sampler || trainer), and never negative.
        divergence = torch.expm1(delta.clamp(-20, 20)) - delta
        values = (torch.ones_like(delta), delta.abs(), divergence, terms.capped[batch.known])
        for name, value in zip(_MISMATCH, values, strict=True):
            self.sums[f"mismatch/{name}"] += value.double().sum()

    def summed(self, processes: Processes) -> Self:
        """Add up those of all processes; all take part."""
        self.sums = dict(processes.totals(self.sums))
        return self

    @staticmethod
    def read(epochs: Sequence[Tally]) -> tuple[float, dict[Role, RoleMetrics], Mismatch | None]:
        """Loss, means by role and mismatch, from the tallies of a step's epochs."""
        if not epochs:
            return 0.0, {}, None
        first, last = epochs[0].sums, epochs[-1].sums
        roles: dict[Role, RoleMetrics] = {}
        for role in ROLES:
            tokens = float(first[f"{role}/tokens"])
            if tokens:
                entropy, kl = (float(first[f"{role}/{name}"]) / tokens for name in ("entropy", "kl"))
                roles[role] = RoleMetrics(int(tokens), entropy, float(last[f"{role}/clipped"]) / tokens, kl)
        known = float(first["mismatch/tokens"])
        if not known:
            return float(first["loss"]), roles, None
        means = [float(first[f"mismatch/{name}"]) / known for name in _MISMATCH[1:]]
        return float(first["loss"]), roles, Mismatch(int(known), *means)
