"""Requests for approval, inside a transaction: written, and told from their entries."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection

from envace_sdk.errors import ApprovalError
from envace_sdk.json import UNSET, Json

from . import chain, payloads
from .approval import Approval, told
from .entry import Entry, parse_time, time_text
from .log import Log

__all__ = ["Asked", "ask", "get", "of_action", "told_by"]

_SKEW: Final = timedelta(minutes=5)
"""By how much the clocks of machines that share a ledger may differ."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What stays of a request for good."""

    digest: str
    tool: str
    server: str
    expires: datetime | None
    world: str | None
    risk: str | None
    roles: tuple[str, ...]
    needed: int
    barred: tuple[str, ...]
    asked_by: str
    replaces: str | None = None

    def body(self) -> dict[str, Json]:
        """As it is hashed."""
        return {
            "digest": self.digest,
            "tool": self.tool,
            "server": self.server,
            "expires": None if self.expires is None else time_text(self.expires),
            "world": self.world,
            "risk": self.risk,
            "roles": [*self.roles],
            "needed": self.needed,
            "barred": [*self.barred],
            "asked_by": self.asked_by,
            "replaces": self.replaces,
        }


def ask(log: Log, connection: Connection, run: str, action: str, asked: Asked, shown: Mapping[str, Json]) -> Approval:
    """Write a request; `shown` is what a person sees, and can be erased."""
    name = f"ap_{secrets.token_hex(8)}"
    log.write(connection, run, "approval_requested", asked.body(), payload=dict(shown), action=action, approval=name)
    return get(log, connection, name)


def get(log: Log, connection: Connection, approval: str) -> Approval:
    """One approval. Raises: ApprovalError (unknown), TamperedError."""
    found = told_by(log, connection, chain.entries(connection, approval=approval))
    if not found:
        raise ApprovalError(approval, "unknown", f"there is no approval {approval!r}")
    return found[0]


def of_action(log: Log, connection: Connection, action: str) -> list[Approval]:
    """All that were asked for an action, oldest first."""
    asked = chain.entries(connection, action=action, kind="approval_requested")
    latest: dict[str, datetime] = {}
    for entry in asked:
        latest[entry.run] = max(entry.at, latest.get(entry.run, entry.at))
    # Within a run the place in the chain tells what came later: a clock may have been set back.
    ordered = sorted(asked, key=lambda entry: (latest[entry.run], entry.run, entry.seq))
    return [get(log, connection, str(entry.approval)) for entry in ordered]


def told_by(log: Log, connection: Connection, entries: Sequence[Entry]) -> list[Approval]:
    """The approvals whose entries these are."""
    later: dict[str | None, list[Entry]] = {}
    for entry in entries:
        if entry.kind in {"approval_decided", "approval_used", "approval_stale"}:
            later.setdefault(entry.approval, []).append(entry)
    return [
        told(
            request,
            later.get(request.approval, ()),
            UNSET if request.payload_digest is None else payloads.read(connection, request.payload_digest),
            is_over=_is_over(log, connection, request),
        )
        for request in entries
        if request.kind == "approval_requested"
    ]


def _is_over(log: Log, connection: Connection, request: Entry) -> bool:
    """Whether the time of a request is over: by the clock, or by the chain, where the clock was set back since."""
    expires = request.body["expires"]
    if expires is None:
        return False
    now = log.now()
    if now >= parse_time(expires) or now < request.at - _SKEW:
        return True
    return chain.has_seen(connection, request.run, request.seq, expires)
