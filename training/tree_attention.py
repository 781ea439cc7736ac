"""Trees as tensors: who attends to whom, and whether a model can be told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch
from torch import Tensor

from envace_sdk.errors import TrainingError

from .trees import Tree

__all__ = ["require_trees", "tree_mask"]

_TOLERANCE: Final = {torch.float32: 1e-3}
_TOLERANCE_BELOW: Final = 0.05
"""In number formats of less precision."""


def tree_mask(trees: Sequence[Tree], longest: int) -> Tensor:
    """Which token attends to which: [B, 1, T, T], bool, `longest` being T. Padding attends to itself."""
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
def require_trees(model: Any) -> None:
    """Make sure that a model computes trees as it does sequences.

    Raises:
        TrainingError: it has layers that do not attend to everything before them, or it takes no such mask.
    """
    advice = "set compute.share_prefixes to false for this model"
    text = model.config.get_text_config()
    kinds = set(getattr(text, "layer_types", None) or ())
    windowed = getattr(text, "sliding_window", None) is not None and not kinds
    if windowed or kinds - {"full_attention"}:
        named = ", ".join(sorted(kinds - {"full_attention"})) or "sliding_window"
        raise TrainingError(f"sequences that share prefixes need full attention in all layers, not {named}; {advice}")
    device = next(model.parameters()).device
    tree = torch.tensor([[0, 1, 2, 3]], device=device)
    mask = torch.tensor([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 0, 1]], device=device).bool()[None, None]
    positions = torch.tensor([[0, 1, 2, 2]], device=device)
    try:
        found = model(input_ids=tree, attention_mask=mask, position_ids=positions, use_cache=False).logits[0, 2:]
    except (RuntimeError, TypeError, ValueError) as error:
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise TrainingError(f"the model takes no mask of a tree: {reason[0]:.200}; {advice}") from error
    each = [[0, 1, 2], [0, 1, 3]]
    expected = model(input_ids=torch.tensor(each, device=device), use_cache=False).logits[:, -1]
    allowed = _TOLERANCE.get(found.dtype, _TOLERANCE_BELOW) * float(expected.abs().max())
    if float((found - expected).abs().max()) > allowed:
        raise TrainingError(f"the model computes a tree otherwise than its sequences; {advice}")
