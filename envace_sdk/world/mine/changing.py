"""What calls change: learned from what was shown before and after them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import UNSET, Json
from envace_sdk.world.infer.cel import member

from .belief import EXISTS
from .conditions import separate
from .effects import Effects, Name, Place
from .episodes import Episode
from .evaluating import evaluate
from .explain import Example
from .hidden import Hidden
from .likening import liken
from .reasons import Reason, reason_for
from .roles import Cast
from .sampling import telling
from .sightings import PREDICTED, Evidence, Sighting
from .structure import SESSION, Structure
from .tracking import Tracker
from .values import same
from .views import Views

__all__ = ["learn_effects"]

_ROUNDS: Final = 6
_ENOUGH: Final = 2
_PLENTY: Final = 4
_MANY: Final = 8
_NOISE: Final = 0.1
"""So few sightings may speak against what is believed."""
_ALL: Final = 0.95
_SIMPLER: Final = 0.6
"""What leaves out where a field was not known must be so much cheaper than what explains it there, too."""
_CALLS: Final = 3
"""Different calls after which a field is the same, for it to be their doing where no change was seen."""
_TEXT: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
"""A text in an expression."""
_MOST: Final = 150
"""Examples that are looked at."""

Start = Mapping[str, Mapping[str, Mapping[str, Json]]]


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
        structure: what the answers are about.
        casts: by tool, the things that it knows by name.
        episodes: the recorded calls.
        readers: tools that are said to change nothing; believed until a change is seen.
        start: by kind and key, what there is in the beginning of every episode.
        effects: what is known already; it is added to.
        points: by episode, what is true of its session in the beginning.
        hidden: what the session holds without showing it.
    """
    effects = Effects() if effects is None else effects
    episodes = telling(episodes)

    def seen() -> Evidence:
        return Tracker(structure, casts, effects, start, points=points, hidden=hidden).run(episodes)

    if not effects.judged:
        effects.judged = True
        views = Views(seen().sightings, readers)
        effects.foreign |= views.foreign
        effects.private |= views.private
        effects.spared |= views.spared
    named_by = {name: frozenset({kind.key, kind.label}) for name, kind in structure.kinds.items()}
    lesson = _Lesson(effects, readers, casts, named_by)
    for _ in range(_ROUNDS):
        if not lesson.learn(seen()):
            break
    return effects


@dataclass(slots=True)
class _Tally:
    """How often a tool was seen to keep or change what it could have changed."""

    kept: int = 0
    changed: int = 0
    clouded: int = 0
    """How often others could have made the change as well."""
    doing: int = 0
    """Fields that it changes more than by chance."""

    def add(self, sightings: Sequence[Sighting]) -> None:
        """Count the sightings of one field."""
        known = [sighting for sighting in sightings if sighting.before is not UNSET]
        changed = sum(sighting.changed for sighting in known)
        self.kept += len(known) - changed
        self.changed += changed
        self.doing += changed >= _ENOUGH and changed > _NOISE * len(known)

    @property
    def only_looks(self) -> bool:
        """Whether what was seen again and again is that nothing changes."""
        return not self.doing and self.kept >= max(_MANY, _ALL * (self.kept + self.changed))


class _Lesson:
    """What the rounds have in common."""

    def __init__(
        self,
        effects: Effects,
        readers: frozenset[str],
        casts: Mapping[str, Cast],
        named_by: Mapping[str, frozenset[str]],
    ) -> None:
        self._effects = effects
        self._readers = readers
        self._casts = casts
        self._named_by = named_by
        """By kind, the fields that name its things."""
        self._tried: dict[Place, int] = {}
        """With how many sightings it was tried in vain to explain a field."""
        self._refuted: dict[Place, set[str]] = {}

    def learn(self, evidence: Evidence) -> bool:
        """Whether anything new was learned from what was seen."""
        learned = self._refute(evidence)
        groups: dict[Place, list[Sighting]] = {}
        for sighting in evidence.sightings:
            if sighting.field != EXISTS:
                groups.setdefault(sighting.place, []).append(sighting)
        clouded = Counter((s.step.tool, s.named.name, what) for suspects, what in evidence.clouded for s in suspects)
        for place, group in sorted(groups.items(), key=lambda item: item[0]):
            if place not in self._effects.sets and place not in self._effects.spared:
                learned |= self._decide(place, group, clouded[place])
        learned |= liken(groups, self._effects, self._casts, self._named_by, self._readers)
        return self._clear(groups, clouded) or learned

    def _clear(self, groups: Mapping[Place, Sequence[Sighting]], clouded: Mapping[Place, int]) -> bool:
        """Clear tools of changing anything, or anything of one thing; whether any was."""
        by_name: dict[Name, _Tally] = {}
        by_tool: dict[str, _Tally] = {}
        for place, count in clouded.items():
            by_name.setdefault(place[:2], _Tally()).clouded += count
        for place, group in groups.items():
            by_name.setdefault(place[:2], _Tally()).add(group)
            by_tool.setdefault(place[0], _Tally()).add(group)
        cleared = False
        for tool, tally in by_tool.items():
            if tally.only_looks:
                cleared |= self._acquit(tool)
        for pair, tally in by_name.items():
            known = pair in self._effects.harmless or any(place[:2] == pair for place in self._effects.sets)
            if not known and self._is_harmless(pair, tally):
                self._effects.harmless.add(pair)
                cleared = True
        return cleared

    def _is_harmless(self, pair: Name, tally: _Tally) -> bool:
        if pair[0] in self._readers:
            return tally.kept > 0 and tally.changed <= _NOISE * tally.kept
        return not tally.changed and not tally.clouded and tally.kept >= _PLENTY

    def _refute(self, evidence: Evidence) -> bool:
        """Drop the effects whose predictions are not what is shown later."""
        right: dict[str, Counter[bool]] = {}
        for (_, what, before, _), agreement in evidence.agreements.items():
            if before.startswith(PREDICTED):
                counts = right.setdefault(f"{before.removeprefix(PREDICTED)}.{what}", Counter())
                counts[True] += agreement.same
                counts[False] += agreement.other
        wrong = [
            place
            for place in self._effects.sets
            if (told := right.get(".".join(place))) is not None and told[False] > _NOISE * told.total()
        ]
        for place in wrong:
            self._refuted.setdefault(place, set()).add(self._effects.sets.pop(place))
            self._tried.pop(place, None)
        return bool(wrong)

    def _decide(self, place: Place, group: Sequence[Sighting], clouded: int) -> bool:
        """Whether it was found out what a tool does to a field: nothing, or what an expression says."""
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
        if source is None or _may_be_chance(source, group):
            return False
        self._effects.sets[place] = source
        return True

    def _explained(self, place: Place, group: Sequence[Sighting]) -> str | None:
        if len(group) < _ENOUGH:
            return None
        private = {what for _, what in self._effects.private if what != place[2]}
        telling = sorted(group, key=lambda s: not s.changed)[:_MOST]
        examples = [Example(_without(s.suspect.scope, private), s.after) for s in telling]
        refuted = self._refuted.get(place, set())
        found = reason_for(examples, refuted=refuted)
        plain = _where_known(place, telling, examples, refuted)
        if plain is not None and (found is None or plain.cost < _SIMPLER * found.cost):
            return plain.source
        if found is not None:
            return found.source
        changed = [example for example, sighting in zip(examples, telling, strict=True) if sighting.changed]
        kept = [example for example, sighting in zip(examples, telling, strict=True) if not sighting.changed]
        source = _sometimes(place, changed, kept)
        return None if source in refuted else source

    def _acquit(self, tool: str) -> bool:
        """A tool that was seen to keep what it could have changed, again and again, only looks."""
        names = {(tool, named.name) for named in self._casts[tool].named} | {(tool, SESSION)}
        if names <= self._effects.harmless or any(place[0] == tool for place in self._effects.sets):
            return False
        self._effects.harmless |= names
        return True


def _may_be_chance(source: str, group: Sequence[Sighting]) -> bool:
    """Whether what is the same after a few calls may have been so before them."""
    if re.search(r"[a-z]\w*\.", _TEXT.sub("", source)) or any(sighting.changed for sighting in group):
        return False
    return len({repr(sighting.suspect.scope.get("args")) for sighting in group}) < _CALLS


def _sometimes(place: Place, changed: Sequence[Example], kept: Sequence[Example]) -> str | None:
    """What a field becomes where it is changed at all, if it can be told when."""
    if len(changed) < _ENOUGH or not kept:
        return None
    found = reason_for(changed)
    told = separate([e.scope for e in changed], [e.scope for e in kept]) if found is not None else []
    if found is None or not told:
        return None
    return f"{told[0].source} ? {found.source} : default({member(place[1], (place[2],))}, null)"


def _where_known(
    place: Place, sightings: Sequence[Sighting], examples: Sequence[Example], refuted: Collection[str]
) -> Reason | None:
    """What a field that calls may leave as it is becomes, where it was known before: where not, it may have been so."""
    known = [e for e, s in zip(examples, sightings, strict=True) if s.before is not UNSET]
    others = [e for e, s in zip(examples, sightings, strict=True) if s.before is UNSET]
    changed = sum(sighting.changed for sighting in sightings)
    if not others or changed < _ENOUGH or len(known) - changed < _ENOUGH:
        return None
    found = reason_for(known, refuted=refuted)
    if found is None or member(place[1], (place[2],)) not in found.source:
        return None
    told = [(value, e.target) for e in others if (value := evaluate(found.source, e.scope)) is not UNSET]
    wrong = sum(not same(value, target) for value, target in told)
    return found if wrong <= _NOISE * len(told) else None


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
