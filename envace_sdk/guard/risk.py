"""How much can go wrong: what the tool writes, whether it can be undone, what its server hints, what users say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from envace_sdk.json import Json
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import ToolRule

from .action import Action
from .prediction import Prediction
from .undo import Undo, writes_of

__all__ = ["LEVELS", "Risk", "RiskLevel", "Risks", "hints"]

RiskLevel = Literal["low", "medium", "high"]
"""`low`: it changes nothing. `medium`: it changes something that a tool can set back. `high`: it cannot be taken back,
or nobody knows what it does."""

LEVELS: Final[tuple[RiskLevel, ...]] = ("low", "medium", "high")
_SURE: Final = 0.75
"""The confidence from which on a rule that says "changes nothing" is believed."""
_TRUSTED: Final = "its server, which is trusted, says that it only reads"


@dataclass(frozen=True, slots=True)
class Risk:
    """A level, and why."""

    level: RiskLevel = "high"
    reasons: tuple[str, ...] = ("not assessed",)
    writes: bool = True
    """Whether it may change anything."""
    undoable: bool = False
    """Whether all that it changes can be taken back with the tools at hand."""

    def __str__(self) -> str:
        return f"{self.level}: {'; '.join(self.reasons)}"

    def at_least(self, level: RiskLevel, reason: str) -> Risk:
        """Raised to a level, where it is not that high already."""
        if LEVELS.index(level) <= LEVELS.index(self.level):
            return self
        return Risk(level, (*self.reasons, reason), self.writes, self.undoable)

    def as_json(self) -> dict[str, Json]:
        """As it stands in the ledger, and in expressions."""
        return {
            "level": self.level,
            "reasons": list(self.reasons),
            "writes": self.writes,
            "undoable": self.undoable,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Risk:
        """Read what `as_json` wrote; what is not that is a high risk."""
        if data.get("level") not in LEVELS:
            return cls()
        reasons = tuple(map(str, data.get("reasons", ())))
        return cls(data["level"], reasons, bool(data.get("writes", True)), bool(data.get("undoable", False)))


def hints(action: Action, tool: Tool | None) -> dict[str, Json]:
    """The annotations of the tool, those that the action brings along before those of the catalogue."""
    return {**(tool.annotations if tool is not None else {}), **action.annotations}


class Risks:
    """Assesses actions of one environment.

    Evidence from a rehearsal can raise a risk and never lowers it: it may be wrong. The same goes for the hints of a
    server, unless the server is trusted.

    Args:
        environment: whose rules say what the tools write.
        trusted: names of servers whose annotations are believed; "" is the one that has no name.
    """

    def __init__(self, environment: Environment, *, trusted: frozenset[str] = frozenset()) -> None:
        self._dynamics = environment.dynamics
        self._toolset = environment.toolset
        self._undo = Undo(environment.dynamics)
        self._trusted = trusted

    def assess(self, action: Action, prediction: Prediction | None = None) -> Risk:
        """The risk of an action."""
        known = action.tool in self._toolset
        tool = self._toolset[action.tool] if known else None
        told = hints(action, tool)
        rule = self._dynamics.tools.get(action.tool) if tool is not None else None
        if rule is None or rule.effect == "opaque":
            risk = self._unknown(action, told, tool)
        elif rule.confidence < _SURE and action.server in self._trusted and told.get("readOnlyHint") is True:
            risk = Risk("low", (_TRUSTED,), writes=False, undoable=True)
        else:
            risk = self._known(rule)
        if told.get("destructiveHint") is True and told.get("readOnlyHint") is not True:
            risk = risk.at_least("high", "its server calls it destructive")
        if told.get("openWorldHint") is True and risk.writes:
            risk = risk.at_least("high", "its server says that it reaches beyond itself")
        if told.get("readOnlyHint") is False:
            risk = risk.at_least("medium", "its server says that it writes")
        return _foreseen(risk, prediction)

    def _unknown(self, action: Action, told: Mapping[str, Json], tool: Tool | None) -> Risk:
        if tool is None:
            return Risk("high", ("no tool of that name is known",))
        if action.server in self._trusted and told.get("readOnlyHint") is True:
            return Risk("low", (_TRUSTED,), writes=False, undoable=True)
        if action.server in self._trusted and told.get("destructiveHint") is False:
            return Risk("medium", ("its server, which is trusted, says that it destroys nothing",))
        return Risk("high", ("no rule says what it does",))

    def _known(self, rule: ToolRule) -> Risk:
        writes = writes_of(rule)
        if not writes:
            if rule.confidence < _SURE:
                reason = f"it seems to change nothing, but the rule is a guess ({rule.confidence:.0%} sure)"
                return Risk("medium", (reason,))
            return Risk("low", ("it changes nothing",), writes=False, undoable=True)
        lasting = [write for write in writes if self._undo.missing(write)]
        if lasting:
            return Risk("high", tuple(f"cannot be undone: {write}" for write in lasting))
        if rule.confidence < _SURE:
            return Risk("high", (f"what it writes is a guess ({rule.confidence:.0%} sure)",))
        return Risk("medium", tuple(f"can be undone: {write}" for write in writes), undoable=True)


def _foreseen(risk: Risk, prediction: Prediction | None) -> Risk:
    if prediction is None or not prediction.change or risk.writes:
        return risk
    raised = risk.at_least("medium", "the rehearsal changed something")
    return Risk(raised.level, raised.reasons, writes=True, undoable=False)
