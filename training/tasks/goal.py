"""What a goal is: something that somebody wants, the calls that do it, the conditions that tell whether it is had."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from envace_sdk.json import Json
from envace_sdk.rehearse.base import Outcome
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.state import State

__all__ = ["REFUSALS", "Aim", "Goal", "Kind", "Step", "Wanted", "called", "cel", "owned", "refusal_said"]

Kind: TypeAlias = Literal["read", "search", "compute", "change", "refused"]
"""What somebody wants: to know of one thing, of several, to have something worked out or done, or what cannot be."""

REFUSALS: Final = ("cannot", "can't", "can not", "could not", "couldn't", "unable", "not possible", "impossible")
"""Words one of which every refusal holds."""

_TEXT: Final = 40
"""Characters above which a text counts as free: what of it is passed on is not checked word by word."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of a witness, and what it comes to."""

    call: ToolCall
    expect: Outcome = "success"
    turn: int = 0
    """Which of the user's messages it is made for."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A checklist item in the making."""

    says: str
    that: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Aim:
    """The call that a goal is about, with what it comes to."""

    tool: Tool
    call: ToolCall
    outcome: Outcome
    error: str = ""


@dataclass(frozen=True, slots=True)
class Goal:
    """One thing that somebody wants."""

    kind: Kind
    template: str
    """The tools in play and the way in which the thing is told of: what tasks that differ only in values share."""
    request: str
    steps: tuple[Step, ...]
    reply: str
    wanted: tuple[Wanted, ...]
    aim: Aim
    state: State
    """The world afterwards."""

    @property
    def tools(self) -> frozenset[str]:
        """The tools that the witness needs."""
        return frozenset(step.call.name for step in self.steps)


def refusal_said() -> str:
    """The condition that the answer refuses."""
    return f"{cel(list(REFUSALS))}.exists(text, said(text))"


def owned() -> Wanted:
    """The guard that whoever did a thing does not tell the user that it cannot be done."""
    return Wanted("The answer does not say that it cannot be done.", f"!{refusal_said()}")


def called(call: ToolCall, tool: Tool) -> str:
    """The condition that the call was made, up to texts that may be put otherwise."""
    firm = {name: value for name, value in call.arguments.items() if _is_firm(value)}
    return f"called({cel(tool.name)}, {cel(firm)}) >= 1"


def _is_firm(value: Json) -> bool:
    if isinstance(value, dict):
        return all(map(_is_firm, value.values()))
    if isinstance(value, list):
        return all(map(_is_firm, value))
    return not isinstance(value, str) or (len(value) <= _TEXT and len(value.split()) < 5)


def cel(value: Json) -> str:
    """A JSON value in CEL, whose literals are JSON's."""
    return json.dumps(value, ensure_ascii=False)
