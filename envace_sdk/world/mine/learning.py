"""From recordings to dynamics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics, ToolRule
from envace_sdk.world.infer import infer

from .apart import apart
from .choosing import World, choose, with_answers
from .episodes import Episode, episodes_of
from .garbage import collected_seldom
from .judging import Judgement, Start, judge
from .mining import STAGES, Miner
from .rules import Learned, silenced
from .sampling import telling

__all__ = ["Progress", "Result", "learn"]

_HELD_OUT: Final = 4
"""Episodes that suffice to hold half of them out."""
_JUDGED: Final = 3000
"""Rules are tried on all of so many calls."""
_CALLS: Final = 60
"""Of more, on so many successes of each tool."""
_FAILURES: Final = 15
"""And on so many of each of its errors."""
_APART: Final = 1000
"""Of fewer calls, a second process takes longer to start than it is worth."""

Progress = Callable[[str, int, int], None]
"""Told what is being done, how many of the steps are done, and how many there are."""


@dataclass(slots=True)
class Result:
    """What was learned from recordings."""

    dynamics: Dynamics
    start: dict[str, list[dict[str, Json]]]
    """The initial world, by collection."""
    learned: dict[str, Learned] = field(default_factory=dict)
    inferred: set[str] = field(default_factory=set)
    """The tools whose rules the definitions alone suggest: recordings bear them out better than mined ones."""


def learn(
    toolset: Toolset,
    fixtures: Sequence[Fixture],
    *,
    previous: Dynamics | None = None,
    progress: Progress | None = None,
    processes: int = 1,
) -> Result:
    """Mine the dynamics of a toolset from recorded calls.

    The rules are mined from all episodes. How far they can be trusted is judged by others that are mined in the same
    way from every other episode, on those that were held out.

    Args:
        toolset: the tools; calls of others are left out.
        fixtures: what was recorded.
        previous: rules that are kept as they are, in place of learned ones of the same tools.
        progress: told what is being done, and how far it is.
        processes: with 2, of many calls those that judge are mined by a second process meanwhile, which takes about
            half of the time; the result is the same.
    """
    with collected_seldom():
        return _learned(toolset, fixtures, previous or Dynamics(), progress, processes)


def _learned(
    toolset: Toolset, fixtures: Sequence[Fixture], previous: Dynamics, progress: Progress | None, processes: int
) -> Result:
    names = [tool.name for tool in toolset]
    halved = len(episodes_of(fixtures, names)) >= 2 * _HELD_OUT
    steps = _Steps(progress, (_STAGES * 2 if halved else _STAGES) + 1)
    if not halved:
        result = _mined(toolset, fixtures, steps)
        half = _world(result)
    elif processes > 1 and len(fixtures) >= _APART:
        with apart(_mined_world, toolset, _every_other(fixtures, names)) as other_half:
            result = _mined(toolset, fixtures, steps)
            steps.begin("waiting for the second process", _STAGES)
            half = other_half()
    else:
        result = _mined(toolset, fixtures, steps)
        half = _world(_mined(toolset, _every_other(fixtures, names), steps))
    steps.begin("judging the rules")
    held_out = episodes_of(fixtures, names)[1::2]
    plain = telling(held_out or episodes_of(fixtures, names), few=_JUDGED, calls=_CALLS, failures=_FAILURES)
    told, alone = _judged(*half, plain, toolset)
    other = {name for name, rule in result.dynamics.tools.items() if not _says_the_same(rule, half[0].tools.get(name))}
    if other:
        whole_told, whole_alone = _judged(result.dynamics, result.start, plain, toolset)
        # Half of the episodes may speak for a mined rule where all speak for the inferred one, which is what is kept;
        # it was made from none of them.
        alone |= {name: judgement for name, judgement in whole_alone.items() if name in result.inferred}
        # What half of them taught of an answer is no reason to give up something else that all of them taught.
        told |= {
            name: judgement
            for name, judgement in whole_told.items()
            if name in result.inferred or (name in other and (judgement.is_good or judgement.is_poor))
        }
    result.dynamics = _kept(_with_confidence(result.dynamics, told, alone), previous)
    result.start = {name: docs for name, docs in result.start.items() if name in result.dynamics.collections}
    steps.end()
    return result


def _says_the_same(rule: ToolRule, other: ToolRule | None) -> bool:
    """Whether two rules answer in the same way: of the same things, if they list some."""
    return other is not None and all(getattr(rule, name) == getattr(other, name) for name in _ANSWERS)


_ANSWERS: Final = ("effect", "returns", "where", "filters", "order_by")
_STAGES: Final = len(STAGES) + 1
"""Of mining once: those of the miner, and the choice between what it mined and what was inferred."""


class _Steps:
    """Tells how far the learning is."""

    def __init__(self, progress: Progress | None, whole: int) -> None:
        self._progress = progress
        self._whole = whole
        self._begun = 0
        self._name = ""

    def begin(self, name: str, steps: int = 1) -> None:
        """A step begins, or several as one; the one before is done."""
        self._name = name
        self._tell(self._begun)
        self._begun += steps

    def end(self) -> None:
        """All is done."""
        self._tell(self._whole)

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(self._name, done, self._whole)


def _every_other(fixtures: Sequence[Fixture], names: Sequence[str]) -> list[Fixture]:
    """What was recorded in every other episode."""
    chosen = {episode.name for episode in episodes_of(fixtures, names)[::2]}
    return [fixture for fixture in fixtures if fixture.episode in chosen]


def _world(result: Result) -> World:
    return result.dynamics, result.start


def _mined_world(toolset: Toolset, fixtures: Sequence[Fixture]) -> World:
    """What a second process is asked for."""
    with collected_seldom():
        return _world(_mined(toolset, fixtures, _Steps(None, 0)))


def _mined(toolset: Toolset, fixtures: Sequence[Fixture], steps: _Steps) -> Result:
    """The better of what is mined from the episodes, and what the definitions alone suggest."""
    names = [tool.name for tool in toolset]
    mined = Miner(toolset, episodes_of(fixtures, names), told=steps.begin).mined()
    steps.begin("comparing with what the definitions say")
    dynamics = _with_confidence(mined.dynamics, {}, {})
    inferred = infer(toolset)
    start = {name: docs for name, docs in mined.start.items() if _fits(name, docs, inferred)}
    # Mining takes apart the answers of the episodes that it is given: these are fresh ones.
    played = telling(episodes_of(fixtures, names), few=_JUDGED, calls=_CALLS, failures=_FAILURES)
    chosen, begun, taken = choose((dynamics, mined.start), [(inferred, start), (inferred, {})], played, toolset)
    chosen = with_answers(chosen, dynamics, taken, begun, played, toolset)
    return Result(chosen, {name: list(docs) for name, docs in begun.items()}, mined.learned, taken)


def _fits(name: str, documents: Sequence[dict[str, Json]], inferred: Dynamics) -> bool:
    """Whether things of the start can be things of an inferred collection of the same name."""
    rule = inferred.collections.get(name)
    return rule is not None and all(field in document for document in documents for field in rule.key_fields)


def _judged(
    dynamics: Dynamics, start: Start, episodes: Sequence[Episode], toolset: Toolset
) -> tuple[dict[str, Judgement], dict[str, Judgement]]:
    """How rules do on the recorded history, and on their own."""
    return (
        judge(dynamics, start, episodes, toolset),
        judge(dynamics, start, episodes, toolset, on_their_own=True),
    )


def _with_confidence(dynamics: Dynamics, told: Mapping[str, Judgement], alone: Mapping[str, Judgement]) -> Dynamics:
    """With how far each rule can be trusted on its own; those that are wrong even when told leave answers to others."""
    tools: dict[str, ToolRule] = {}
    for name, rule in dynamics.tools.items():
        is_poor = told.get(name, Judgement()).is_poor
        kept = silenced(rule) if is_poor and rule.effect in {"read", "search"} else rule
        tools[name] = kept.model_copy(update={"confidence": alone.get(name, Judgement()).confidence})
    return Dynamics(collections=dynamics.collections, tools=tools)


def _kept(dynamics: Dynamics, previous: Dynamics) -> Dynamics:
    """With the rules that are kept, and the collections that only they speak of."""
    collections = {**previous.collections, **dynamics.collections}
    return Dynamics(collections=collections, tools={**dynamics.tools, **previous.tools})
