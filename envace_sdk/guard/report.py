"""How good the guard's predictions are, and what it did: per tool, from the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from envace_sdk.json import Json
from envace_sdk.ledger import Ledger

from .journal import SCORES
from .record import BINS, TrackRecord

__all__ = ["GuardReport", "ToolReport", "guard_report"]


@dataclass
class ToolReport:
    """One tool: `server/tool` where there is a server."""

    name: str
    record: TrackRecord = field(default_factory=TrackRecord)
    verdicts: Counter[str] = field(default_factory=Counter)
    """Actions by their last verdict."""
    differences: Counter[str] = field(default_factory=Counter)
    """What was observed otherwise than predicted, in words, and how often; as far as it was not erased."""
    in_doubt: int = 0
    """Actions that were committed, and of which nobody knows what came."""

    def as_json(self) -> dict[str, Json]:
        """The figures; `calibration` has a row per bin of confidence in which there are calls."""
        return {
            **self.record.as_json(),
            "tool": self.name,
            "verdicts": dict(sorted(self.verdicts.items())),
            "in_doubt": self.in_doubt,
            "calibration": [
                {
                    "from": place / BINS,
                    "to": (place + 1) / BINS,
                    "calls": calls,
                    "confidence": total / calls,
                    "accuracy": right / calls,
                }
                for place, (calls, right, total) in enumerate(self.record.bins)
                if calls
            ],
            "differences": dict(self.differences.most_common(5)),
        }


@dataclass(frozen=True)
class GuardReport:
    """All tools, the one with the most scored calls first."""

    tools: tuple[ToolReport, ...]

    @property
    def drifting(self) -> tuple[str, ...]:
        """The tools whose latest predictions are worse than the earlier ones."""
        return tuple(tool.name for tool in self.tools if tool.record.drifting)

    def as_json(self) -> dict[str, Json]:
        """The report as JSON."""
        return {"tools": [tool.as_json() for tool in self.tools], "drifting": list(self.drifting)}


def guard_report(ledger: Ledger, *, tool: str | None = None) -> GuardReport:
    """Read the report from a ledger.

    Args:
        ledger: where a guard has written.
        tool: only this one, `server/tool` where there is a server.

    Raises:
        TamperedError: an entry is not as it was written.
        StoreError: the ledger cannot be read.
    """
    found: dict[str, ToolReport] = {}
    last: dict[str, tuple[str, str]] = {}
    open_ones: dict[str, str] = {}
    for entry in ledger.entries():
        name = _name(entry.body)
        if entry.action is None or not name or (tool is not None and name != tool):
            continue
        if entry.kind == "scored" and entry.run == SCORES + name:
            one = found.setdefault(name, ToolReport(name, TrackRecord(name)))
            one.record.add(entry.body)
            payload = ledger.payload(entry) if entry.body.get("right") is False else None
            if isinstance(payload, Mapping):
                one.differences.update(map(str, payload.get("differences", ())))
        elif entry.kind == "decision":
            last[entry.action] = (name, str(entry.body.get("verdict")))
        elif entry.kind == "commit":
            open_ones[entry.action] = name
        elif entry.kind == "observed" or (entry.kind == "note" and entry.body.get("released")):
            open_ones.pop(entry.action, None)
    for name, verdict in last.values():
        found.setdefault(name, ToolReport(name, TrackRecord(name))).verdicts[verdict] += 1
    for name in open_ones.values():
        found.setdefault(name, ToolReport(name, TrackRecord(name))).in_doubt += 1
    return GuardReport(tuple(sorted(found.values(), key=lambda one: (-one.record.calls, one.name))))


def _name(body: Mapping[str, Json]) -> str:
    tool, server = str(body.get("tool") or ""), str(body.get("server") or "")
    return f"{server}/{tool}" if server and tool else tool
