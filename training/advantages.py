"""Role-wise advantages: a trajectory is judged, in each role, against the same role in the task's other trajectories.

For task x and role r the baseline is the mean reward over the rows of that role in the task's group (EnvACE,
arXiv 2608.06197, role-wise GRPO), and every token of a row gets A = R - baseline. Acting turns are thus never compared
with rehearsing turns, of which a trajectory may have more, fewer or none.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeAlias

from .rows import ROLES, Role, Row

__all__ = ["Baseline", "GroupReport", "RoleReport", "rolewise"]

Baseline: TypeAlias = Literal["row", "token", "trajectory"]
"""What counts once in a baseline: each row (as in the reference), each token, or each trajectory."""


@dataclass(frozen=True, slots=True)
class RoleReport:
    """What the groups of one role were like."""

    rows: int
    groups: int
    flat_groups: int
    """Groups of several rows, all of one reward: nothing to learn from."""
    single_groups: int
    """Groups of one row: nothing to compare with."""
    reward: float | None
    """Mean over its rows; None without any."""
    spread: float | None
    """Standard deviation of the rewards within a group, mean over the groups; None without any."""


@dataclass(frozen=True, slots=True)
class GroupReport:
    """What the groups of a batch were like, by role; with `pooled` baselines too their counts are by role."""

    roles: dict[Role, RoleReport]
    padding: int
    """Rows of weight zero, which were left alone."""
    learning_share: float
    """The share of groups that have anything to learn from, 0 to 1; of those that were compared, with `pooled`
    baselines thus of both roles together."""

    def as_json(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def rolewise(
    rows: Iterable[Row],
    *,
    baseline: Baseline = "row",
    pooled: bool = False,
    scale: bool = False,
    epsilon: float = 1e-6,
) -> tuple[list[Row], GroupReport]:
    """The rows, in their order, with the advantages of their groups.

    A group whose rewards differ by no more than `epsilon` gets exactly 0, and so does a group of one row: the
    reference leaves the latter's mean at 0, and thus its advantage at R, which rewards a turn for having no peer.

    Args:
        rows: Whole groups: all rows of a task that are to be compared. Rows of weight zero keep advantage 0.
        baseline: What counts once in the mean.
        pooled: One baseline over both roles, for ablation.
        scale: Divide by the standard deviation of the group's rewards, as the original GRPO does (arXiv 2402.03300,
            §4.1.2); the reference does not.
        epsilon: In units of reward.
    """
    rows = list(rows)
    groups: dict[tuple[str, Role | None], list[int]] = {}
    for place, row in enumerate(rows):
        if row.weight > 0:
            groups.setdefault((row.task, None if pooled else row.role), []).append(place)
    advantages = [0.0] * len(rows)
    learning = 0
    for places in groups.values():
        members = [rows[place] for place in places]
        learning += not _is_flat(members, epsilon)
        for place, advantage in zip(places, _advantages(members, baseline, scale, epsilon), strict=True):
            advantages[place] = advantage
    judged = [replace(row, advantage=advantage) for row, advantage in zip(rows, advantages, strict=True)]
    return judged, _report(rows, epsilon, learning / len(groups) if groups else 0.0)


def _advantages(members: Sequence[Row], baseline: Baseline, scale: bool, epsilon: float) -> list[float]:
    if _is_flat(members, epsilon):
        return [0.0] * len(members)
    weights = _shares(members, baseline)
    total = math.fsum(weights)
    mean = math.fsum(weight * row.reward for weight, row in zip(weights, members, strict=True)) / total
    found = [row.reward - mean for row in members]
    if scale:
        spread = math.sqrt(math.fsum(w * a * a for w, a in zip(weights, found, strict=True)) / total)
        found = [advantage / (spread + epsilon) for advantage in found]
    return found


def _shares(members: Sequence[Row], baseline: Baseline) -> list[float]:
    """How much each row counts in the baseline."""
    if baseline == "token":
        return [row.weight * len(row.completion_ids) for row in members]
    if baseline == "row":
        return [row.weight for row in members]
    per_sample: dict[int, float] = {}
    for row in members:
        per_sample[row.sample] = per_sample.get(row.sample, 0.0) + row.weight
    return [row.weight / per_sample[row.sample] for row in members]


def _is_flat(members: Sequence[Row], epsilon: float) -> bool:
    rewards = [row.reward for row in members]
    return max(rewards) - min(rewards) <= epsilon


def _report(rows: Sequence[Row], epsilon: float, learning_share: float) -> GroupReport:
    roles = {
        role: _role_report([row for row in rows if row.role == role and row.weight > 0], epsilon) for role in ROLES
    }
    padding = sum(row.weight == 0 for row in rows)
    return GroupReport(roles=roles, padding=padding, learning_share=learning_share)


def _role_report(rows: Sequence[Row], epsilon: float) -> RoleReport:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.task, []).append(row)
    singles = sum(len(members) == 1 for members in groups.values())
    flat = sum(len(members) > 1 and _is_flat(members, epsilon) for members in groups.values())
    spreads = [_spread([row.reward for row in members]) for members in groups.values()]
    return RoleReport(
        rows=len(rows),
        groups=len(groups),
        flat_groups=flat,
        single_groups=singles,
        reward=math.fsum(row.reward for row in rows) / len(rows) if rows else None,
        spread=math.fsum(spreads) / len(spreads) if spreads else None,
    )


def _spread(rewards: Sequence[float]) -> float:
    mean = math.fsum(rewards) / len(rewards)
    return math.sqrt(math.fsum((reward - mean) ** 2 for reward in rewards) / len(rewards))
