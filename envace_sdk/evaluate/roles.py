"""Which tools write, as far as definitions and recordings tell; no rule of the environment is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.infer import infer

from .episodes import Episode
from .forms import answer_value
from .knowledge import call_key

__all__ = ["Role", "Roles", "equal_calls"]

Role = Literal["read", "write", "create", "unknown"]

_BELIEVED: Final = 0.7
"""Confidence from which a role that is inferred from a tool's name and schema counts."""
_QUIET: Final = 2
_EFFECTS: Final[dict[str, Role]] = {
    "read": "read",
    "search": "read",
    "compute": "read",
    "create": "create",
    "update": "write",
    "delete": "write",
}


class Roles:
    """What each tool does to the world.

    In this order: its own hint that it only reads; that it was the only one called, successfully, between two equal
    calls that were answered differently (it writes); that it was so at least twice between calls that were answered
    alike, and never otherwise (it reads); what its name and schema say.
    """

    def __init__(self, toolset: Toolset, episodes: Iterable[Episode]) -> None:
        inferred = infer(toolset).tools
        self._roles: dict[str, Role] = {}
        for tool in toolset:
            rule = inferred.get(tool.name)
            sure = rule is not None and rule.confidence >= _BELIEVED
            self._roles[tool.name] = _EFFECTS.get(rule.effect, "unknown") if rule is not None and sure else "unknown"
        hinted = {tool.name for tool in toolset if tool.annotations.get("readOnlyHint") is True}
        self._roles.update(dict.fromkeys(hinted, "read"))
        self._witness(hinted, list(episodes))

    def of(self, tool: str) -> Role:
        """The tool's role."""
        return self._roles.get(tool, "unknown")

    def writes(self, tool: str) -> bool:
        """Whether the tool is known to write."""
        return self.of(tool) in ("write", "create")

    def _witness(self, hinted: set[str], episodes: Sequence[Episode]) -> None:
        loud: set[str] = set()
        quiet: dict[str, int] = {}
        for episode in episodes:
            for start, end in equal_calls(episode.calls):
                between = {f.call.name for f in episode.calls[start:end] if not f.result.is_error} - hinted
                if len(between) != 1:
                    continue
                (tool,) = between
                if _answer(episode.calls[start]) != _answer(episode.calls[end]):
                    loud.add(tool)
                else:
                    quiet[tool] = quiet.get(tool, 0) + 1
        for tool in loud:
            if self.of(tool) != "create":
                self._roles[tool] = "write"
        for tool, times in quiet.items():
            if tool not in loud and times >= _QUIET:
                self._roles[tool] = "read"


def equal_calls(calls: Sequence[Fixture]) -> list[tuple[int, int]]:
    """The places of each two equal calls that follow each other, other calls between them or not."""
    last: dict[str, int] = {}
    pairs = []
    for index, fixture in enumerate(calls):
        key = call_key(fixture.call)
        if key in last:
            pairs.append((last[key], index))
        last[key] = index
    return pairs


def _answer(fixture: Fixture) -> object:
    return fixture.result.is_error, answer_value(fixture.result)
