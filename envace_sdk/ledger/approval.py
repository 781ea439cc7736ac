"""An approval as its entries tell it: what is asked, who answered, what became of it."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from envace_sdk.json import UNSET, Json, Unset

from .entry import Entry, parse_time

__all__ = ["OPEN", "REFUSED", "Answer", "Approval", "Decision", "State", "person", "told"]

Answer = Literal["approve", "reject", "edit"]
State = Literal["pending", "approved", "rejected", "edited", "expired", "stale", "used"]

OPEN: Final = frozenset({"pending", "approved"})
"""States in which an approval may still come to be used."""

REFUSED: Final[Mapping[State, str]] = {
    "pending": "has not been answered by all who must",
    "rejected": "was rejected",
    "edited": "was edited into another action, which has an approval of its own",
    "expired": "has expired: let the agent make the call again, and it is asked about anew",
    "stale": "is stale, for what it rests on has changed: let the agent make the call again, and it is rehearsed and "
    "asked about anew",
    "used": "was used before, and allows one action only",
}
"""What to say of one that does not allow its action."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One person's answer."""

    answer: Answer
    by: str
    at: datetime
    via: str = ""
    """Where it was given: "terminal", "web" …"""


@dataclass(frozen=True, slots=True)
class Approval:
    """A request to people about one action, and where it stands.

    It is bound to `digest`: it allows just this tool with just these arguments, once, until it expires, and, where a
    world is named, only while the world is as it was when the request was made.
    """

    id: str
    run: str
    action: str
    """Id of the action that waits for it."""
    digest: str
    """`action_digest` of what it allows."""
    tool: str
    server: str
    state: State
    requested_at: datetime
    expires: datetime | None
    is_over: bool
    """Whether its time is over, whatever became of it."""
    world: str | None
    """The version of the world it was asked for at."""
    risk: str | None
    roles: tuple[str, ...]
    """Who approves must have one of them; empty: anybody may."""
    needed: int
    """How many must approve."""
    barred: tuple[str, ...]
    """Who may not answer: with four eyes, whoever asked, and whoever edited it."""
    asked_by: str
    decisions: tuple[Decision, ...] = ()
    replaces: str | None = None
    """The approval that was edited into this one."""
    replaced_by: str | None = None
    """The approval that this one was edited into."""
    stale_because: str = ""
    """Why it is stale, if it is."""
    arguments: Json | Unset = UNSET
    """What it shows of the arguments, secrets taken out; UNSET: erased."""
    change: Json = None
    """The predicted change, as `world.diff` says it in JSON; None: not known."""
    reasons: tuple[str, ...] = ()
    details: Json = None
    """What else was given for a person to see."""

    def stale(self, world: str | None) -> bool:
        """Whether the world is known not to be the one it was asked for at."""
        return self.world is not None and world is not None and self.world != world


def person(name: str) -> str:
    """What tells people apart by their names: neither case, nor spaces, nor another form of the same letters."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def told(requested: Entry, later: Sequence[Entry], payload: Json | Unset, *, is_over: bool) -> Approval:
    """The approval that its entries tell of, oldest first."""
    body = requested.body
    decisions = [entry for entry in later if entry.kind == "approval_decided"]
    used = any(entry.kind == "approval_used" for entry in later)
    stale = next((entry for entry in later if entry.kind == "approval_stale"), None)
    shown = payload if isinstance(payload, dict) else {}
    return Approval(
        id=str(requested.approval),
        run=requested.run,
        action=str(requested.action),
        digest=body["digest"],
        tool=body["tool"],
        server=body["server"],
        state=_state(decisions, "used" if used else "stale" if stale else None, body["needed"], is_over),
        requested_at=requested.at,
        expires=None if body["expires"] is None else parse_time(body["expires"]),
        is_over=is_over,
        world=body["world"],
        risk=body["risk"],
        roles=tuple(body["roles"]),
        needed=body["needed"],
        barred=tuple(body["barred"]),
        asked_by=body["asked_by"],
        decisions=tuple(Decision(e.body["answer"], e.body["by"], e.at, e.body["via"]) for e in decisions),
        replaces=body["replaces"],
        replaced_by=next((e.body["replaced_by"] for e in decisions if e.body["replaced_by"]), None),
        stale_because="" if stale is None else str(stale.body["reason"]),
        arguments=shown.get("arguments", UNSET),
        change=shown.get("change"),
        reasons=tuple(shown.get("reasons", ())),
        details=shown.get("details"),
    )


def _state(
    decisions: Sequence[Entry],
    ended: Literal["used", "stale"] | None,
    needed: int,
    is_over: bool,
) -> State:
    if ended is not None:
        return ended
    answers = [entry.body["answer"] for entry in decisions]
    if "reject" in answers:
        return "rejected"
    if "edit" in answers:
        return "edited"
    if is_over:
        return "expired"
    approvers = {person(entry.body["by"]) for entry in decisions if entry.body["answer"] == "approve"}
    return "approved" if len(approvers) >= needed else "pending"
