"""The choice between the rules that were mined and those that the definitions alone suggest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar

from envace_sdk.json import Json
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics, ToolRule

from .episodes import Episode
from .judging import Start, judge
from .roles import ENTITY
from .sources import THING, speaks_of
from .structure import SESSION

__all__ = ["World", "choose", "with_answers"]

_MARGIN: Final = 0.03
"""By so much per call inferred rules must do better: they know nothing of what errors say, or of the start."""
_BOUND: Final = (ENTITY, THING, "item", "items", SESSION, "row")
"""Names that mean something in the rule they stand in, and something else in another."""

_Value = TypeVar("_Value")

World = tuple[Dynamics, Start]
"""Rules, and what they start from."""


def choose(
    mined: World, others: Sequence[World], episodes: Sequence[Episode], toolset: Toolset
) -> tuple[Dynamics, dict[str, Sequence[dict[str, Json]]], set[str]]:
    """Of tools that share things, either the mined rules or the inferred ones: those that answer more as recorded.

    Args:
        mined: the mined rules.
        others: the inferred ones, with the starts that they may have.
        episodes: what was recorded.
        toolset: the tools.

    Returns:
        The rules, their start, and the tools whose rules were inferred.
    """
    own = judge(*mined, episodes, toolset, on_their_own=True)
    judged = [judge(*other, episodes, toolset, on_their_own=True) for other in others]
    best = max(range(len(others)), key=lambda n: (sum(one.score for one in judged[n].values()), -n))
    inferred = others[best]
    taken: set[str] = set()
    for tools in _clusters([mined[0], inferred[0]], [tool.name for tool in toolset]):
        calls = sum(own[tool].calls for tool in tools)
        gain = sum(judged[best][tool].score for tool in tools) - sum(own[tool].score for tool in tools)
        if calls and gain > _MARGIN * calls:
            taken |= tools
    kept = {name: rule for name, rule in mined[0].tools.items() if name not in taken}
    better = {name: rule for name, rule in inferred[0].tools.items() if name in taken}
    used = _used(better.values())
    if _used(kept.values()) & used:
        return mined[0], dict(mined[1]), set()
    both = {**kept, **better}
    dynamics = Dynamics(
        collections=_joined(mined[0].collections, inferred[0].collections, used),
        tools={tool.name: both[tool.name] for tool in toolset if tool.name in both},
    )
    return dynamics, _joined(mined[1], inferred[1], used), taken


def _joined(ours: Mapping[str, _Value], theirs: Mapping[str, _Value], used: set[str]) -> dict[str, _Value]:
    """What belongs to the collections that inferred rules use from them, all else as it was mined."""
    return {
        **{name: value for name, value in ours.items() if name not in used},
        **{name: value for name, value in theirs.items() if name in used},
    }


def with_answers(
    dynamics: Dynamics,
    mined: Dynamics,
    taken: set[str],
    start: Start,
    episodes: Sequence[Episode],
    toolset: Toolset,
) -> Dynamics:
    """Inferred rules with mined answers, where these are right more often.

    Args:
        dynamics: the rules that were chosen.
        mined: the mined ones.
        taken: the tools whose rules were inferred.
        start: what they start from.
        episodes: what was recorded.
        toolset: the tools.
    """
    answers = {name: mined.tools[name].returns for name in sorted(taken) if name in mined.tools}
    answers = {name: told for name, told in answers.items() if not any(speaks_of(b, repr(told)) for b in _BOUND)}
    if not answers:
        return dynamics
    grafted = {
        name: rule.model_copy(update={"returns": answers[name]}) if name in answers else rule
        for name, rule in dynamics.tools.items()
    }
    before = judge(dynamics, start, episodes, toolset, on_their_own=True)
    after = judge(
        Dynamics(collections=dynamics.collections, tools=grafted), start, episodes, toolset, on_their_own=True
    )
    better = {name for name in answers if after[name].score > before[name].score}
    tools = {name: grafted[name] if name in better else rule for name, rule in dynamics.tools.items()}
    return Dynamics(collections=dynamics.collections, tools=tools)


def _used(rules: Iterable[ToolRule]) -> set[str]:
    return {
        name
        for rule in rules
        for name in (rule.collection, *(change.collection for change in rule.also))
        if name is not None
    }


def _clusters(dynamics: Sequence[Dynamics], tools: Sequence[str]) -> list[set[str]]:
    """Tools that share a collection, directly or through others, under any of the rules."""
    home = {tool: {tool} for tool in tools}
    for rules in dynamics:
        by_collection: dict[str, list[str]] = {}
        for tool, rule in rules.tools.items():
            for name in _used([rule]):
                by_collection.setdefault(name, []).append(tool)
        for group in by_collection.values():
            _join(home, group)
    return [set(group) for group in sorted({tuple(sorted(group)) for group in home.values()})]


def _join(home: dict[str, set[str]], group: Sequence[str]) -> None:
    whole: set[str] = set().union(*(home[tool] for tool in group if tool in home))
    for tool in whole:
        home[tool] = whole
