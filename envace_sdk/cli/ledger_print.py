"""Entries of the ledger and approvals as text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import click

from envace_sdk.json import UNSET, Json, Unset

if TYPE_CHECKING:
    from envace_sdk.ledger import Approval, Entry

__all__ = ["approval_line", "approval_text", "compact", "entry_text"]

_COLOURS: Final = {
    "observed": "green",
    "commit": "yellow",
    "approval_requested": "cyan",
    "approval_decided": "cyan",
    "approval_used": "cyan",
    "approval_stale": "cyan",
    "erased": "red",
}
_NOT_YET: Final = "nothing of it has happened"
_MARKS: Final = {"created": ("+", "green"), "updated": ("~", "yellow"), "deleted": ("-", "red")}


def entry_text(entry: Entry, payload: Json | Unset = UNSET, *, erased: bool = False) -> str:
    """An entry on one line, and its payload on another."""
    from envace_sdk.tools.finding import printable

    kind = click.style(entry.kind, fg=_COLOURS.get(entry.kind))
    about = f"  {printable(entry.action)[:12]}" if entry.action else ""
    line = f"#{entry.seq}  {_time(entry.at)}  {kind}{about}  {compact(dict(entry.body))}"
    if erased:
        return f"{line}\n    payload: erased"
    return line if isinstance(payload, Unset) else f"{line}\n    payload: {compact(payload)}"


def approval_line(approval: Approval) -> str:
    """An approval on one line."""
    from envace_sdk.tools.finding import printable

    arguments = "(erased)" if isinstance(approval.arguments, Unset) else compact(approval.arguments)
    risk = f"  risk {printable(approval.risk)}" if approval.risk else ""
    over = _over(approval)
    return f"{approval.id}  {approval.state}{risk}  {_tool(approval)} {arguments}{f'  ({over})' if over else ''}"


def approval_text(approval: Approval, observed_since: int) -> str:
    """All there is to know before one answers."""
    from envace_sdk.tools.finding import printable

    lines = [f"{click.style(approval.id, bold=True)}: {approval.state}"]
    if over := _over(approval):
        again = "it cannot be approved; let the agent make the call again, and it is asked about anew"
        lines.append(f"{click.style('note', fg='yellow')}      {over}: {again}")
    lines.append(f"run       {printable(approval.run)}")
    lines.append(f"action    {click.style(_tool(approval), bold=True)}")
    if isinstance(approval.arguments, Unset):
        lines.append("          (its arguments were erased)")
    else:
        lines += [f"          {printable(name)} = {compact(value)}" for name, value in _members(approval.arguments)]
    lines += _prediction_lines(approval)
    lines += _change_lines(approval)
    lines.append(f"risk      {printable(approval.risk or 'not told')}{_why(approval)}")
    lines += [f"{'reason    ' if n == 0 else '          '}{printable(why)}" for n, why in enumerate(approval.reasons)]
    asked = f" on behalf of {printable(approval.asked_by)}" if approval.asked_by else ""
    lines.append(f"asked     {_time(approval.requested_at)}{asked}")
    lines.append(f"expires   {'never' if approval.expires is None else _time(approval.expires)}")
    lines += _who_lines(approval)
    if approval.replaces:
        lines.append(f"replaces  {approval.replaces}, which was edited")
    if approval.replaced_by:
        lines.append(f"edited    into {approval.replaced_by}")
    if approval.world is not None and observed_since and approval.state in {"pending", "approved"}:
        times = "1 action was" if observed_since == 1 else f"{observed_since} actions were"
        moved = f"{times} observed in this run since: if the world it rests on has moved, it is refused as stale"
        lines.append(f"{click.style('note', fg='yellow')}      {moved}")
    return "\n".join(lines)


def _over(approval: Approval) -> str:
    """Why nobody need answer any more, in words."""
    from envace_sdk.tools.finding import printable

    if approval.state == "stale":
        return printable(approval.stale_because)
    if approval.state == "expired" and approval.expires is not None:
        return f"its time was over at {_time(approval.expires)}"
    return ""


def _prediction_lines(approval: Approval) -> list[str]:
    """How the call is expected to end, and how sure that is."""
    from envace_sdk.tools.finding import printable

    predicted = _detail(approval, "prediction")
    status, layer, confidence = (predicted.get(name) for name in ("status", "layer", "confidence"))
    if not isinstance(status, str):
        return []
    sure = f", confidence {confidence:.2f}" if isinstance(confidence, int | float) else ""
    ends = click.style(printable(status), fg=None if status == "success" else "yellow")
    return [f"predicted {ends} ({printable(str(layer or 'nothing speaks of it'))}{sure})"]


def _why(approval: Approval) -> str:
    from envace_sdk.tools.finding import printable

    reasons = _detail(approval, "risk").get("reasons")
    told = [str(reason) for reason in reasons] if isinstance(reasons, list) else []
    return f": {printable('; '.join(told))}" if told else ""


def _detail(approval: Approval, name: str) -> Mapping[str, Any]:
    details = approval.details if isinstance(approval.details, dict) else {}
    found = details.get(name)
    return found if isinstance(found, dict) else {}


def _change_lines(approval: Approval) -> list[str]:
    from envace_sdk.tools.finding import printable

    if approval.change is None:
        return ["change    not predicted"]
    changes = [change for change in approval.change if isinstance(change, dict)]
    if not changes:
        return ["change    none is predicted"]
    happened = "carried out since; what happened is in the audit trail" if approval.state == "used" else _NOT_YET
    lines = [f"change    predicted, {happened}:"]
    for change in changes:
        mark, colour = _MARKS.get(change.get("kind", ""), ("?", "red"))
        entity = f"{change.get('collection', '')}/{change.get('key', '')}"
        lines.append("          " + click.style(f"{mark} {printable(entity)}", fg=colour))
        for path, sides in _members(change.get("fields")):
            before, after = (compact(sides[side]) if side in sides else "nothing" for side in ("before", "after"))
            said = {"created": after, "deleted": before}.get(change.get("kind", ""), f"{before} → {after}")
            lines.append(f"            {printable(path)}: {said}")
    return lines


def _who_lines(approval: Approval) -> list[str]:
    from envace_sdk.tools.finding import printable

    lines = []
    if approval.needed > 1 or approval.roles:
        roles = f" with a role of {printable(', '.join(approval.roles))}" if approval.roles else ""
        lines.append(f"needs     {approval.needed} approval{'s' if approval.needed > 1 else ''}{roles}")
    if approval.barred:
        lines.append(f"not by    {printable(', '.join(filter(None, approval.barred)))}")
    for decision in approval.decisions:
        via = f" ({printable(decision.via)})" if decision.via else ""
        lines.append(f"answer    {decision.answer} by {printable(decision.by)}{via}, {_time(decision.at)}")
    return lines


def compact(value: Json) -> str:
    """JSON on one line that plays no tricks on a terminal."""
    from envace_sdk.tools.finding import printable

    return printable(json.dumps(value, ensure_ascii=False))


def _members(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _tool(approval: Approval) -> str:
    from envace_sdk.tools.finding import printable

    return printable(f"{approval.server}/{approval.tool}" if approval.server else approval.tool)


def _time(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%SZ")
