"""The task format: what is asked, in which world, how success is told, and a witness that it can be had.

One JSON object a line in `tasks.jsonl`:

    {"id": "cancel-unshipped", "instruction": "Cancel order TT-26-04102, please.", "tags": ["orders"],
     "world": {"put": {"orders": [{…}]}, "remove": {"orders": ["TT-26-04107"]}},
     "checklist": [{"id": "cancelled", "says": "The order is cancelled.",
                    "that": "world.orders['TT-26-04102'].status == 'cancelled'"}],
     "witness": [{"tool": "cancel_order", "arguments": {"order_id": "TT-26-04102"}}],
     "answer": "The order is cancelled; 129.00 go back to your card."}

A conversation goes on with `follow_ups`, and `tools` names the tools that are shown, where it is not all of them. What
`that` may say is described in `checklist`.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from envace_sdk.errors import WorldError
from envace_sdk.json import Json
from envace_sdk.rehearse.base import Outcome
from envace_sdk.world.clock import parse_clock

__all__ = ["ChecklistItem", "JudgedItem", "Task", "WitnessCall", "WorldChanges"]

Text = Annotated[str, Field(min_length=1)]


def _clock(value: object) -> object:
    if isinstance(value, str):
        try:
            return parse_clock(value, "clock")
        except WorldError as error:
            raise ValueError(str(error).removeprefix("clock: ")) from error
    return value


class _Model(BaseModel):
    # Strict: a "3" where a number belongs is a mistake, and a field that nobody knows is one too.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class WorldChanges(_Model):
    """How the world of a task differs from the toolset's start data. Removals come before additions."""

    seed: int = 0
    clock: Annotated[datetime, BeforeValidator(_clock)] | None = None
    put: dict[str, list[dict[str, Json]]] = Field(default_factory=dict)
    """By collection; an entity whose key is there already is replaced whole."""
    remove: dict[str, list[str | int | float | list[str | int | float]]] = Field(default_factory=dict)
    """Keys by collection; a composite key is a list."""


class ChecklistItem(_Model):
    """One thing that must be so when the task is done."""

    id: Text
    says: Text
    """The same for people, in a sentence."""
    that: Text
    """CEL that is true or false."""
    weight: float = Field(default=1.0, gt=0)


class JudgedItem(_Model):
    """One thing that no condition can tell, and a language model is asked about when there is one to ask."""

    id: Text
    question: Text
    """To be answered with yes where all is well, from what was said and done."""
    weight: float = Field(default=1.0, gt=0)


class WitnessCall(_Model):
    """One call of the witness.

    In its arguments, `{"$cel": "results[0].refund_id"}` stands for what earlier calls answered.
    """

    tool: Text
    arguments: dict[str, Json] = Field(default_factory=dict)
    expect: Outcome | Literal["error"] = "success"
    """What the call must come to; `error`: an error of whatever kind."""
    turn: int = Field(default=0, ge=0)
    """In a conversation, what it is made for: 0 for the instruction, 1 for the first follow-up, …"""


class Task(_Model):
    """A task."""

    id: Text
    instruction: Text
    follow_ups: list[Text] = Field(default_factory=list)
    """What the user says next, each time the assistant has answered; the final answer is then all answers together."""
    tags: list[Text] = Field(default_factory=list)
    template: str = ""
    """What a task that was made is an instance of; instances of one template never stand in two splits."""
    tools: list[Text] | None = None
    """The tools that are shown, and can be called; None for all."""
    world: WorldChanges = Field(default_factory=WorldChanges)
    checklist: list[ChecklistItem] = Field(min_length=1)
    judged: list[JudgedItem] = Field(default_factory=list)
    """For training with a judge; checking and scoring by conditions leave it aside."""
    witness: list[WitnessCall] | None = None
    """Calls that solve the task, together with `answer`; None when nobody has shown that it can be solved."""
    answer: str = ""
    """The witness's final answer; in a conversation, an answer a line, as many as the user's messages."""

    @model_validator(mode="after")
    def _distinct_items(self) -> Self:
        names = Counter([*(item.id for item in self.checklist), *(item.id for item in self.judged)])
        twice = [name for name, times in names.items() if times > 1]
        if twice:
            raise ValueError(f"two checklist items have the id {twice[0]!r}")
        return self
