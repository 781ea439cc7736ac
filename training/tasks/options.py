"""What kind of tasks to make, and how many."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, field_validator

__all__ = ["MakeOptions", "TaskKind"]

TaskKind: TypeAlias = Literal[
    "read", "search", "compute", "change", "refused", "unavailable", "conditional", "pair", "conversation"
]


_MIX: Final[Mapping[TaskKind, float]] = {
    "read": 0.2,
    "search": 0.1,
    "compute": 0.05,
    "change": 0.25,
    "refused": 0.12,
    "unavailable": 0.05,
    "conditional": 0.08,
    "pair": 0.08,
    "conversation": 0.07,
}


class MakeOptions(BaseModel):
    """What kind of tasks to make, and how many."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    count: int = Field(default=100, ge=1, le=1_000_000)
    """Tasks per toolset."""
    seed: int = 0
    """The same seed, toolset and options give the same tasks."""
    tools_per_task: int | None = Field(default=None, ge=1)
    """How many tools a task shows at most: those it needs, and others beside them. None shows all."""
    max_calls: int = Field(default=4, ge=1)
    """Calls of the longest witness."""
    largest_answer: int | None = Field(default=None, ge=1)
    """Characters of the longest answer of a witness's call, as JSON: a small model cannot read or write long ones."""
    per_template: int | None = Field(default=None, ge=1)
    """Tasks of a template at most: otherwise those that are easily made crowd out the others."""
    hidden_keys: float = Field(default=0.5, ge=0, le=1)
    """How often a key is not told but has to be found out, where a search or another entity gives it."""
    bystanders: float = Field(default=0.2, ge=0, le=1)
    """How often a request also names something that is to be left alone."""
    mix: dict[TaskKind, Annotated[float, Field(ge=0)]] = Field(default_factory=lambda: dict(_MIX))
    """Shares of the kinds. What a toolset cannot do is made up for by the others.

    `read`, `search`, `compute`: to know something; `change`: to have something done; `refused`: what the rules forbid
    or what is not there; `unavailable`: what none of the tools shown does; `conditional`: to be done only if something
    is so; `pair`: two wishes at once; `conversation`: the second one follows when the first is answered. Both wishes
    are of kinds that have a share of their own."""

    @field_validator("mix")
    @classmethod
    def _can_be_drawn_by(cls, mix: dict[TaskKind, float]) -> dict[TaskKind, float]:
        together = sum(mix.values())
        if not together:
            raise ValueError("at least one kind needs a share above 0, as in {change: 1}; left out, all kinds have one")
        if not math.isfinite(together):
            raise ValueError("the shares are too large to be counted together; only their ratios matter, so lower all")
        return mix
