"""Warm-up: supervised updates of both roles on the witnesses of tasks and on recordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from envace_sdk.errors import TrainingError
from envace_sdk.models import Message
from envace_sdk.roles import tool_format

from ..rollout import RolloutSource
from ..rows import ROLES, Row
from ..warmup import recorded_rows, witness_rows, worked_example
from .live import Live
from .material import Material
from .settings import RunConfig

__all__ = ["batch", "demonstrations", "examples", "full_batch"]


async def demonstrations(material: Material, live: Live, note: Callable[[str], None] = lambda _: None) -> list[Row]:
    """Rows of both roles as they should be played; from training tasks, and if so configured from recordings of their
    toolsets.

    Args:
        material: the tasks.
        live: the policy that is to learn.
        note: told how many turns were left out because rollouts could not hold them.

    Raises:
        TrainingError: no witness fits the limits of rollouts, and nothing is recorded.
    """
    rows = await _rows(material, live, live.source)
    if live.serving is not live.source:
        # What is learned in a stream is served in prompts of its own, which are to be known too.
        rows += [row for row in await _rows(material, live, live.serving) if row.role == "rehearse"]
    limits = {role: live.config.rollout.limits(role).max_tokens for role in ROLES}
    fitting = [row for row in rows if len(row.completion_ids) <= limits[row.role]]
    if not fitting:
        raise TrainingError(
            "no solution of a task fits the rollout limits, so there is nothing to warm up on; raise "
            "rollout.max_turns, rollout.act.max_tokens or rollout.rehearse.max_tokens"
        )
    for role in ROLES:
        lengths = [len(row.completion_ids) for row in rows if row.role == role]
        long = [length for length in lengths if length > limits[role]]
        if long:
            note(
                f"{len(long)} {role} turns to learn from are longer than rollout.{role}.max_tokens ({limits[role]}) "
                f"and left out; the longest has {max(long)} tokens"
            )
    return fitting


async def _rows(material: Material, live: Live, source: RolloutSource) -> list[Row]:
    rows = await witness_rows(material.cases["train"], source, live.tokens)
    if live.config.warmup.recordings:
        for environment in material.trained_on(live.config.tasks.hold_back):
            rows += recorded_rows(environment, source, live.tokens)
    return rows


def batch(rows: Sequence[Row], step: int, count: int, seed: int) -> list[Row]:
    """The rows of an update: as many of each role as there can be, in an order drawn anew each time through.

    Args:
        rows: all demonstrations.
        step: from 0.
        count: how many.
        seed: of the order.
    """
    roles = [role for role in ROLES if any(row.role == role for row in rows)]
    found: list[Row] = []
    for place, role in enumerate(roles):
        own = [row for row in rows if row.role == role]
        share = count // len(roles) + (place < count % len(roles))
        for number in range(step * share, (step + 1) * share):
            order = Random(f"{seed}/{role}/{number // len(own)}").sample(range(len(own)), len(own))
            found.append(own[order[number % len(own)]])
    return found


def full_batch(rows: Sequence[Row], tokens: int) -> list[Row]:
    """The longest rows of different tasks, which share no prompt, as many as so many tokens hold; at least one."""
    longest: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: row.length):
        longest[row.task] = row
    ordered = sorted(longest.values(), key=lambda row: row.length, reverse=True)
    return ordered[: max(1, tokens // ordered[0].length)]


async def examples(material: Material, config: RunConfig) -> Mapping[str, Sequence[Sequence[Message]]]:
    """By toolset, as many worked examples for the acting prompt as are configured: short training tasks."""
    found: dict[str, list[Sequence[Message]]] = {}
    for environment in material.environments if config.rollout.examples else ():
        own = [
            case
            for case in material.cases["train"]
            if case.environment is environment and case.task.witness and not case.task.follow_ups
        ]
        own.sort(key=lambda case: (len(case.task.witness or ()), len(case.task.instruction), case.name))
        form = tool_format(config.rollout.format)
        found[environment.toolset.name] = [await worked_example(case, form) for case in own[: config.rollout.examples]]
    return found
