"""One call of a tool, as one source tells of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from envace_sdk.json import UNSET, Json, Unset

__all__ = ["Place", "Seen", "Span", "canonical"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the file something is told."""

    line: int
    field: str = ""

    def member(self, name: str) -> Place:
        """A part of it."""
        return Place(self.line, f"{self.field}.{name}" if self.field else name)


@dataclass(frozen=True, slots=True)
class Seen:
    """A call; what the source does not tell of it is UNSET."""

    tool: str
    place: Place
    call_id: str = ""
    arguments: Mapping[str, Json] | Unset = UNSET
    are_arguments_sure: bool = True
    """Whether they are told as an object; False where they were guessed from a text."""
    wrong_arguments: str = ""
    """Why the arguments that are told are none."""
    result: Json | Unset = UNSET
    is_error: bool = False
    tells_errors: bool = True
    """Whether an error would be told from a success."""
    code: int | None = None
    """Of a JSON-RPC error."""

    def completed(self, other: Seen) -> Seen:
        """With what another source tells of the same call, where this one does not."""
        keeps_arguments = self.arguments is not UNSET and (self.are_arguments_sure or other.arguments is UNSET)
        mine = self if keeps_arguments else other
        return replace(
            self,
            tool=self.tool or other.tool,
            call_id=self.call_id or other.call_id,
            arguments=mine.arguments,
            are_arguments_sure=mine.are_arguments_sure,
            wrong_arguments=self.wrong_arguments if mine.arguments is UNSET else "",
            result=other.result if self.result is UNSET else self.result,
            is_error=self.is_error or other.is_error,
            tells_errors=self.tells_errors or other.tells_errors,
            code=other.code if self.code is None else self.code,
        )

    def may_be(self, other: Seen) -> bool:
        """Whether both may tell of the same call: nothing that both tell differs."""
        if self.tool and other.tool and self.tool != other.tool:
            return False
        if UNSET in (self.arguments, other.arguments) or not (self.are_arguments_sure and other.are_arguments_sure):
            return True
        return bool(self.arguments == other.arguments)


@dataclass(slots=True)
class Span:
    """A part of a trace: a call of a tool, or something that holds messages, or neither."""

    place: Place
    id: str
    trace: str
    parent: str = ""
    conversation: str = ""
    """What the calls of several traces may have in common."""
    origin: str = ""
    """Who made the trace: of calls that stand alone in their traces, it is all that they have in common."""
    at: int | None = None
    """When it began, in nanoseconds."""
    call: Seen | None = None
    history: list[Seen] = field(default_factory=list)
    """The calls that its messages tell of, in order."""


def canonical(value: Json) -> str:
    """The same text for equal values."""
    return json.dumps(value, sort_keys=True, default=str)
