"""What a gateway answers where the real server does not: errors that say first of all that nothing was executed.

Every one carries the gateway's word in `_meta`, under `dev.envace/guard`, and none an observed label.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from envace_sdk.errors import ApprovalRequired, Refused
from envace_sdk.evidence.framing import frame_rehearsal
from envace_sdk.evidence.label import KEY, PREFIX
from envace_sdk.guard import Outcome
from envace_sdk.json import Json
from envace_sdk.tools.finding import printable
from envace_sdk.tools.model import ToolResult

from .eras import Era, project_result

__all__ = ["VERDICT", "failed", "in_doubt", "observed", "pending", "question", "refused", "replayed", "unreached"]

VERDICT: Final = PREFIX + "guard"
"""In `_meta`: what the guard made of the call, `executed` first of all."""
_NOTHING: Final = "NOT EXECUTED."


def refused(tool: str, error: Refused, era: Era) -> dict[str, Any]:
    """The verdict is no, or not so."""
    said = [f"{_NOTHING} The guard did not let {tool} happen, so nothing has changed. This is no answer of the tool."]
    said += [f"Reason: {reason}" for reason in error.reasons]
    if error.kind == "revise" and error.arguments is not None:
        said.append("A person wants other arguments; they are in the metadata and here: " + _json(error.arguments))
    elif error.kind == "revise":
        said.append("Another call may go through: change what the reasons name.")
    else:
        said.append("Do not try the same call again.")
    if error.prediction:
        said.append(error.prediction)
    more: dict[str, Json] = {} if error.arguments is None else {"arguments": dict(error.arguments)}
    return _error(said, era, verdict=error.kind, reasons=list(error.reasons), **more)


def pending(tool: str, pause: ApprovalRequired, era: Era, *, ledger: str, why: str = "") -> dict[str, Any]:
    """A person must decide first, and could not be asked here or has not answered."""
    payload = pause.payload
    where = _option(ledger)
    said = [
        f"{_NOTHING} {tool} waits for a person's approval, so nothing has changed. This is no answer of the tool.",
        *([why] if why else []),
        *(f"Reason: {reason}" for reason in _texts(payload.get("reasons"))),
        "Only a person may allow it, just this call and once; do not do so yourself. They run: "
        f"envace-sdk approvals approve {pause.approval}{where}",
        "Afterwards make the same call again, with the same arguments.",
        _framed(tool, payload),
    ]
    return _error(said, era, verdict="ask", reasons=payload.get("reasons"), approval=pause.approval)


def in_doubt(tool: str, action: str, why: str, era: Era, *, ledger: str = "") -> dict[str, Any]:
    """Nobody knows whether the call happened."""
    where = _option(ledger)
    said = [
        f"IN DOUBT. {tool} was sent to the real server, and what came of it is not known: it may have happened.",
        why,
        "It will not be sent again by itself. A person must look at the real system and settle it, before it is tried "
        f"again: envace-sdk guard settle {action}{where} --happened, or --did-not-happen",
    ]
    return _error(said, era, executed=None, verdict="in_doubt", action=action)


def unreached(tool: str, why: str, era: Era) -> dict[str, Any]:
    """The real server never took the call."""
    said = [f"{_NOTHING} The guard let {tool} pass, but the real server did not take the call: {why}"]
    return _error(said, era, verdict="commit", reasons=[why])


def failed(tool: str, error: BaseException, era: Era) -> dict[str, Any]:
    """The guard or its ledger failed, so the call stays undone."""
    why = f"{type(error).__name__}: {error}"
    said = [f"{_NOTHING} The guard could not judge {tool}, so it was not sent to the real server. {why}"]
    return _error(said, era, verdict="block", reasons=[why])


def observed(wire: Mapping[str, Json], outcome: Outcome) -> dict[str, Any]:
    """What the real server answered, as it was, with the gateway's label."""
    meta = wire.get("_meta")
    kept = meta if isinstance(meta, Mapping) else {}
    return {**wire, "_meta": {**kept, **_label(outcome.result)}}


def replayed(outcome: Outcome, era: Era) -> dict[str, Any]:
    """What came of the call the first time, observed or as a person says; it was not sent again."""
    wire = project_result(outcome.result, era)
    return {**wire, "_meta": {**_label(outcome.result), VERDICT: {"executed": True, "replayed": True}}}


def question(tool: str, payload: Mapping[str, Json]) -> str:
    """What a person is asked, in plain text: one line is one line, whatever the agent and the server wrote into it."""
    server = payload.get("server")
    lines = [
        printable(f"May the agent call {tool}{f' of {server}' if server else ''}?"),
        printable("Arguments: " + _json(payload.get("arguments"))),
        f"Risk: {payload.get('risk')}",
        *(printable(f"  {reason}") for reason in _texts(payload.get("risk_reasons"))),
        *(printable(f"Asked because: {reason}") for reason in _texts(payload.get("reasons"))),
        _framed(tool, payload),
    ]
    return "\n".join(line for line in lines if line)


def _option(ledger: str) -> str:
    return f" --ledger {ledger}" if ledger else ""


def _framed(tool: str, payload: Mapping[str, Json]) -> str:
    predicted = payload.get("predicted")
    return frame_rehearsal(predicted, tool=tool) if isinstance(predicted, str) and predicted else ""


def _error(said: Sequence[str], era: Era, *, executed: bool | None = False, **verdict: Json) -> dict[str, Any]:
    text = "\n".join(line for line in said if line)
    wire = project_result(ToolResult.text(text, is_error=True), era)
    told = {name: value for name, value in verdict.items() if value is not None}
    return {**wire, "_meta": {VERDICT: {"executed": executed, **told}}}


def _label(result: ToolResult) -> dict[str, Json]:
    return {KEY: result.meta[KEY]} if KEY in result.meta else {}


def _texts(value: Json) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list | tuple) else []


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
