"""Rows: the one contract between rollouts and whatever updates the weights.

A row is one turn of one trajectory, in tokens: what the model was shown, what it answered, how likely it thought each
token of the answer, which role it was in, and what the trajectory earned. Tokens go in and out as the sampler saw them;
nothing is ever tokenised again.

Both renderings are made of rows (`segments.py`): rows with prompts of their own are trained one by one (`split`), and
rows of a trajectory whose prompts extend each other are one token sequence (`stream`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, get_args

from envace_sdk.errors import RowError

__all__ = ["ROLES", "Role", "Row", "rows_from_json"]

Role: TypeAlias = Literal["act", "rehearse"]
"""The two roles of the policy: emit the next tool call; emit the environment's response."""

ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Row:
    """One completion of one role, with all that an update needs to know of it.

    Raises:
        RowError: fields that contradict each other, or a number that is not finite; the message names the row.
    """

    task: str
    """What the rows of a group have in common: the same task, from the same start."""
    sample: int
    """Which of the group's trajectories it is from."""
    role: Role
    prompt_ids: tuple[int, ...]
    """The tokens the model was shown; at least one, since the first token of an answer is predicted from the last."""
    completion_ids: tuple[int, ...]
    """The tokens it answered, with the end token if it emitted one; at least one."""
    logprobs: tuple[float, ...] = ()
    """Per completion token, the sampler's natural log-probability at the sampling temperature, before top-p or top-k.

    Empty where no sampler made the tokens (recordings, witnesses): such a row is not corrected for mismatch.
    """
    reward: float = 0.0
    advantage: float = 0.0
    """Filled in by `rolewise`; the same for every token of the completion."""
    truncated: bool = False
    """Whether the completion was cut off by the token limit."""
    policy_version: int = 0
    """How many updates the weights that sampled it had seen."""
    turn: int = 0
    """Its place in the trajectory, over both roles."""
    weight: float = 1.0
    """Its share in every mean (baselines, losses). Zero makes it padding: no gradient, no baseline, no count."""

    def __post_init__(self) -> None:
        # Samplers answer with lists; tuples make a row hashable and its prefixes cheap to compare.
        for name in ("prompt_ids", "completion_ids", "logprobs"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        problem = _problem(self)
        if problem:
            raise RowError(f"row of task {self.task!r}, sample {self.sample}, turn {self.turn}: {problem}")

    @property
    def length(self) -> int:
        """How many tokens it has, prompt and completion."""
        return len(self.prompt_ids) + len(self.completion_ids)

    def as_json(self) -> dict[str, Any]:
        """As JSON; `rows_from_json` reads it back."""
        found = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def rows_from_json(values: Iterable[Mapping[str, Any]]) -> list[Row]:
    """Rows from their JSON form.

    Raises:
        RowError: a field is missing, unknown or of the wrong type; the message names the field and the row's place.
    """
    return [_from_json(number, value) for number, value in enumerate(values, 1)]


_INTEGERS = ("sample", "policy_version", "turn")
_NUMBERS = ("reward", "advantage", "weight")
_REQUIRED = ("task", "sample", "role", "prompt_ids", "completion_ids")


def _from_json(number: int, value: Mapping[str, Any]) -> Row:
    known = {item.name for item in fields(Row)}
    for name in _REQUIRED:
        if name not in value:
            raise RowError(f"row {number}: {name} is missing")
    for name, item in value.items():
        if name not in known:
            raise RowError(f"row {number}: {name} is no field of a row; known are {', '.join(sorted(known))}")
        if not _fits(name, item):
            raise RowError(f"row {number}: {name} cannot be {item!r:.60}")
    return Row(**value)


def _fits(name: str, value: object) -> bool:
    if name in {"task", "role"}:
        return isinstance(value, str)
    if name == "truncated":
        return isinstance(value, bool)
    if name in _INTEGERS:
        return _is_integer(value)
    if name in _NUMBERS:
        return _is_number(value)
    if not isinstance(value, Sequence) or isinstance(value, str):
        return False
    return all(map(_is_number if name == "logprobs" else _is_integer, value))


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _problem(row: Row) -> str:
    if row.role not in ROLES:
        return f"its role is {row.role!r}, which is none of {', '.join(ROLES)}"
    if not row.prompt_ids:
        return "its prompt is empty; the first token of a completion needs one before it"
    if not row.completion_ids:
        return "its completion is empty; leave such a turn out"
    if row.logprobs and len(row.logprobs) != len(row.completion_ids):
        return f"it has {len(row.completion_ids)} completion tokens and {len(row.logprobs)} log-probabilities"
    if not all(map(math.isfinite, row.logprobs)):
        return "a log-probability is not finite"
    if not (math.isfinite(row.reward) and math.isfinite(row.advantage)):
        return f"its reward ({row.reward}) or advantage ({row.advantage}) is not finite"
    if not (math.isfinite(row.weight) and row.weight >= 0):
        return f"its weight is {row.weight}; it must be a number from 0 up"
    return ""
