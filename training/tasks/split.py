"""Train, validation and test: no template stands in two of them, and whole toolsets may be held back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Final, Literal, TypeAlias

from envace_sdk.errors import TaskError
from envace_sdk.tasks import Task

__all__ = ["SPLITS", "Shares", "Split", "split_by_template"]

Split: TypeAlias = Literal["train", "validation", "test"]
Shares: TypeAlias = tuple[float, float, float]
"""Of train, validation and test; positive numbers, whatever their sum."""

SPLITS: Final[tuple[Split, ...]] = ("train", "validation", "test")


def split_by_template(tasks: Iterable[Task], shares: Shares, *, seed: int = 0) -> Mapping[Split, list[Task]]:
    """The tasks by split; all tasks of a template are in the same one.

    Templates are dealt out kind by kind, each to the split that is furthest behind its share: so splits are alike in
    their kinds, as far as those have several templates.

    Args:
        tasks: what to split; a task without a template is one of its own.
        shares: how much of each split there should be.
        seed: of the order in which templates are dealt out.

    Raises:
        TaskError: a share is negative, or all are zero.
    """
    if min(shares) < 0 or sum(shares) <= 0:
        raise TaskError(f"shares of train, validation and test are {shares}; none may be negative, and not all zero")
    kinds: dict[str, dict[str, list[Task]]] = {}
    for task in tasks:
        kind = task.tags[0] if task.tags else ""
        kinds.setdefault(kind, {}).setdefault(task.template or f"task:{task.id}", []).append(task)
    split: dict[Split, list[Task]] = {name: [] for name in SPLITS}
    missing = dict.fromkeys(SPLITS, 0.0)
    for kind in sorted(kinds):
        templates = sorted(kinds[kind])
        Random(f"{seed}/{kind}").shuffle(templates)
        for name, share in zip(SPLITS, shares, strict=True):
            missing[name] += share / sum(shares) * len(templates)
        for template in templates:
            behind = max((name for name in SPLITS if missing[name] > 0), key=lambda name: missing[name])
            missing[behind] -= 1
            split[behind] += kinds[kind][template]
    return {name: sorted(found, key=lambda task: task.id) for name, found in split.items()}
