"""For which tools precedents answer: those that rules leave open, and those whose rules do worse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field

from envace_sdk.json import Json
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.dynamics import Dynamics, ToolRule

from ..replayed import Replayed
from .archive import Archive
from .boards import Boards
from .cases import cases_of, events_of

__all__ = ["Remit", "is_silent", "remit_of"]

_STRONG = 0.95
"""A rule that answers so many of the recorded calls as they were answered is kept, however sure it is itself."""
_BETTER = 0.1
"""By how much precedents must be right more often than a rule: the world holds together by rules."""
_LEAST_TRIED = 5


@dataclass(frozen=True, slots=True)
class Remit:
    """What precedents answer for."""

    archive: Archive = field(default_factory=lambda: Archive(()))
    told: frozenset[str] = frozenset()
    """The tools that are told after precedents."""
    outranked: frozenset[str] = frozenset()
    """Those of them whose rules would answer, and worse."""
    noted: frozenset[str] = frozenset()
    """The tools whose calls a world remembers."""


def remit_of(
    recorded: Replayed,
    tools: Mapping[str, Tool],
    dynamics: Dynamics,
    *,
    writing: Set[str],
    compared: Set[str],
    essence: Callable[[ToolCall], Mapping[str, Json]],
) -> Remit:
    """Find it out from the recordings.

    Args:
        recorded: the recorded calls, and what the rules make of them.
        tools: the toolset.
        dynamics: its rules.
        writing: the tools that may change the world.
        compared: the tools that are recorded in several episodes.
        essence: the arguments of a call, as far as they matter.
    """
    called = frozenset(fixture.call.name for fixture in recorded.fixtures)
    silent = frozenset(name for name in tools if is_silent(dynamics.tools.get(name)))
    told = called & frozenset(
        name
        for name in tools
        if name in silent or dynamics.tools[name].confidence < 1 or _meets_the_unseen(dynamics.tools[name], dynamics)
    )
    weak: dict[str, float] = {}
    for name in sorted(called & compared - silent):
        share = recorded.proven(name)
        if share is None or share < _STRONG:
            sure = dynamics.tools[name].confidence
            weak[name] = sure if share is None else min(sure, share)
    if not told and not weak:
        return Remit()
    boards = Boards(events_of(recorded.fixtures, essence), _hints(tools))
    noted = silent | writing | boards.movers | boards.boards.keys()
    archive = Archive(cases_of(recorded.fixtures, recorded.states, told | weak.keys(), noted, essence), boards)
    outranked = frozenset(name for name, strength in weak.items() if _is_better(archive, name, strength))
    if not told and not outranked:
        return Remit()
    if not outranked <= noted:
        cases = cases_of(recorded.fixtures, recorded.states, told | outranked, noted | outranked, essence)
        archive = Archive(cases, boards)
    return Remit(archive, told | outranked, outranked, noted | outranked)


def is_silent(rule: ToolRule | None) -> bool:
    """Whether a rule says nothing of what is answered."""
    if rule is None or rule.effect == "opaque":
        return True
    told = rule.returns
    says_something = told.extra or (told.value, told.object, told.text) != (None, None, None)
    return rule.effect == "compute" and not rule.also and not says_something


def _hints(tools: Mapping[str, Tool]) -> dict[str, bool]:
    """Of the tools that say whether they only read, whether they write."""
    told = {name: tool.annotations.get("readOnlyHint") for name, tool in tools.items()}
    return {name: not hint for name, hint in told.items() if isinstance(hint, bool)}


def _meets_the_unseen(rule: ToolRule, dynamics: Dynamics) -> bool:
    """Whether a call may be about something that the world has not seen, and that may be there all the same."""
    return rule.collection is not None and dynamics.collections[rule.collection].open


def _is_better(archive: Archive, tool: str, strength: float) -> bool:
    right, tried = archive.tried(tool)
    return tried >= _LEAST_TRIED and right / tried > strength + _BETTER
