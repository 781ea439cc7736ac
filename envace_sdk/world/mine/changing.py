"""What calls change: learned from what was shown before and after them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from envace_sdk.json import UNSET, Json

from .belief import EXISTS
from .episodes import Episode
from .explain import Example
from .hidden import Hidden
from .reasons import reason_for
from .roles import Cast
from .structure import SESSION, Structure
from .tracking import PREDICTED, Effects, Sighting, Tracker
from .views import Views

__all__ = ["learn_effects"]

_ROUNDS: Final = 6
_ENOUGH: Final = 2
_PLENTY: Final = 4
_MANY: Final = 8
_NOISE: Final = 0.1
_ALL: Final = 0.95
_MOST: Final = 150
"""Examples that are looked at."""

Start = Mapping[str, Mapping[str, Mapping[str, Json]]]
Place = tuple[str, str, str]


def learn_effects(
    structure: Structure,
    casts: Mapping[str, Cast],
    episodes: Sequence[Episode],
    *,
    readers: frozenset[str],
    start: Start | None = None,
    effects: Effects | None = None,
    points: Mapping[str, Mapping[str, Json]] | None = None,
    hidden: Hidden | None = None,
) -> Effects:
    """The effects of every tool.

    Windows in which only one call can have changed something teach; what they teach leaves other windows with one
    suspect, so this goes on until nothing new is learned.

    Args:
        readers: tools that are said to change nothing; believed until a change is seen.
    """
    effects = Effects() if effects is None else effects
    if not effects.judged:
        effects.judged = True
        tracker = Tracker(structure, casts, effects, start, points=points, hidden=hidden)
        tracker.run(episodes)
        views = Views(tracker.sightings, readers)
        effects.foreign |= views.foreign
        effects.private |= views.private
        effects.spared |= views.spared
    lesson = _Lesson(effects, readers)
    for _ in range(_ROUNDS):
        tracker = Tracker(structure, casts, effects, start, points=points, hidden=hidden)
        tracker.run(episodes)
        if not lesson.learn(tracker):
            break
    return effects


class _Lesson:
    """What the rounds have in common."""

    def __init__(self, effects: Effects, readers: frozenset[str]) -> None:
        self._effects = effects
        self._readers = readers
        self._tried: dict[Place, int] = {}
        self._refuted: dict[Place, set[str]] = {}

    def learn(self, tracker: Tracker) -> bool:
        """Whether anything new was learned from what was sighted."""
        learned = self._refute(tracker)
        groups: dict[Place, list[Sighting]] = {}
        for sighting in tracker.sightings:
            groups.setdefault(sighting.place, []).append(sighting)
        clouded = Counter((s.step.tool, s.named.name, what) for suspects, what in tracker.clouded for s in suspects)
        tallies: dict[tuple[str, str], Counter[str]] = {}
        by_tool: dict[str, Counter[str]] = {}
        for place, count in clouded.items():
            tallies.setdefault(place[:2], Counter())["clouded"] += count
        for place in sorted(groups):
            group = groups[place]
            known = [s for s in group if s.before is not UNSET]
            changed = [s for s in known if s.changed]
            if place[2] == EXISTS:
                continue
            for tally in (tallies.setdefault(place[:2], Counter()), by_tool.setdefault(place[0], Counter())):
                tally["kept"] += len(known) - len(changed)
                tally["changed"] += len(changed)
                tally["doing"] += len(changed) >= _ENOUGH and len(changed) > _NOISE * len(known)
            if place not in self._effects.sets and place not in self._effects.spared:
                learned |= self._decide(place, group, clouded[place])
        for tool, tally in by_tool.items():
            if not tally["doing"] and tally["kept"] >= max(_MANY, _ALL * (tally["kept"] + tally["changed"])):
                learned |= self._acquit(tool, tracker)
        for pair, tally in tallies.items():
            if pair in self._effects.harmless or any(place[:2] == pair for place in self._effects.sets):
                continue
            if pair[0] in self._readers:
                if not tally["kept"] or tally["changed"] > _NOISE * tally["kept"]:
                    continue
            elif tally["changed"] or tally["clouded"] or tally["kept"] < _PLENTY:
                continue
            self._effects.harmless.add(pair)
            learned = True
        return learned

    def _refute(self, tracker: Tracker) -> bool:
        """Drop the effects whose predictions are not what is shown later."""
        right: dict[str, Counter[bool]] = {}
        for (_, what, before, _), agreement in tracker.agreements.items():
            if before.startswith(PREDICTED):
                counts = right.setdefault(f"{before[len(PREDICTED) :]}.{what}", Counter())
                counts[True] += agreement.same
                counts[False] += agreement.other
        wrong = [
            place
            for place in self._effects.sets
            if (counts := right.get(".".join(place))) and counts[False] > _NOISE * (counts[True] + counts[False])
        ]
        for place in wrong:
            self._refuted.setdefault(place, set()).add(self._effects.sets.pop(place))
            self._tried.pop(place, None)
        return bool(wrong)

    def _decide(self, place: Place, group: Sequence[Sighting], clouded: int) -> bool:
        known = [s for s in group if s.before is not UNSET]
        if known and not any(s.changed for s in known):
            enough = 1 if place[0] in self._readers else _ENOUGH if not clouded else _PLENTY
            if len(known) >= enough:
                self._effects.spared.add(place)
                return True
            return False
        if place[0] in self._readers or self._tried.get(place) == len(group):
            return False
        self._tried[place] = len(group)
        source = self._explained(place, group)
        if source is None:
            return False
        self._effects.sets[place] = source
        return True

    def _explained(self, place: Place, group: Sequence[Sighting]) -> str | None:
        if len(group) < _ENOUGH:
            return None
        private = {what for _, what in self._effects.private if what != place[2]}
        telling = sorted(group, key=lambda s: not s.changed)[:_MOST]
        examples = [Example(_without(s.suspect.scope, private), s.after) for s in telling]
        found = reason_for(examples, refuted=self._refuted.get(place, ()))
        return None if found is None else found.source

    def _acquit(self, tool: str, tracker: Tracker) -> bool:
        """A tool that was seen to keep what it could have changed, again and again, only looks."""
        names = {(tool, named.name) for named in tracker.casts[tool].named} | {(tool, SESSION)}
        if names <= self._effects.harmless or any(place[0] == tool for place in self._effects.sets):
            return False
        self._effects.harmless |= names
        return True


def _without(scope: Mapping[str, Json], fields: set[str]) -> dict[str, Json]:
    """A scope without what only those show who change it."""
    if not fields:
        return dict(scope)
    return {
        name: value
        if name == "args" or not isinstance(value, dict)
        else {what: held for what, held in value.items() if what not in fields}
        for name, value in scope.items()
    }
