"""What a session hides: the calls by which it is known, and the flags and registers that explain them.

A *flag* is true or false, a *register* holds a value or null; both belong to the session as a whole, and successful
calls set them: logging in, changing the directory, opening a cart, choosing a unit. No answer need ever show them;
they are known by errors that happen while they have some value, and by answers that say what they hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from envace_sdk.json import UNSET, Json, Unset

__all__ = ["Event", "Flag", "Reading", "Register", "Trigger", "Update"]


@dataclass(frozen=True, slots=True)
class Event:
    """One call of an episode."""

    tool: str
    arguments: Mapping[str, Json]
    is_error: bool = False
    error_class: str = ""
    """Why it failed: the same text for errors of the same reason; "" for a success."""
    answer: Json = None
    """What a successful call answered, as data."""

    @property
    def failed(self) -> bool:
        """Whether it did nothing: an error, by its mark or by its class."""
        return self.is_error or bool(self.error_class)


class Trigger(NamedTuple):
    """Successful calls of a tool; with a condition (CEL over `args` and `answer`), those for which it holds."""

    tool: str
    condition: str = ""


class Reading(NamedTuple):
    """Where a flag or a register shows, before the call has any effect of its own."""

    tool: str
    kind: Literal["error", "answer"]
    what: str
    """The class of the error, or the dotted path of the answer's leaf ("" for the whole answer)."""
    inverted: bool = False
    """Of a flag: an error happens while the flag is false, an answer shows its value; `inverted`, the opposite."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Something about the session that is true or false."""

    name: str
    initially: bool | None
    """None: some episodes begin with it, others without."""
    set_by: tuple[Trigger, ...]
    cleared_by: tuple[Trigger, ...]
    shown_by: tuple[Reading, ...] = ()
    right: int = 0
    """Errors, successes and answers that it explains."""
    wrong: int = 0
    """Those that contradict it."""


class Update(NamedTuple):
    """What a register holds after a successful call of a tool, if the condition holds: CEL over `args`, `answer` and
    `session`, whose member of the register's name is what it held before.
    """

    tool: str
    condition: str
    value: str


@dataclass(frozen=True, slots=True)
class Register:
    """Something that the session holds."""

    name: str
    initially: Json | Unset
    """What it holds when an episode begins; `UNSET`: that differs, and is known from the first answer that shows it."""
    updates: tuple[Update, ...]
    """In order: of those of one tool, the first whose condition holds."""
    shown_by: tuple[Reading, ...] = ()
    right: int = 0
    """Readings that it explains."""
    wrong: int = 0
    """Readings that contradict it."""
    cleared: bool = False
    """Whether being null is shown by errors."""

    @property
    def unknown(self) -> bool:
        """Whether episodes begin with different values."""
        return self.initially is UNSET
