"""Log-probabilities of trained tokens, without ever holding the logits of all of them.

Logits are by far the largest tensor of an update: tokens times vocabulary, in float32. Most tokens are prompt, so only
the hidden states that predict a trained token are projected to the vocabulary; and these in chunks, whose logits are
computed again in the backward pass, if they are many.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

__all__ = ["TokenLogProbs", "token_logprobs"]

_CHUNK_LOGITS = 2**26
"""Logits of a chunk: a quarter of a GiB in float32."""


def token_logprobs(logits: Tensor, targets: Tensor, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
    """Log-probabilities of the targets, and the entropy of each prediction in nats, without gradient.

    Args:
        logits: [N, V]
        targets: [N]
        temperature: What logits are divided by.

    Returns:
        Two of [N], float32.
    """
    logits = logits.float() / temperature
    normaliser = logits.logsumexp(-1)
    chosen = logits.gather(-1, targets[:, None])[:, 0] - normaliser
    with torch.no_grad():
        entropy = normaliser - ((logits - normaliser[:, None]).exp() * logits).sum(-1)
    return chosen, entropy


class TokenLogProbs(nn.Module):  # type: ignore[misc,unused-ignore]
    """A causal language model that answers with log-probabilities of chosen tokens instead of logits.

    Everything happens in `forward`, so that wrappers which act on a module's forward see all of it.
    """

    def __init__(self, model: nn.Module, temperature: float = 1.0, chunk_logits: int = _CHUNK_LOGITS) -> None:
        """Wrap `model`, a causal language model of transformers with an output embedding; it is not copied."""
        super().__init__()
        self.model: Any = model
        self._temperature = temperature
        self._chunk_logits = chunk_logits
        self._predicts: Tensor | None = None
        self._hidden: Tensor | None = None
        self._head().register_forward_pre_hook(self._select)
        self._chunks = self._head_is_all()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None,
        positions: Tensor | None,
        predicts: Tensor,
        targets: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Log-probabilities and entropies [N] of `targets` [N], which the places `predicts` [N] predict (`Batch`)."""
        self._predicts = predicts
        placed = {} if positions is None else {"position_ids": positions}
        try:
            logits = self.model(input_ids=input_ids, attention_mask=attention_mask, use_cache=False, **placed).logits
        finally:
            self._predicts = None
        hidden, self._hidden = self._hidden, None
        if not self._chunks:
            return token_logprobs(logits[0], targets, self._temperature)
        assert hidden is not None  # noqa: S101  the head's hook has just set it
        size = max(1, self._chunk_logits // self._vocabulary)
        if len(targets) <= size:
            return self._project(hidden, targets)
        parts = [
            checkpoint(self._project, states, ids, use_reentrant=False)
            for states, ids in zip(torch.split(hidden, size), torch.split(targets, size), strict=True)
        ]
        return torch.cat([part[0] for part in parts]), torch.cat([part[1] for part in parts])

    def _project(self, hidden: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        return token_logprobs(self._head()(hidden), targets, self._temperature)

    def _head(self) -> nn.Module:
        head: nn.Module = self.model.get_output_embeddings()
        return head

    def _select(self, _: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        """Inside `forward`, show the head no more than is needed; elsewhere (generation), leave it alone."""
        if self._predicts is None:
            return None
        states, *rest = inputs
        hidden = states.flatten(0, 1).index_select(0, self._predicts)
        if not self._chunks:
            return (hidden[None], *rest)
        self._hidden = hidden
        return (states[:1, :1], *rest)

    def _head_is_all(self) -> bool:
        """Whether logits are the head's output as it is; some models scale or cap them afterwards."""
        seen: list[Tensor] = []
        hook = self._head().register_forward_hook(lambda _, __, output: seen.append(output))
        device = next(self.model.parameters()).device
        try:
            with torch.no_grad():
                logits = self.model(input_ids=torch.tensor([[0, 1]], device=device), use_cache=False).logits
        finally:
            hook.remove()
        self._vocabulary = int(logits.shape[-1])
        return bool(torch.equal(seen[0], logits.to(seen[0].dtype)))
