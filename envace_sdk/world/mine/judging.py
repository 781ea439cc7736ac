"""How well rules answer recorded calls, each episode played from the start on what the rules themselves made of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from envace_sdk.errors import EnvaceError
from envace_sdk.json import Json
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics, ToolRule
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.state import State

from .episodes import Episode, Step
from .positions import walk
from .values import same

__all__ = ["Judgement", "choose", "judge", "with_answers"]

_MARGIN = 0.03
_OPEN = 0.55
"""What it is worth to say nothing, and leave the answer to others."""
_SOME = 3
_POOR = 0.2
_UNLIKE = 0.75
_CALLS = 3000
"""As many calls are played."""

Start = Mapping[str, Sequence[dict[str, Json]]]


@dataclass(slots=True)
class Judgement:
    """How the rule of a tool did."""

    calls: int = 0
    answered: int = 0
    right: int = 0
    score: float = 0.0
    """The sum over calls of how alike the answers are, from 0 to 1; half for success or failure as recorded."""

    @property
    def is_poor(self) -> bool:
        """Whether the answers are so seldom right that others may do better."""
        return self.calls >= _SOME and self.right < _POOR * self.calls and self.score < _UNLIKE * self.calls

    @property
    def confidence(self) -> float:
        """The share of right answers, less what chance may have added to it (Wilson's lower bound, one deviation)."""
        if not self.answered:
            return 0.5
        n, share = self.answered, self.right / self.answered
        middle, spread = share + 0.5 / n, math.sqrt(share * (1 - share) / n + 0.25 / n**2)
        return round(min((middle - spread) / (1 + 1 / n), 0.99), 2)


def judge(
    dynamics: Dynamics, start: Start, episodes: Sequence[Episode], toolset: Toolset
) -> dict[str, Judgement]:
    """Per tool, how the rules answer the episodes."""
    interpreter = Interpreter(dynamics)
    first = State.start(dynamics=dynamics, collections={n: d for n, d in start.items() if n in dynamics.collections})
    found: dict[str, Judgement] = {tool.name: Judgement() for tool in toolset}
    left = _CALLS
    for episode in episodes:
        state = first
        left -= len(episode.steps)
        if left < 0:
            break
        for step in episode.steps:
            judgement = found[step.tool]
            judgement.calls += 1
            state, alike = _played(interpreter, toolset, step, state)
            if alike is None:
                judgement.score += _OPEN
            else:
                judgement.answered += 1
                judgement.right += alike >= 1.0
                judgement.score += alike
    return found


def _played(interpreter: Interpreter, toolset: Toolset, step: Step, state: State) -> tuple[State, float | None]:
    """The state after a call, and how alike the answers are; None: the rules say nothing."""
    try:
        answer = interpreter.run(toolset[step.tool], step.args, state, Random(f"{step.episode}/{step.index}"))
    except (EnvaceError, RecursionError):
        return state, None
    if answer is None:
        return state, None
    failed = answer.error is not None
    after = answer.state if answer.state is state else answer.state.tick()
    if failed is step.ok:
        return after, 0.0
    if failed:
        return after, 1.0 if answer.error == step.text else 0.8
    return after, 0.5 + 0.5 * _likeness(answer.value, step.answer)


def _likeness(one: Json, other: Json) -> float:
    if same(one, other):
        return 1.0
    ours, theirs = list(walk(one)), list(walk(other))
    left = list(theirs)
    equal = 0
    for leaf in ours:
        if leaf in left:
            left.remove(leaf)
            equal += 1
    return equal / max(len(ours), len(theirs), 1) * 0.98


def choose(
    mined: tuple[Dynamics, Start],
    others: Sequence[tuple[Dynamics, Start]],
    episodes: Sequence[Episode],
    toolset: Toolset,
) -> tuple[Dynamics, dict[str, Sequence[dict[str, Json]]], set[str]]:
    """Of tools that share things, either the mined rules or the inferred ones: those that answer more as recorded.

    Returns: the rules, their start, and the tools whose rules were inferred.
    """
    own = judge(*mined, episodes, toolset)
    judged = [judge(*other, episodes, toolset) for other in others]
    best = max(range(len(others)), key=lambda n: (sum(one.score for one in judged[n].values()), -n))
    inferred, scores = others[best], (own, judged[best])
    taken: set[str] = set()
    for tools in _clusters([mined[0], inferred[0]], [tool.name for tool in toolset]):
        calls = sum(scores[0][tool].calls for tool in tools)
        totals = [sum(score[tool].score for tool in tools) for score in scores]
        if calls and totals[1] > totals[0] + _MARGIN * calls:
            taken |= tools
    rules = {name: rule for name, rule in mined[0].tools.items() if name not in taken}
    kept = _used(rules.values())
    others = {name: rule for name, rule in inferred[0].tools.items() if name in taken}
    used = _used(others.values())
    if kept & used:
        return mined[0], dict(mined[1]), set()
    collections = {
        **{name: rule for name, rule in mined[0].collections.items() if name not in used},
        **{name: rule for name, rule in inferred[0].collections.items() if name in used},
    }
    ordered = {tool.name: {**rules, **others}[tool.name] for tool in toolset if tool.name in {**rules, **others}}
    start = {name: documents for name, documents in mined[1].items() if name not in used}
    start |= {name: documents for name, documents in inferred[1].items() if name in used}
    return Dynamics(collections=collections, tools=ordered), start, taken


def with_answers(
    dynamics: Dynamics,
    mined: Dynamics,
    taken: set[str],
    start: Start,
    episodes: Sequence[Episode],
    toolset: Toolset,
) -> Dynamics:
    """Inferred rules with mined answers, where these are right more often."""
    named = {
        tool
        for tool in taken
        if tool in mined.tools and not re.search(r"\b(?:entity|it|item|items|session|row)\b", repr(mined.tools[tool].returns))
    }
    if not named:
        return dynamics
    grafted = Dynamics(
        collections=dynamics.collections,
        tools={
            name: rule.model_copy(update={"returns": mined.tools[name].returns}) if name in named else rule
            for name, rule in dynamics.tools.items()
        },
    )
    before, after = (judge(rules, start, episodes, toolset) for rules in (dynamics, grafted))
    better = {tool for tool in named if after[tool].score > before[tool].score}
    tools = {name: grafted.tools[name] if name in better else rule for name, rule in dynamics.tools.items()}
    return Dynamics(collections=dynamics.collections, tools=tools)


def _used(rules: Iterable[ToolRule]) -> set[str]:
    return {
        name for rule in rules for name in (rule.collection, *(change.collection for change in rule.also)) if name is not None
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
    return [set(group) for group in {tuple(sorted(group)) for group in home.values()}]


def _join(home: dict[str, set[str]], group: Sequence[str]) -> None:
    whole: set[str] = set().union(*(home[tool] for tool in group if tool in home))
    for tool in whole:
        home[tool] = whole
