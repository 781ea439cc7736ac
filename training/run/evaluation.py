"""How well the policy acts: held-out tasks on the environment's ladder, and what its rollouts were like."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from math import comb

from ..rollout import Case, Trajectory
from ..rollout_config import Source
from ..rows import ROLES
from .fidelity import KnownCall, RoleFidelity, role_fidelity
from .live import Live

__all__ = ["Evaluation", "evaluate", "pass_hat", "rollout_metrics", "trouble"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One measurement on held-out tasks."""

    samples: int
    """Attempts at each task that were wanted."""
    trajectories: Sequence[Trajectory]
    rehearsing: RoleFidelity
    constrained: RoleFidelity | None = None
    """The same, held to the tools' schemas as where a model is served; None: not measured."""

    @property
    def attempts(self) -> dict[str, tuple[int, int]]:
        """By task, how many attempts solved it, and how many could be made."""
        found: dict[str, tuple[int, int]] = {}
        for one in self.trajectories:
            solved, tried = found.get(one.task, (0, 0))
            found[one.task] = (solved + one.solved, tried + (not one.masked))
        return found

    @property
    def trouble(self) -> str:
        """Which attempts could not be made, in words; empty where all were."""
        return trouble(self.trajectories)

    def pass_hat(self, k: int) -> float:
        """pass^k: how likely k attempts at a task all solve it, mean over the tasks."""
        return pass_hat(list(self.attempts.values()), k)

    def as_flat(self) -> dict[str, float]:
        """Numbers by name; what could not be measured has none, which is no 0."""
        shares, rehearsing = rollout_metrics(self.trajectories), self.rehearsing
        is_tried, is_asked = "success" in shares, rehearsing.calls > 0
        found: dict[str, float | None] = {
            "success": shares.get("success"),
            "reward": shares.get("reward"),
            "fidelity": rehearsing.fidelity if is_asked else None,
            "fidelity_new": rehearsing.new,
            "format_act": shares.get("format/act", 0.0) if is_tried else None,
            "format_rehearse": rehearsing.readable if is_asked else None,
            "fidelity_constrained": self.constrained.fidelity if self.constrained and is_asked else None,
        }
        if is_tried:
            found |= {f"pass^{k}": self.pass_hat(k) for k in range(2, self.samples + 1)}
        return {f"eval/{name}": value for name, value in found.items() if value is not None}


async def evaluate(
    cases: Sequence[Case],
    rehearsed: Sequence[Case],
    live: Live,
    *,
    samples: int,
    temperature: float,
    source: Source = "grounded",
    constrained: bool = False,
    known: Container[KnownCall] | None = None,
) -> Evaluation:
    """Try the tasks, and put the calls of their solutions to the policy.

    Args:
        cases: held-out tasks.
        rehearsed: those whose solutions' calls are rehearsed.
        live: the policy.
        samples: attempts at each.
        temperature: of sampling.
        source: who answers the calls of the tasks that are tried: the environment's ladder, or a real server.
        constrained: rehearse once more, held to the tools' schemas as where a model is served.
        known: score rehearsals of other calls than these apart.

    Raises:
        ModelError: the model cannot be run.
    """
    trajectories = await live.evaluating(samples, temperature).collect(cases, 0, source=source)
    rehearsing = await role_fidelity(rehearsed, live, temperature=temperature, known=known)
    held = await role_fidelity(rehearsed, live, temperature=temperature, constrained=True) if constrained else None
    return Evaluation(samples, trajectories, rehearsing, held)


def trouble(trajectories: Sequence[Trajectory]) -> str:
    """Which attempts could not be made, in words; empty where all were."""
    masked = [one for one in trajectories if one.masked]
    if not masked:
        return ""
    made = f"{len(masked)} of {len(trajectories)} attempts could not be made"
    return f"{made}; the first, {masked[0].task}: {masked[0].masked}"


def pass_hat(attempts: Sequence[tuple[int, int]], k: int) -> float:
    """The unbiased estimate of pass^k (arXiv 2406.12045, §3): mean over tasks of C(solved, k) / C(tried, k).

    Args:
        attempts: by task, how many solved it, and how many were made; tasks that were tried fewer than k times tell
            nothing.
        k: how many must all succeed; from 1.
    """
    if k < 1:
        raise ValueError(f"k is {k}; it must be from 1 up")
    shares = [comb(solved, k) / comb(tried, k) for solved, tried in attempts if tried >= k]
    return _mean(shares) if shares else 0.0


def rollout_metrics(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    """What rollouts were like: reward, success, form by role, and how they ended.

    Masked trajectories are only counted; where all are, there is no more to tell.
    """
    counted = [one for one in trajectories if not one.masked]
    found = {"trajectories": float(len(counted)), "masked": float(len(trajectories) - len(counted))}
    if not counted:
        return found
    found["reward"] = _mean([one.reward for one in counted])
    found["success"] = _mean([float(one.solved) for one in counted])
    found["turns"] = _mean([float(len(one.turns)) for one in counted])
    for role in ROLES:
        written = [turn for one in counted for turn in one.turns if turn.role == role and turn.is_sampled]
        if written:
            found[f"format/{role}"] = _mean([float(not turn.problem) for turn in written])
            found[f"reward/{role}"] = _mean(
                [
                    one.role_rewards.get(role, one.reward)
                    for one in counted
                    if any(turn.role == role and turn.is_sampled for turn in one.turns)
                ]
            )
    agreements = [one.terms["rehearse_agreement"] for one in counted if "rehearse_agreement" in one.terms]
    if agreements:
        found["agreement"] = _mean(agreements)
    if any(one.answered_by == "twin" for one in counted):
        found["answered_by/twin"] = _mean([float(one.answered_by == "twin") for one in counted])
    for ending in ("answered", "malformed", "truncated"):
        found[f"ended/{ending}"] = _mean([float(one.ending == ending) for one in counted])
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
