"""Who answers calls in which step."""

from __future__ import annotations

from random import Random

from ..rollout_config import ScheduleConfig, Source

__all__ = ["source_of"]


def source_of(schedule: ScheduleConfig, step: int, group: int, seed: int = 0) -> Source:
    """The source of a group's responses.

    Args:
        schedule: what was configured.
        step: from 0.
        group: the group's place in the step.
        seed: of the draws of `mix`.
    """
    if step < schedule.grounded_steps:
        return "grounded"
    if schedule.real_every is not None and (step + 1 - schedule.grounded_steps) % schedule.real_every == 0:
        return "real"
    if not schedule.mix:
        return schedule.source
    random = Random(f"{seed}/{step}/{group}")
    return random.choices([*schedule.mix], [*schedule.mix.values()])[0]
