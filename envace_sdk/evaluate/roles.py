"""Which tools write, as far as definitions and recordings tell; no rule of the environment is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.infer import infer

from .episodes import Episode
from .forms import answer_value, text_of
from .knowledge import call_key

__all__ = ["Role", "Roles", "equal_calls"]

Role = Literal["read", "write", "create", "unknown"]

_BELIEVED: Final = 0.7
"""Confidence from which a role that is inferred from a tool's name and schema counts."""
_TWICE: Final = 2
_NEAR: Final = 100
"""Calls between two equal ones, beyond which they tell nothing."""
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

    In this order: what the tool itself hints (`readOnlyHint`); what recordings witness; what its name and schema say.
    Where two equal calls that follow each other were answered differently, some tool that was called since the first,
    successfully, writes. It is the only one that is not known to read, if that made a difference twice, and as often as
    not; or the only one that is not, by its name, believed to read, if it did so three times, or in a third of all such
    cases; else, where none in between is known to write, the one that is in between most often, twice at least. The
    tool that was called twice is no suspect if it succeeded twice and, called twice in a row, always answered alike. A
    tool of which nothing else tells reads if it stood alone between equal calls twice without making a difference.
    """

    def __init__(self, toolset: Toolset, episodes: Iterable[Episode]) -> None:
        inferred = infer(toolset).tools
        self._roles: dict[str, Role] = {}
        reads: set[str] = set()
        for tool in toolset:
            rule = inferred.get(tool.name)
            believed = rule is not None and rule.confidence >= _BELIEVED
            role = _EFFECTS.get(rule.effect, "unknown") if rule is not None and believed else "unknown"
            hint = tool.annotations.get("readOnlyHint")
            if hint is True:
                role = "read"
                reads.add(tool.name)
            elif hint is False and role != "create":
                role = "write"
            self._roles[tool.name] = role
        self._witness(reads, list(episodes))

    def of(self, tool: str) -> Role:
        """The tool's role."""
        return self._roles.get(tool, "unknown")

    def writes(self, tool: str) -> bool:
        """Whether the tool is known to write."""
        return self.of(tool) in ("write", "create")

    def _witness(self, hinted: set[str], episodes: Sequence[Episode]) -> None:
        pairs = [
            (episode.calls[start : end + 1], _answer(episode.calls[start]) == _answer(episode.calls[end]))
            for episode in episodes
            for start, end in equal_calls(episode.calls)
            if end - start <= _NEAR
        ]
        twice = [(calls[0].call.name, alike) for calls, alike in pairs if len(calls) == 2]
        steady = {tool for tool, alike in twice if alike} - {tool for tool, alike in twice if not alike}
        suspects = [(self._suspects(calls, steady) - hinted, alike) for calls, alike in pairs]
        lone = Counter((tool, alike) for tools, alike in suspects if len(tools) == 1 for tool in tools)
        self._mark(
            sorted(tool for tool, alike in lone if not alike and lone[tool, False] >= max(_TWICE, lone[tool, True]))
        )

        believed = {tool for tool, role in self._roles.items() if role == "read"}
        left = [(tools - believed, alike) for tools, alike in suspects]
        changed = [tools for tools, alike in left if tools and not alike]
        quiet = Counter(tool for tools, alike in left if len(tools) == 1 and alike for tool in tools)
        self._explain(changed, quiet)
        for tool, times in quiet.items():
            if self.of(tool) == "unknown" and times >= _TWICE:
                self._roles[tool] = "read"

    def _suspects(self, calls: Sequence[Fixture], steady: set[str]) -> set[str]:
        """The tools that may have changed what the last of these calls, equal to the first, answers."""
        first, *between, last = calls
        found = {fixture.call.name for fixture in between if not fixture.result.is_error}
        is_excused = not last.result.is_error and first.call.name in steady and not self.writes(first.call.name)
        if not first.result.is_error and not is_excused:
            found.add(first.call.name)
        return found

    def _explain(self, changed: Sequence[set[str]], quiet: Counter[str]) -> None:
        """Find the fewest tools that account for all changes."""
        loud = Counter(tool for suspects in changed if len(suspects) == 1 for tool in suspects)
        self._mark(sorted(tool for tool, times in loud.items() if times > _TWICE or times * 2 >= quiet[tool]))
        while True:
            open_cases = [suspects for suspects in changed if not any(map(self.writes, suspects))]
            times = Counter(tool for suspects in open_cases for tool in suspects)
            if not times:
                return
            tool = min(times, key=lambda tool: (-times[tool], quiet[tool], tool))
            if times[tool] < max(_TWICE, quiet[tool]):
                return
            self._mark([tool])

    def _mark(self, tools: Iterable[str]) -> None:
        for tool in tools:
            if self.of(tool) != "create":
                self._roles[tool] = "write"


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


def _answer(fixture: Fixture) -> tuple[bool, str]:
    return fixture.result.is_error, text_of(answer_value(fixture.result))
