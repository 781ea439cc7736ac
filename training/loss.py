"""The clipped surrogate, its corrections, and what they amount to: pure functions of tensors over tokens.

All tensors are [N], float32: one value per trained token of a micro-batch. A step's loss is the sum over its
micro-batches, on all processes: each token's share of the mean is known beforehand (`Aggregation`), so that neither
the size of micro-batches nor the number of processes changes anything.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, Self

import torch
from torch import Tensor

from .rows import ROLES, Role, Row

__all__ = ["Aggregation", "Surrogate", "TokenTerms", "imitation", "reference_kl", "surrogate", "truncated_importance"]

_FAR = 20.0
"""Log-ratios are held within this, so that no exponential overflows; a weight of e^20 is capped or clipped anyway."""


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How losses of tokens become one number.

    - `token`: the mean over all tokens of all rows, a true global one.
    - `row`: the mean over rows of the mean over each row's tokens.
    """

    kind: Literal["token", "row"]
    total: float
    """The sum of the weights of what the mean is over: tokens, or rows."""
    role_weights: dict[Role, float] = field(default_factory=dict)
    """Factors on the loss of a role, which do not change the mean's denominator."""

    @classmethod
    def over(
        cls, rows: Iterable[Row], kind: Literal["token", "row"], role_weights: dict[Role, float] | None = None
    ) -> Self:
        """The mean over `rows`: all that count, those too that are not computed because their advantage is 0."""
        total = math.fsum(row.weight * (len(row.completion_ids) if kind == "token" else 1) for row in rows)
        return cls(kind, total, role_weights or {})

    def share(self, row: Row) -> float:
        """What the loss of each token of `row` is multiplied by."""
        if not self.total:
            return 0.0
        own = row.weight * self.role_weights.get(row.role, 1.0)
        return own / self.total if self.kind == "token" else own / len(row.completion_ids) / self.total


@dataclass(frozen=True, slots=True)
class Surrogate:
    """How far the policy may move, and what holds it back."""

    clip_low: float = 0.2
    clip_high: float = 0.2
    importance_cap: float | None = None
    kl: float = 0.0


@dataclass(frozen=True, slots=True)
class TokenTerms:
    """Per token, [N] and without gradient, what a loss was made of; for the metrics."""

    losses: Tensor
    clipped: Tensor
    """bool: the clip decided, so the token has no gradient."""
    log_mismatch: Tensor
    """log pi_trainer - log pi_sampler; 0 where the sampler's is unknown."""
    capped: Tensor
    """bool: the importance weight was above the cap."""
    kl: Tensor


def surrogate(
    logprobs: Tensor,
    old: Tensor,
    advantages: Tensor,
    shares: Tensor,
    settings: Surrogate,
    *,
    sampled: Tensor | None = None,
    known: Tensor | None = None,
    reference: Tensor | None = None,
) -> tuple[Tensor, TokenTerms]:
    """The clipped surrogate (PPO, arXiv 1707.06347, eq. 7) of a micro-batch, as its addend to the step's loss.

    Args:
        logprobs: With gradient, of the weights being trained.
        old: Of the weights at the start of the step; `logprobs` without gradient in the first update.
        advantages: Of the token's row.
        shares: Of the token in the mean.
        settings: Clip, cap and coefficients.
        sampled: Of the sampler, for the importance correction.
        known: bool, where `sampled` means anything.
        reference: Of the weights that training started from; needed where `settings.kl` is above 0.
    """
    ratio = (logprobs - old).clamp(-_FAR, _FAR).exp()
    bounded = ratio.clamp(1 - settings.clip_low, 1 + settings.clip_high)
    losses = -torch.minimum(ratio * advantages, bounded * advantages)
    clipped = ((bounded - ratio) * advantages).detach() < 0
    log_mismatch = torch.zeros_like(old) if sampled is None or known is None else (old - sampled) * known
    importance, capped = truncated_importance(log_mismatch, settings.importance_cap)
    losses = losses * importance
    kl = torch.zeros_like(old)
    if settings.kl and reference is not None:
        divergence = reference_kl(logprobs, reference)
        losses, kl = losses + settings.kl * divergence, divergence.detach()
    terms = TokenTerms(losses.detach(), clipped, log_mismatch, capped, kl)
    return (losses * shares).sum(), terms


def imitation(logprobs: Tensor, shares: Tensor) -> tuple[Tensor, TokenTerms]:
    """Negative log-likelihood of a micro-batch, as its addend to the step's loss: supervised warm-up."""
    nothing = torch.zeros_like(shares)
    terms = TokenTerms(-logprobs.detach(), nothing.bool(), nothing, nothing.bool(), nothing)
    return -(logprobs * shares).sum(), terms


def truncated_importance(log_mismatch: Tensor, cap: float | None) -> tuple[Tensor, Tensor]:
    """Weights min(pi_trainer / pi_sampler, cap) that make tokens of one distribution count as of another, and where
    the cap decided (truncated importance sampling, Ionides 2008); all 1 without a cap.
    """
    if cap is None:
        return torch.ones_like(log_mismatch), torch.zeros_like(log_mismatch, dtype=torch.bool)
    weights = log_mismatch.clamp(-_FAR, _FAR).exp()
    return weights.clamp(max=cap), weights > cap


def reference_kl(logprobs: Tensor, reference: Tensor) -> Tensor:
    """Per token, an estimate of KL(pi || pi_ref), not negative but for rounding (GRPO, arXiv 2402.03300, eq. 4)."""
    difference = (reference - logprobs).clamp(-_FAR, _FAR)
    return torch.expm1(difference) - difference


def roles_of(roles: Tensor) -> Iterable[tuple[Role, Tensor]]:
    """Each role and where in [N] its tokens are."""
    return ((role, roles == place) for place, role in enumerate(ROLES))
