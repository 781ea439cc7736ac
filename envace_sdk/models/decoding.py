"""Decoding a batch with a causal language model: per-row sampling, exact log-probabilities, rows leave when done.

Endings of names are axes: u distinct prompts, b rows still decoded, t positions so far, v tokens of the vocabulary.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Literal, Protocol

import torch

from envace_sdk.errors import ModelError

__all__ = ["Matcher", "Row", "decode"]


class Matcher(Protocol):
    """Which tokens may come next under a constraint."""

    def allowed(self) -> bytes:
        """One byte for each token of the tokenizer: 0 where it may not come."""
        ...

    def take(self, token: int) -> bool:
        """Note the token that came; True when nothing may come after it."""
        ...


@dataclass(slots=True, eq=False)
class Row:
    """One request, and what has been decoded for it."""

    prompt: tuple[int, ...]
    max_tokens: int
    temperature: float
    top_p: float
    random: Random
    """The source of this row's chance, so that no other row matters to it."""
    matcher: Matcher | None = None
    stopped: Callable[[Sequence[int]], bool] | None = None
    """Whether the tokens so far end with a stop text."""
    abandoned: Callable[[], bool] | None = None
    """Whether nobody waits for it any more."""
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    finish: Literal["", "stop", "length"] = ""
    problem: str = ""
    """Why it could not be decoded further."""

    @property
    def goes_on(self) -> bool:
        """Whether there is more to decode."""
        return not self.finish and not self.problem and not (self.abandoned and self.abandoned())


@torch.no_grad()  # type: ignore[untyped-decorator,unused-ignore]
def decode(model: Any, rows: Sequence[Row], *, end_ids: frozenset[int], pad_id: int) -> None:
    """Decode every row to its end, in place.

    Each distinct prompt is read once, so that a group of samples of one prompt costs one prompt.

    Args:
        model: a causal language model of transformers, in evaluation mode.
        rows: what to decode; prompts must not be empty.
        end_ids: tokens that end a completion. They are part of `tokens`.
        pad_id: any token; it is masked.
    """
    from transformers import DynamicCache

    device = model.device
    prompts = list(dict.fromkeys(row.prompt for row in rows))
    longest = max(map(len, prompts))
    ids_ut = torch.tensor([[pad_id] * (longest - len(each)) + list(each) for each in prompts], device=device)
    mask_ut = torch.tensor([[0] * (longest - len(each)) + [1] * len(each) for each in prompts], device=device)
    cache, live = DynamicCache(config=model.config.get_text_config()), list(rows)
    common = {_cache_name(model): cache, "use_cache": True, "logits_to_keep": 1}
    positions_ut = (mask_ut.cumsum(-1) - 1).clamp(min=0)
    out = model(input_ids=ids_ut, attention_mask=mask_ut, position_ids=positions_ut, **common)
    place = torch.tensor([prompts.index(row.prompt) for row in rows], device=device)
    cache.batch_select_indices(place)
    logits_bv, mask_bt = out.logits[place, -1], mask_ut[place]
    while True:
        tokens_b = _step(logits_bv, live, end_ids)
        going = [index for index, row in enumerate(live) if row.goes_on]
        if not going:
            return
        if len(going) < len(live):
            kept = torch.tensor(going, device=device)
            cache.batch_select_indices(kept)
            tokens_b, mask_bt = tokens_b[kept], mask_bt[kept]
            live = [live[index] for index in going]
        mask_bt = torch.cat([mask_bt, mask_bt.new_ones(len(live), 1)], dim=1)
        positions_b1 = mask_bt.sum(-1, keepdim=True) - 1
        out = model(input_ids=tokens_b[:, None], attention_mask=mask_bt, position_ids=positions_b1, **common)
        logits_bv = out.logits[:, -1]


def _cache_name(model: Any) -> str:
    """What the model calls its cache: transformers has renamed it on the way through version 5."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    return "cache" if "cache" in inspect.signature(inner.forward).parameters else "past_key_values"


def _step(logits_bv: Any, rows: Sequence[Row], end_ids: frozenset[int]) -> Any:
    """Draw the next token of each row, note it there, and say whether it was the last."""
    tokens_b, logprobs_b = _draw(logits_bv, rows)
    for row, token, logprob in zip(rows, tokens_b.tolist(), logprobs_b.tolist(), strict=True):
        row.tokens.append(token)
        row.logprobs.append(min(logprob, 0.0))
        if token in end_ids or _complete(row, token) or (row.stopped and row.stopped(row.tokens)):
            row.finish = "stop"
        elif len(row.tokens) >= row.max_tokens:
            row.finish = "length"
    return tokens_b


def _complete(row: Row, token: int) -> bool:
    """Whether the constraint lets nothing follow this token."""
    try:
        return row.matcher is not None and row.matcher.take(token)
    except ModelError as error:
        row.problem = str(error)
        return False


def _draw(logits_bv: Any, rows: Sequence[Row]) -> tuple[Any, Any]:
    """A token for each row, and its log-probability at the row's temperature over the whole vocabulary."""
    heat_b = torch.tensor([row.temperature or 1.0 for row in rows], device=logits_bv.device)
    full_bv = torch.log_softmax(logits_bv.float() / heat_b[:, None], dim=-1)
    choice_bv = _constrained(full_bv, rows)
    if any(row.top_p < 1 and row.temperature > 0 for row in rows):
        choice_bv = _nucleus(choice_bv, torch.tensor([row.top_p for row in rows], device=logits_bv.device))
    if all(row.temperature == 0 for row in rows):
        tokens_b = choice_bv.argmax(-1)
    else:
        # Inverse of the cumulative distribution at one uniform number: it depends on this row's chance alone.
        sums_bv = torch.softmax(choice_bv, dim=-1).double().cumsum(-1)
        chance_b = torch.tensor([row.random.random() for row in rows], dtype=torch.double, device=logits_bv.device)
        drawn_b = torch.searchsorted(sums_bv, chance_b[:, None] * sums_bv[:, -1:], right=True)[:, 0]
        last_b = (sums_bv < sums_bv[:, -1:]).sum(-1)
        greedy_b = torch.tensor([row.temperature == 0 for row in rows], device=logits_bv.device)
        tokens_b = torch.where(greedy_b, choice_bv.argmax(-1), torch.minimum(drawn_b, last_b))
    return tokens_b, full_bv.gather(-1, tokens_b[:, None])[:, 0]


def _constrained(logprobs_bv: Any, rows: Sequence[Row]) -> Any:
    """The log-probabilities with -inf where a row's constraint forbids the token."""
    if all(row.matcher is None for row in rows):
        return logprobs_bv
    forbidden_bv = torch.zeros_like(logprobs_bv, dtype=torch.bool)
    for index, row in enumerate(rows):
        if row.matcher is not None:
            try:
                allowed = row.matcher.allowed()
            except ModelError as error:
                row.problem = str(error)
                continue
            known = torch.frombuffer(bytearray(allowed), dtype=torch.uint8)[: logprobs_bv.shape[1]] == 0
            forbidden_bv[index, : len(known)] = known.to(logprobs_bv.device)
            forbidden_bv[index, len(known) :] = True
    return logprobs_bv.masked_fill(forbidden_bv, -math.inf)


def _nucleus(logprobs_bv: Any, top_p_b: Any) -> Any:
    """-inf for all but the most probable tokens that together have probability `top_p`, at least one."""
    sorted_bv, order_bv = torch.softmax(logprobs_bv, dim=-1).sort(dim=-1, descending=True)
    out_bv = sorted_bv.cumsum(-1) - sorted_bv >= top_p_b[:, None]
    return logprobs_bv.masked_fill(torch.zeros_like(out_bv).scatter(-1, order_bv, out_bv), -math.inf)
