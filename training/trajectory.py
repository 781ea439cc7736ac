"""What happened in one rollout, turn by turn, and the rows it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from envace_sdk.errors import TrainingError
from envace_sdk.json import Json
from envace_sdk.models import Completion
from envace_sdk.rehearse.base import Rehearsal
from envace_sdk.tasks import Episode
from envace_sdk.tools.model import ToolCall, ToolResult

from .rollout_config import Source
from .rows import Role, Row

__all__ = ["AnsweredBy", "Ending", "Trajectory", "Turn", "rows_of"]

Ending: TypeAlias = Literal["answered", "turns", "malformed", "errors", "truncated", "refused"]
"""Why a trajectory ended: the last answer was given; too many turns; a turn that cannot be read; too many error turns;
a completion was cut off; the model took no such prompt."""
AnsweredBy: TypeAlias = Literal["policy", "ladder", "server", "twin", "nobody"]
_ANSWERED_BY: Final[Mapping[Source, AnsweredBy]] = {"train": "policy", "grounded": "ladder"}


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: an act, or the response to a call."""

    role: Role
    text: str = ""
    """What the policy wrote; "" where it was not asked."""
    completion: Completion | None = None
    """As the policy wrote it; None for a response that the environment, or a real server, gave."""
    calls: tuple[ToolCall, ...] = ()
    """Of an act, what it calls; of a response, the one call it is the response to."""
    result: ToolResult | None = None
    """Of a response, what the acting role was shown."""
    truth: Rehearsal | None = None
    """Of a response, what the environment's ladder answers to the call there."""
    problem: str = ""
    """Why the turn cannot be read, if it cannot."""

    @property
    def is_sampled(self) -> bool:
        """Whether the policy wrote it."""
        return self.completion is not None

    def as_json(self) -> dict[str, Json]:
        """For people to read."""
        shown: dict[str, Json] = {"role": self.role, "sampled": self.is_sampled}
        if self.text:
            shown["text"] = self.text
        if self.calls:
            shown["calls"] = [{"tool": call.name, "arguments": dict(call.arguments)} for call in self.calls]
        if self.result is not None:
            shown["result"] = {"value": self.result.value(), "is_error": self.result.is_error}
        if self.truth is not None:
            truth = self.truth.result
            shown["truth"] = {"value": truth.value(), "is_error": truth.is_error, "layer": self.truth.layer}
        if self.problem:
            shown["problem"] = self.problem
        return shown


@dataclass(slots=True)
class Trajectory:
    """One rollout of one task."""

    task: str
    sample: int
    source: Source
    policy_version: int = 0
    server: Literal["server", "twin", "nobody"] = "nobody"
    """Which answered where a real one was to: a twin says that it only rehearses; nobody, as long as none was asked."""
    turns: list[Turn] = field(default_factory=list)
    ending: Ending = "turns"
    answers: list[str] = field(default_factory=list)
    """What the user was told, in order."""
    episode: Episode | None = None
    """The calls with what they truly came to, and the world before and after: what is judged."""
    reward: float = 0.0
    """Of the task's outcome."""
    role_rewards: dict[Role, float] = field(default_factory=dict)
    """By role, where it has terms of its own."""
    terms: dict[str, float] = field(default_factory=dict)
    """What the rewards are made of, for reports."""
    solved: bool = False
    masked: str = ""
    """Why it must not be learned from, if so: its reward is not known."""

    @property
    def answered_by(self) -> AnsweredBy:
        """Who answered the calls."""
        return self.server if self.source == "real" else _ANSWERED_BY[self.source]

    @property
    def answer(self) -> str:
        """All that the user was told."""
        return "\n".join(self.answers)

    def rows(self) -> list[Row]:
        """A row per turn that the policy wrote, in order; of weight 0 where the reward is not known.

        Raises:
            TrainingError: the model does not say which tokens it was shown or wrote.
        """
        found = []
        for place, turn in enumerate(self.turns):
            if turn.completion is None or turn.completion.finish_reason == "error" or turn.completion.token_ids == ():
                continue
            prompt, tokens = turn.completion.prompt_ids, turn.completion.token_ids
            if prompt is None or tokens is None:
                raise TrainingError(
                    f"task {self.task!r}: the model does not say which tokens it read and wrote, so nothing can be "
                    "trained on them: use a transformers or vLLM model"
                )
            found.append(
                Row(
                    self.task,
                    self.sample,
                    turn.role,
                    prompt,
                    tokens,
                    logprobs=turn.completion.logprobs or (),
                    reward=self.role_rewards.get(turn.role, self.reward),
                    truncated=turn.completion.finish_reason == "length",
                    policy_version=self.policy_version,
                    turn=place,
                    weight=0.0 if self.masked else 1.0,
                )
            )
        return found

    def as_json(self) -> dict[str, Json]:
        """For people to read."""
        return {
            "task": self.task,
            "sample": self.sample,
            "source": self.source,
            "answered_by": self.answered_by,
            "policy_version": self.policy_version,
            "ending": self.ending,
            "reward": self.reward,
            "role_rewards": dict(self.role_rewards),
            "terms": dict(self.terms),
            "solved": self.solved,
            "masked": self.masked,
            "answer": self.answer,
            "turns": [turn.as_json() for turn in self.turns],
        }


def rows_of(trajectories: Sequence[Trajectory]) -> list[Row]:
    """The rows of several trajectories. Raises: TrainingError, as `Trajectory.rows`."""
    return [row for trajectory in trajectories for row in trajectory.rows()]
