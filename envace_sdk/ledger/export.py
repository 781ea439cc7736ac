"""Entries and approvals for other programs: as JSON, and as CloudEvents."""

from __future__ import annotations

from urllib.parse import quote

from envace_sdk.json import UNSET, Json, Unset

from .approval import Approval
from .entry import Entry, time_text

__all__ = ["approval_as_json", "as_cloudevent", "as_json"]


def as_json(entry: Entry, payload: Json | Unset = UNSET) -> dict[str, Json]:
    """An entry as an object.

    SHA-256 of `text` is `digest`, and `text` says all that the other members say: whoever has the lines of a run can
    check its chain without the database.
    """
    made: dict[str, Json] = {
        "run": entry.run,
        "seq": entry.seq,
        "at": time_text(entry.at),
        "kind": entry.kind,
        "action": entry.action,
        "approval": entry.approval,
        "body": dict(entry.body),
        "digest": entry.digest,
        "previous": entry.previous,
        "payload_digest": entry.payload_digest,
        "text": entry.text,
    }
    return made if isinstance(payload, Unset) else {**made, "payload": payload}


def as_cloudevent(entry: Entry, payload: Json | Unset = UNSET) -> dict[str, Json]:
    """An entry as a CloudEvent 1.0 in its JSON form.

    `source` and `id` name it once and for all; the extension `sequence` orders the events of a source.
    """
    data: dict[str, Json] = {
        "body": dict(entry.body),
        "digest": entry.digest,
        "previous": entry.previous,
        "payload_digest": entry.payload_digest,
        "approval": entry.approval,
    }
    made: dict[str, Json] = {
        "specversion": "1.0",
        "id": str(entry.seq),
        "source": f"/envace/ledger/{quote(entry.run, safe='', errors='surrogatepass')}",
        "type": f"dev.envace.ledger.{entry.kind}",
        "time": time_text(entry.at),
        "datacontenttype": "application/json",
        "sequence": f"{entry.seq:020d}",
        "data": data if isinstance(payload, Unset) else {**data, "payload": payload},
    }
    return made if entry.action is None else {**made, "subject": entry.action}


def approval_as_json(approval: Approval) -> dict[str, Json]:
    """An approval as an object; without `arguments` where they were erased."""
    made: dict[str, Json] = {
        "id": approval.id,
        "state": approval.state,
        "run": approval.run,
        "action": approval.action,
        "digest": approval.digest,
        "server": approval.server,
        "tool": approval.tool,
        "change": approval.change,
        "risk": approval.risk,
        "reasons": list(approval.reasons),
        "details": approval.details,
        "requested_at": time_text(approval.requested_at),
        "expires": None if approval.expires is None else time_text(approval.expires),
        "world": approval.world,
        "roles": list(approval.roles),
        "needed": approval.needed,
        "barred": list(approval.barred),
        "asked_by": approval.asked_by,
        "decisions": [
            {"answer": decision.answer, "by": decision.by, "at": time_text(decision.at), "via": decision.via}
            for decision in approval.decisions
        ],
        "replaces": approval.replaces,
        "replaced_by": approval.replaced_by,
        "stale_because": approval.stale_because,
    }
    return made if isinstance(approval.arguments, Unset) else {**made, "arguments": approval.arguments}
