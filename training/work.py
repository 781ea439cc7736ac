"""A step's work: which rows count, which are computed, in which micro-batches, by which process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from torch import Tensor

from envace_sdk.models.trees import Tree

from .batches import MicroBatch, plan, share_out
from .config import TrainConfig
from .loss import Aggregation
from .policy import Policy
from .processes import Processes
from .rows import ROLES, Row
from .segments import TokenSequence, render

__all__ = ["Work", "work_for"]


@dataclass(slots=True)
class Work:
    """The work of one process in a step, and what its first epoch leaves for the others.

    All but `batches` is the same in all processes.
    """

    counted: list[Row]
    """Rows that the mean is over: of trained roles, with weight, not masked for being cut off."""
    computed: list[Row]
    """Those of them that have a gradient."""
    truncated: int
    """Rows of trained roles that were cut off."""
    aggregation: Aggregation
    tokens: int = 0
    """Tokens that go through the model in an epoch, padding included."""
    batches: list[MicroBatch] = field(default_factory=list)
    old: dict[int, Tensor] = field(default_factory=dict)
    """Log-probabilities at the start of the step, by place of the micro-batch."""
    reference: dict[int, Tensor] = field(default_factory=dict)
    """Log-probabilities of the start weights, by place of the micro-batch."""
    needs_reference: bool = False

    def share(self, batch: MicroBatch) -> Callable[[Row], float]:
        """What each token of a row weighs in the loss."""
        return (lambda _: 0.0) if batch.is_idle else self.aggregation.share


def work_for(
    rows: Sequence[Row], config: TrainConfig, policy: Policy, processes: Processes, *, by_advantage: bool
) -> Work:
    """The work that rows of all processes make for this one.

    Args:
        rows: The same, in the same order, in all processes.
        config: All settings.
        policy: Tells which adapter trains a role.
        processes: Among whom the work is shared.
        by_advantage: Rows of advantage 0 need no computing (unless they are held to the start weights). They stay in
            the denominator: whether a group has anything to teach must not change how much the others teach.
    """
    of_role = [row for row in rows if row.weight > 0 and row.role not in config.parameters.frozen]
    counted = [row for row in of_role if not (row.truncated and config.loss.mask_truncated)]
    needs_reference = by_advantage and config.loss.kl > 0
    computed = [row for row in counted if not by_advantage or row.advantage != 0 or needs_reference]
    aggregation = Aggregation.over(counted, config.loss.aggregation, config.optimizer.role_weights)
    truncated = sum(row.truncated for row in of_role)
    work = Work(counted, computed, truncated, aggregation, needs_reference=needs_reference)
    parts: dict[str | None, list[TokenSequence]] = {}
    apart = ROLES if config.parameters.separate else ()
    for sequence in render(computed, config.rendering, apart=apart):
        parts.setdefault(policy.adapter(sequence.segments[0].row.role), []).append(sequence)
    for adapter, sequences in parts.items():
        compute = config.compute
        batches = plan(sequences, compute.tokens_per_micro_batch, adapter, share_prefixes=compute.share_prefixes)
        work.tokens += sum(batch.tokens for batch in batches)
        shares = share_out(batches, processes.count)
        work.batches += shares[processes.rank]
        if policy.is_sharded:
            # A sharded forward pass is a joint effort: whoever has no work left walks along without weight.
            missing = max(map(len, shares)) - len(shares[processes.rank])
            work.batches += [MicroBatch((Tree.of(min(sequences, key=len)),), adapter, is_idle=True)] * missing
    return work
