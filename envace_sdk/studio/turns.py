"""A run as a sequence of turns: who did what, on which kind of evidence, and a rehearsal beside what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from envace_sdk.evaluate.sides import Line, side_by_side
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.ledger import Entry, Ledger

from .lines import lines
from .predicted import Predicted

__all__ = ["Comparison", "Turn", "turns"]

_ROLES: Final[Mapping[str, tuple[str, str, str]]] = {
    "rehearsed": ("rehearse", "rehearsed", "rehearsed"),
    "decision": ("judge", "", "judged"),
    "approval_requested": ("person", "", "person"),
    "approval_decided": ("person", "", "person"),
    "approval_used": ("person", "", "person"),
    "approval_stale": ("person", "", "person"),
    "commit": ("act", "", "act"),
    "observed": ("observe", "observed", "observed"),
    "claimed": ("act", "claimed", "claimed"),
}
"""By kind of entry: the role of the turn, its kind of evidence, and its shape."""

_CUT: Final = "…"
_MOST_LINES: Final = 200


@dataclass(frozen=True, slots=True)
class Comparison:
    """A rehearsal beside what was observed of the same action."""

    predicted: Predicted
    status: str
    """What was observed."""
    left: list[Line]
    right: list[Line]
    is_cut: bool
    """Whether only the beginning of the rehearsed answer was kept, and is compared."""
    right_or_not: bool | None
    """How the guard has scored it; None where it has not."""
    differences: list[str]


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of the run."""

    seq: int
    at: datetime
    kind: str
    role: str
    evidence: str
    """`rehearsed`, `observed` or `claimed`; "" where the turn is no evidence."""
    shape: str
    tool: str
    server: str
    approval: str
    is_first: bool
    """Whether the run speaks of this action for the first time."""
    words: list[str]
    arguments: Json | Unset
    answer: str
    predicted: Predicted | None
    comparison: Comparison | None
    is_erased: bool


def turns(ledger: Ledger, entries: Iterable[Entry]) -> list[Turn]:
    """The entries as turns.

    Raises:
        TamperedError: an entry or a payload is not as it was written.
        StoreError: the ledger cannot be read.
    """
    found: list[Turn] = []
    seen: set[str] = set()
    for entry in entries:
        payload = ledger.payload(entry)
        found.append(_turn(ledger, entry, payload, is_first=entry.action is not None and entry.action not in seen))
        if entry.action is not None:
            seen.add(entry.action)
    return found


def _turn(ledger: Ledger, entry: Entry, payload: Json | Unset, *, is_first: bool) -> Turn:
    role, evidence, shape = _ROLES.get(entry.kind, ("note", "", "note"))
    body, told = entry.body, payload if isinstance(payload, Mapping) else {}
    if entry.kind == "observed" and body.get("claimed_by"):
        evidence = shape = "claimed"
    answer = _answer(told.get("result")) if entry.kind == "observed" else _text(told.get("text"))
    return Turn(
        seq=entry.seq,
        at=entry.at,
        kind=entry.kind.replace("_", " "),
        role=role,
        evidence=evidence,
        shape=shape,
        tool=_text(body.get("tool")),
        server=_text(body.get("server")),
        approval=entry.approval or "",
        is_first=is_first,
        words=_words(entry, told),
        arguments=told.get("arguments", UNSET),
        answer=answer,
        predicted=Predicted.of(told.get("prediction")) if entry.kind == "rehearsed" else None,
        comparison=_compared(ledger, entry, answer) if entry.kind == "observed" and told else None,
        is_erased=entry.payload_digest is not None and isinstance(payload, Unset),
    )


def _words(entry: Entry, told: Mapping[str, Any]) -> list[str]:
    """What the entry says, beside tool, arguments and answer."""
    body = entry.body
    if entry.kind == "decision":
        rule = f" by the rule {body['rule']!r}" if body.get("rule") else ""
        shadow = ", noted only" if body.get("shadow") else ""
        reasons = told.get("reasons")
        return [f"{body.get('verdict')}{rule}{shadow}", *(map(str, reasons) if isinstance(reasons, list) else [])]
    if entry.kind == "approval_decided":
        via = f" ({body['via']})" if body.get("via") else ""
        comment = _text(told.get("comment"))
        return [f"{body.get('answer')} by {body.get('by')}{via}", *([f"“{comment}”"] if comment else [])]
    if entry.kind == "observed":
        by = f", as {body['claimed_by']} says" if body.get("claimed_by") else ""
        raised = f" ({body['raised']})" if body.get("raised") else ""
        return [f"{body.get('status')}{raised}{by}"]
    if entry.kind == "claimed":
        found = told.get("unsupported")
        texts = (
            [str(one.get("text", one)) for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
        )
        return [f"claims that nothing observed supports: {body.get('unsupported', 0)}", *texts]
    if entry.kind in {"note", "erased", "approval_stale"}:
        return [json.dumps(dict(body), ensure_ascii=False)]
    return []


def _compared(ledger: Ledger, entry: Entry, observed: str) -> Comparison | None:
    """The rehearsal of the same action beside what was observed, if there was one."""
    if entry.action is None:
        return None
    earlier = ledger.find(entry.run, entry.action, "rehearsed")
    payload = UNSET if earlier is None else ledger.payload(earlier)
    predicted = Predicted.of(payload.get("prediction")) if isinstance(payload, Mapping) else None
    if predicted is None:
        return None
    one, other = lines(predicted.answer), lines(observed)
    is_cut = predicted.answer.endswith(_CUT)
    if is_cut:  # its last line is broken off
        one = one[:-1]
        other = other[: len(one)]
    left, right = side_by_side(one[:_MOST_LINES], other[:_MOST_LINES])
    score = ledger.find(None, entry.action, "scored")
    told = UNSET if score is None else ledger.payload(score)
    differences = told.get("differences") if isinstance(told, Mapping) else None
    return Comparison(
        predicted,
        _text(entry.body.get("status")),
        left,
        right,
        is_cut,
        None if score is None else bool(score.body.get("right")),
        [str(one) for one in differences] if isinstance(differences, list) else [],
    )


def _answer(result: Any) -> str:
    """The answer in a stored result as one text."""
    if not isinstance(result, Mapping):
        return ""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [_text(block.get("text")) for block in blocks if isinstance(block, Mapping) and block.get("type") == "text"]
    if texts:
        return texts[0]
    structured = result.get("structuredContent")
    return json.dumps(structured if structured is not None else blocks, ensure_ascii=False)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
