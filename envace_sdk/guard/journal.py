"""The guard's use of the ledger: what is written where, and how it is read back."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from envace_sdk.errors import EvidenceError
from envace_sdk.json import UNSET, Json
from envace_sdk.ledger import Approval, Ledger
from envace_sdk.tools.model import ToolResult

from .action import Action
from .prediction import Prediction
from .record import TrackRecord
from .results import restored, stored
from .verdict import Score, Verdict

__all__ = ["SCORES", "Journal", "Progress", "Switch"]

SCORES: Final = "scores/"
"""Before a tool's name, the run in which its scores stand."""

_CONTROL: Final = "guard/control"
_SWITCH: Final = "kill-switch"
_ATTEMPTS: Final = 1000


@dataclass(frozen=True, slots=True)
class Switch:
    """The kill switch as it was last thrown."""

    mode: Literal["off", "ask", "block"] = "off"
    by: str = ""
    reason: str = ""
    seq: int = 0
    """Grows each time that it is thrown."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an action has come.

    An action that was committed and then never executed, because a pause or the framework came in between, is started
    anew under an id of its own: `id` is the current one.
    """

    id: str
    status: str
    attempt: int = 0
    approval: str | None = None
    """What allowed the attempt before, in which the tool never ran."""


class Journal:
    """Reads and writes the entries of actions. Every method blocks, and may be called from any thread."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._records: dict[str, tuple[TrackRecord, int]] = {}
        self._lock = threading.Lock()

    def progress(self, action: Action) -> Progress:
        """How far it has come. Raises: StoreError."""
        name, approval = action.identity, None
        for attempt in range(_ATTEMPTS):
            status = self.ledger.status(name)
            if status != "in_doubt":
                return Progress(name, status, attempt, approval)
            released = self.ledger.find(None, name, "note")
            if released is None or not released.body.get("released"):
                return Progress(name, status, attempt, approval)
            commit = self.ledger.find(None, name, "commit")
            approval = commit.approval or approval if commit is not None else approval
            name = f"{action.identity}#{attempt + 1}"
        return Progress(name, "in_doubt", _ATTEMPTS, approval)

    def prediction(self, name: str) -> Prediction | None:
        """The prediction that was made of an action, unless it was erased."""
        entry = self.ledger.find(None, name, "rehearsed")
        payload = UNSET if entry is None else self.ledger.payload(entry)
        if not isinstance(payload, Mapping):
            return None
        try:
            return Prediction.from_json(payload["prediction"])
        except (KeyError, EvidenceError):
            return None

    def rehearsed(self, action: Action, name: str, prediction: Prediction) -> None:
        """Keep a prediction."""
        body, payload = _rehearsed(action, prediction)
        self.ledger.append(action.run, "rehearsed", body, payload=payload, action=name)

    def judged(self, action: Action, name: str, verdict: Verdict, *, is_new: bool) -> None:
        """Keep a verdict, unless it is the one that was given last, and its prediction where that `is_new`."""
        body: dict[str, Json] = {
            "tool": action.tool,
            "server": action.server,
            "digest": action.digest,
            "verdict": verdict.kind,
            "risk": verdict.risk.level,
            "rule": verdict.rule,
            "approval": verdict.approval,
            "shadow": verdict.shadow,
        }
        if not is_new:
            last = self.ledger.find(action.run, name, "decision")
            if last is not None and dict(last.body) == body:
                return
        payload = {"arguments": dict(action.arguments), **verdict.as_json()}
        write = self.ledger.write
        with self.ledger.database.writing() as connection:
            if is_new and verdict.prediction is not None:
                said, shown = _rehearsed(action, verdict.prediction)
                write(connection, action.run, "rehearsed", said, payload=shown, action=name)
            write(connection, action.run, "decision", body, payload=payload, action=name, approval=verdict.approval)

    def commit(self, action: Action, name: str, approval: str | None, world: str | None) -> None:
        """Take the right to execute. Raises: CommittedError, ApprovalError, StoreError."""
        body = {"tool": action.tool, "server": action.server}
        payload = {"arguments": dict(action.arguments)}
        self.ledger.commit(
            action.run, name, body, payload=payload, approval=approval, digest=action.digest, world=world
        )

    def released(self, action: Action, name: str, reason: str) -> None:
        """Give the right back: the tool has not been executed."""
        self.ledger.append(action.run, "note", {"released": True, "reason": reason}, action=name)

    def observed(
        self,
        action: Action,
        name: str,
        result: ToolResult,
        *,
        status: str,
        raised: str = "",
        claimed_by: str = "",
        outside: bool = False,
    ) -> None:
        """Keep an outcome. Raises: LedgerError, StoreError."""
        body = {
            "tool": action.tool,
            "server": action.server,
            "digest": action.digest,
            "status": status,
            "raised": raised,
            "claimed_by": claimed_by,
        }
        payload = {"arguments": dict(action.arguments), "result": stored(result)}
        self.ledger.observed(action.run, name, body, payload=payload, outside=outside)

    def outcome(self, name: str) -> tuple[ToolResult, str, str]:
        """A recorded outcome; the type of the exception it ended with, or ""; and who claims it, if nobody saw it.

        Raises:
            EvidenceError: it was erased.
        """
        entry = self.ledger.find(None, name, "observed")
        payload = UNSET if entry is None else self.ledger.payload(entry)
        if entry is None or not isinstance(payload, Mapping) or "result" not in payload:
            raise EvidenceError(
                f"the action {name} was executed, and its outcome was erased from the ledger: it can neither be given "
                "again nor executed again"
            )
        return restored(payload["result"]), str(entry.body.get("raised", "")), str(entry.body.get("claimed_by", ""))

    def scored(self, action: Action, name: str, score: Score) -> None:
        """Keep a score, in the run of the tool's scores."""
        body = {
            "tool": action.tool,
            "server": action.server,
            "run": action.run,
            **{key: value for key, value in score.as_json().items() if key != "differences"},
        }
        payload = {"differences": list(score.differences)}
        self.ledger.append(SCORES + action.name, "scored", body, payload=payload, action=name)

    def record(self, name: str) -> TrackRecord:
        """The track record of the predictor with a tool (`server/tool` where there is a server)."""
        with self._lock:
            record, after = self._records.get(name, (TrackRecord(name), 0))
            for entry in self.ledger.entries(SCORES + name, after=after, kind="scored"):
                record.add(entry.body)
                after = entry.seq
            self._records[name] = (record, after)
            return record

    def approval(self, action: Action, name: str) -> Approval | None:
        """The approval that was asked for an action last; else the one that another action was edited into."""
        approvals = self.ledger.approvals
        found = approvals.of_action(name)
        if found is not None:
            return found
        edited = approvals.of_action(action.digest)
        if edited is None or edited.replaces is None or edited.run != action.run:
            return None
        return edited if edited.state in {"pending", "approved"} else None

    def switch(self) -> Switch:
        """The kill switch."""
        entry = self.ledger.find(_CONTROL, _SWITCH, "note")
        if entry is None:
            return Switch()
        modes: dict[Json, Literal["off", "ask"]] = {"off": "off", "ask": "ask"}
        mode: Literal["off", "ask", "block"] = modes.get(entry.body.get("mode"), "block")
        return Switch(mode, str(entry.body.get("by", "")), str(entry.body.get("reason", "")), entry.seq)

    def throw(self, mode: Literal["off", "ask", "block"], by: str, reason: str) -> None:
        """Throw the kill switch, for all processes that use the ledger."""
        body: dict[str, Json] = {"mode": mode, "by": by, "reason": reason}
        self.ledger.append(_CONTROL, "note", body, action=_SWITCH)


def _rehearsed(action: Action, prediction: Prediction) -> tuple[dict[str, Json], dict[str, Json]]:
    """Body and payload of a prediction."""
    body = {
        "tool": action.tool,
        "server": action.server,
        "digest": action.digest,
        "status": prediction.status,
        "kind": prediction.kind,
        "layer": prediction.layer,
        "confidence": prediction.confidence,
        "disagreement": prediction.disagreement,
        "samples": prediction.samples,
        "risk": prediction.risk,
        "basis": prediction.basis,
    }
    return body, {"arguments": dict(action.arguments), "prediction": prediction.as_json()}
