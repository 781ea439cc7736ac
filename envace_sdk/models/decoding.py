"""Decoding a batch with a causal language model: per-row sampling, exact log-probabilities, rows leave when done.

Endings of names are axes: u distinct prompts (or trees of them), b rows still decoded, t positions so far, v tokens of
the vocabulary.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from random import Random
from typing import Any, Final, Literal, Protocol

import torch

from envace_sdk.errors import ModelError

from .trees import Tree, grow

__all__ = ["Matcher", "Row", "decode", "tree_mask", "why_no_trees"]

_LARGEST_TREE: Final = 2048
_MOST_SHARED: Final = 4096
"""Tokens that all rows read, up to which they are decoded as one forest: each new token attends to all of them."""


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
    def input_ids(self) -> tuple[int, ...]:
        """What is read before it is decoded."""
        return self.prompt

    @property
    def goes_on(self) -> bool:
        """Whether there is more to decode."""
        return not self.finish and not self.problem and not (self.abandoned and self.abandoned())


@torch.no_grad()  # type: ignore[untyped-decorator,unused-ignore]
def decode(model: Any, rows: Sequence[Row], *, end_ids: frozenset[int], pad_id: int, trees: bool = False) -> None:
    """Decode every row to its end, in place.

    Each distinct prompt is read once, so that a group of samples of one prompt costs one prompt; with `trees`, each
    common beginning of prompts.

    Args:
        model: a causal language model of transformers, in evaluation mode.
        rows: what to decode; prompts must not be empty.
        end_ids: tokens that end a completion. They are part of `tokens`.
        pad_id: any token; it is masked.
        trees: whether the model computes trees (`why_no_trees`).
    """
    grown = grow(rows, _LARGEST_TREE) if trees else []
    read = sum(map(len, grown))
    shares = 0 < read <= min(_MOST_SHARED, sum(len(row.prompt) for row in rows) // 2)
    batch = _Forest(model, grown, rows, pad_id) if shares else _Padded(model, rows, pad_id)
    logits_bv, live = batch.logits, list(rows)
    while True:
        tokens_b = _step(logits_bv, live, end_ids)
        going = [index for index, row in enumerate(live) if row.goes_on]
        if not going:
            return
        if len(going) < len(live):
            kept = torch.tensor(going, device=model.device)
            batch.keep(kept)
            tokens_b = tokens_b[kept]
            live = [live[index] for index in going]
        logits_bv = batch.take(tokens_b)


class _Padded:
    """Rows beside each other, padded on the left, each with a cache of its own."""

    def __init__(self, model: Any, rows: Sequence[Row], pad_id: int) -> None:
        self._model, self._cache, device = model, _new_cache(model), model.device
        prompts = list(dict.fromkeys(row.prompt for row in rows))
        longest = max(map(len, prompts))
        ids_ut = torch.tensor([[pad_id] * (longest - len(each)) + list(each) for each in prompts], device=device)
        mask_ut = torch.tensor([[0] * (longest - len(each)) + [1] * len(each) for each in prompts], device=device)
        positions_ut = (mask_ut.cumsum(-1) - 1).clamp(min=0)
        out = _forward(model, self._cache, ids_ut, mask_ut, positions_ut, 1)
        place = torch.tensor([prompts.index(row.prompt) for row in rows], device=device)
        self._cache.batch_select_indices(place)
        self._mask_bt = mask_ut[place]
        self.logits = out.logits[place, -1]
        """[b, v], for the first tokens."""

    def keep(self, kept: Any) -> None:
        """Go on with these rows only."""
        self._cache.batch_select_indices(kept)
        self._mask_bt = self._mask_bt[kept]

    def take(self, tokens_b: Any) -> Any:
        """The logits [b, v] after a token for each row."""
        self._mask_bt = torch.cat([self._mask_bt, self._mask_bt.new_ones(len(tokens_b), 1)], dim=1)
        positions_b1 = self._mask_bt.sum(-1, keepdim=True) - 1
        out = _forward(self._model, self._cache, tokens_b[:, None], self._mask_bt, positions_b1, 1)
        return out.logits[:, -1]


class _Forest:
    """Rows behind each other, in one cache that holds each common beginning once."""

    def __init__(self, model: Any, trees: Sequence[Tree[Row]], rows: Sequence[Row], pad_id: int) -> None:
        self._model, self._cache, device = model, _new_cache(model), model.device
        longest = max(map(len, trees))
        ids_ut = torch.tensor([[*tree.input_ids, *[pad_id] * (longest - len(tree))] for tree in trees], device=device)
        places_ut = torch.tensor([[*tree.positions, *[0] * (longest - len(tree))] for tree in trees], device=device)
        ends = sorted({branch.path[-1] for tree in trees for branch in tree.branches})
        wanted = torch.tensor(ends, device=device)
        out = _forward(model, self._cache, ids_ut, tree_mask(trees, longest).to(device), places_ut, wanted)
        found = {id(each.sequence): (number, each.path) for number, tree in enumerate(trees) for each in tree.branches}
        places = [found[id(row)] for row in rows]
        columns = [ends.index(path[-1]) for _, path in places]
        self.logits = out.logits[[number for number, _ in places], columns]
        """[b, v], for the first tokens."""
        begins = [0, *accumulate(map(len, trees))]
        visible_bt = torch.zeros(len(rows), begins[-1], dtype=torch.bool)
        for mine, (number, path) in zip(visible_bt, places, strict=True):
            mine[[begins[number] + node for node in path]] = True
        self._visible_bt = visible_bt.to(device)
        self._positions_b = torch.tensor([len(row.prompt) for row in rows], device=device)
        kept_t = [number * longest + node for number, tree in enumerate(trees) for node in range(len(tree))]
        self._join(torch.tensor(kept_t, device=device))

    def _join(self, kept_t: Any) -> None:
        """Put the caches of all trees behind each other, without what was padded."""
        for layer in self._cache.layers:
            for name in ("keys", "values"):
                held = getattr(layer, name).transpose(1, 2).flatten(0, 1).index_select(0, kept_t)
                setattr(layer, name, held.transpose(0, 1)[None].contiguous())

    def keep(self, kept: Any) -> None:
        """Go on with these rows only."""
        self._visible_bt, self._positions_b = self._visible_bt[kept], self._positions_b[kept]

    def take(self, tokens_b: Any) -> Any:
        """The logits [b, v] after a token for each row."""
        own_bb = torch.eye(len(tokens_b), dtype=torch.bool, device=tokens_b.device)
        self._visible_bt = torch.cat([self._visible_bt, own_bb], dim=1)
        mask = self._visible_bt[None, None]
        out = _forward(self._model, self._cache, tokens_b[None], mask, self._positions_b[None], 0)
        self._positions_b = self._positions_b + 1
        return out.logits[0]


def tree_mask(trees: Sequence[Tree[Any]], longest: int) -> Any:
    """Which token attends to which: [u, 1, t, t], bool, `longest` being t. Padding attends to itself."""
    mask = torch.zeros(len(trees), 1, longest, longest, dtype=torch.bool)
    for place, tree in enumerate(trees):
        for branch in tree.branches:
            own = branch.path[branch.shared :]
            if own:
                start, stop = own[0], own[-1] + 1
                mask[place, 0, start:stop, list(branch.path[: branch.shared])] = True
                mask[place, 0, start:stop, start:stop] = torch.ones(stop - start, stop - start).tril().bool()
        mask[place, 0, range(len(tree), longest), range(len(tree), longest)] = True
    return mask


@torch.no_grad()  # type: ignore[untyped-decorator,unused-ignore]
def why_no_trees(model: Any) -> str:
    """Why a model does not compute trees as it does sequences; empty where it does."""
    text = model.config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or ())
    if others := sorted(kinds - {"full_attention"}):
        return f"it has layers of {', '.join(others)}"
    if not kinds and getattr(text, "sliding_window", None) is not None:
        return "it has layers of sliding attention"
    device = next(model.parameters()).device
    ends = torch.tensor([[0, 1, 2], [0, 1, 3]], device=device)
    tree = torch.tensor([[0, 1, 2, 3]], device=device)
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 0, 1]], device=device).bool()[None, None]
    positions = torch.tensor([[0, 1, 2, 2]], device=device)
    try:
        found = model(input_ids=tree, attention_mask=mask, position_ids=positions, use_cache=False).logits[0, 2:]
    except (RuntimeError, TypeError, ValueError) as error:
        return f"it takes no mask of a tree: {(str(error).strip().splitlines() or [type(error).__name__])[0]:.200}"
    expected = model(input_ids=ends, use_cache=False).logits[:, -1]
    allowed = (1e-3 if found.dtype == torch.float32 else 0.05) * float(expected.abs().max())
    return "it computes a tree otherwise" if float((found - expected).abs().max()) > allowed else ""


def _new_cache(model: Any) -> Any:
    from transformers import DynamicCache

    return DynamicCache(config=model.config.get_text_config())


def _forward(model: Any, cache: Any, ids: Any, mask: Any, positions: Any, logits_to_keep: Any) -> Any:
    common = {_cache_name(model): cache, "use_cache": True, "logits_to_keep": logits_to_keep}
    return model(input_ids=ids, attention_mask=mask, position_ids=positions, **common)


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
