"""How far answers after precedents can be trusted: measured on the recordings themselves.

Recorded episodes are played on what was learned from others, each call on the answers given so far, and the share of
right answers is the confidence in answers of the same kind. Half of the episodes have to do for the other half, so that
it costs little, and rather says too little than too much.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from envace_sdk.json import Json
from envace_sdk.tools.model import ToolResult

from .cases import Case
from .events import Event, leaves
from .features import Features
from .fresh import Fresh, without_tokens
from .scene import REMEMBERED, Scene
from .stamps import without_stamps
from .told import Told
from .tree import Tree, grow

__all__ = ["UNPROVEN", "Trust"]

UNPROVEN = 0.2
"""Confidence in what no recording can be held against."""
_WEIGHT = 3.0
"""How many trials' worth what is known of other tools has."""
_MOST = 0.97
_RIGHT, _WRONG = "right", "wrong"
_MOST_COMPARED = 5_000


@dataclass(slots=True)
class Trust:
    """Of how many answers of each kind how many were right."""

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    right: Counter[tuple[str, str]] = field(default_factory=Counter)
    trials: dict[str, list[tuple[Features, str]]] = field(default_factory=dict)
    """By tool, the situations of the answers that were tried, and how right they were."""
    _trees: dict[str, Tree] = field(default_factory=dict)

    def confidence(self, tool: str, told: Told) -> float:
        """The probability that an answer of this kind is right.

        Where it was seen to hang on what was done before (such as after calls of some other tool), the trials in
        situations like this one count once more.
        """
        kind = told.evidence
        everywhere = _smoothed(self.right["", kind], self.tried["", kind], UNPROVEN)
        share = _smoothed(self.right[tool, kind], self.tried[tool, kind], everywhere)
        tree = self._tree(tool)
        if tree is not None and tree.feature:
            counts = tree.leaf(told.situation)
            share = _smoothed(counts.get(_RIGHT, 0), sum(counts.values()), share)
        return round(min(_MOST, share), 3)

    def _tree(self, tool: str) -> Tree | None:
        trials = self.trials.get(tool)
        if trials and tool not in self._trees:
            self._trees[tool] = grow([row for row, _ in trials], [label for _, label in trials])
        return self._trees.get(tool)

    def of(self, tool: str) -> tuple[int, int]:
        """How many answers of a tool were right, of how many."""
        kinds = [key for key in self.tried if key[0] == tool]
        return sum(self.right[key] for key in kinds), sum(self.tried[key] for key in kinds)

    def play(
        self,
        cases: Sequence[Case],
        tell: Callable[[Scene], Told | None],
        fresh: Callable[[str], Mapping[str, Fresh]],
    ) -> None:
        """Play the cases of one episode, in their order.

        Args:
            cases: the cases.
            tell: what is answered, without knowing of this episode.
            fresh: by tool, the places of a success whose values are made anew, and need not be the recorded ones.
        """
        past: list[Event] = []
        passed = 0
        for case in cases:
            past += case.events[passed : case.at]
            passed = case.at
            event = case.event
            told = tell(Scene(event.tool, event.arguments, past[-REMEMBERED:], case.state))
            if told is None:
                continue
            is_right = _agree(told.result, event, fresh(event.tool))
            for tool in ("", event.tool):
                self.tried[tool, told.evidence] += 1
                self.right[tool, told.evidence] += is_right
            self.trials.setdefault(event.tool, []).append((told.situation, _RIGHT if is_right else _WRONG))
            if case.is_remembered:
                passed += 1
                past.append(event if is_right else _told(event, told))


def _told(event: Event, told: Told) -> Event:
    result = told.result
    return Event(
        event.tool,
        event.arguments,
        result.value(),
        is_error=result.is_error,
        key=event.key,
        told=told.episode,
        result=result,
    )


def _agree(result: ToolResult, event: Event, fresh: Mapping[str, Fresh]) -> bool:
    """Whether the answer is the recorded one, but for what is made by chance."""
    if result.is_error != event.is_error:
        return False
    return _plain(result.value(), fresh) == _plain(event.value, fresh)


def _plain(value: Json, fresh: Mapping[str, Fresh]) -> list[tuple[str, str]]:
    """The single values of an answer that are not made by chance, with their places."""
    found = []
    for place, text, part in _first(leaves(value)):
        if place not in fresh:
            found.append((place, without_tokens(without_stamps(text)) if isinstance(part, str) else text))
    return found


def _first(found: Iterable[tuple[str, str, Json]]) -> Iterable[tuple[str, str, Json]]:
    return (leaf for _, leaf in zip(range(_MOST_COMPARED), found, strict=False))


def _smoothed(right: int, tried: int, before: float) -> float:
    return (right + _WEIGHT * before) / (tried + _WEIGHT)
