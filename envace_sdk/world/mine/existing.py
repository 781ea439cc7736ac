"""What makes things and what removes them, and which errors say that a thing is missing, or there already."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json

from .belief import EXISTS
from .episodes import Episode
from .failures import Failure, Failures
from .hidden import Hidden
from .roles import Cast
from .starting import Beginning, Beginnings
from .structure import Structure
from .tracking import Effects, Existence, Moment, Tracker

__all__ = ["Verbs", "beginnings_of", "learn_existence", "learn_removals"]

_RARE: Final = 0.1
_SOME: Final = 0.2
_MOSTLY: Final = 0.7
_ENOUGH: Final = 2

_MISSING: Final = re.compile(
    r"not found|no such|(?:does|did|do)(?: not|n't) exist|unknown|missing|not exist|\bno \w+ (?:is |was )?(?:called|named|with|found)"
    r"|could not find|cannot find|can't find|not registered|non-?existent",
    re.IGNORECASE,
)
_TAKEN: Final = re.compile(r"already|exists|duplicate|taken|in use", re.IGNORECASE)

Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Verbs:
    """The tools that are called like what makes things, removes them, or changes nothing."""

    makers: frozenset[str] = frozenset()
    removers: frozenset[str] = frozenset()
    readers: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Counts:
    """Of calls that ended in one way: how often the thing was known to be there, not to be there, or unknown."""

    there: int = 0
    gone: int = 0
    unknown: int = 0
    named: int = 0
    """How often the answer names the thing."""

    @property
    def all(self) -> int:
        return self.there + self.gone + self.unknown

    def note(self, exists: bool | None) -> None:
        self.there += exists is True
        self.gone += exists is False
        self.unknown += exists is None


def learn_existence(tracked: Iterable[Moment], failures: Failures) -> Existence:
    """Which errors say that a thing is missing, or there already."""
    done: dict[Name, _Counts] = {}
    failed: dict[tuple[str, int, str], _Counts] = {}
    examples: dict[tuple[str, int], Failure] = {}
    for moment in tracked:
        step, failure = moment.step, failures.of(moment.step)
        if failure is not None:
            examples[step.tool, failure.number] = failure
        elif not step.ok:
            continue
        for named in moment.cast.named:
            if named.name not in moment.existed:
                continue
            if failure is None:
                counts = done.setdefault((step.tool, named.name), _Counts())
            else:
                counts = failed.setdefault((step.tool, failure.number, named.name), _Counts())
            counts.note(moment.existed[named.name])
            counts.named += str(moment.keys.get(named.name)) in step.text
    existence = Existence()
    rank = {place: _strength(place, counts, done, examples) for place, counts in failed.items()}
    said: set[tuple[str, str, str]] = set()
    for place in sorted(rank, key=lambda p: (-rank[p][1], p)):
        told, strength = rank[place]
        if strength <= 0:
            continue
        tool, number, name = place
        if strength >= 1:
            said.add((tool, name, told))
        elif (tool, name, told) in said:
            continue  # there are plainer words for it
        book = existence.missing if told == "missing" else existence.taken
        if place[:2] not in existence.missing and place[:2] not in existence.taken:
            book[place[:2]] = place[2]
    return existence


def _strength(
    place: tuple[str, int, str],
    counts: _Counts,
    done: Mapping[Name, _Counts],
    examples: Mapping[tuple[str, int], Failure],
) -> tuple[str, float]:
    """What an error says of a thing, and how clearly; 0: nothing."""
    usual = done.get((place[0], place[2]), _Counts())
    text = examples[place[:2]].text
    there = counts.there / counts.all if counts.all else 0.0
    usually = usual.there / usual.all if usual.all else 0.5
    cue = bool(_MISSING.search(text))
    if (
        there <= (0.5 if cue else _RARE)
        and (counts.all >= _ENOUGH or cue)
        and (cue or counts.named > _MOSTLY * counts.all)
    ):
        if usually - there > (_SOME if not cue else 0.05):
            return "missing", usually - there + cue
    if there >= (0.5 if _TAKEN.search(text) else 1 - _RARE) and (counts.all >= _ENOUGH or _TAKEN.search(text)):
        if there - usually > 1 - _MOSTLY and usually <= _SOME:
            return "taken", there - usually + bool(_TAKEN.search(text))
    return "", 0.0


def learn_removals(
    tracker: Tracker, moments: Sequence[Moment], existence: Existence, effects: Effects, verbs: Verbs
) -> bool:
    """Which calls make and which remove things; whether `effects` has learned anything."""
    votes: dict[Name, Counter[tuple[bool | None, bool]]] = {}
    for sighting in tracker.sightings:
        if sighting.field == EXISTS:
            before = sighting.before if isinstance(sighting.before, bool) else None
            votes.setdefault(sighting.place[:2], Counter())[before, bool(sighting.after)] += 1
    done: dict[Name, _Counts] = {}
    for moment in moments:
        if moment.step.ok:
            for name, exists in moment.existed.items():
                done.setdefault((moment.step.tool, name), _Counts()).note(exists)
    before = (set(effects.removes), set(effects.makes))
    for pair, counts in sorted(done.items()):
        tool, name = pair
        if tool in verbs.readers or pair in effects.harmless:
            continue
        told = votes.get(pair, Counter())
        lost, kept = told[True, False], told[True, True]
        needs = existence.needs(tool, name)
        if lost >= (1 if tool in verbs.removers else _ENOUGH) and lost >= _MOSTLY * (lost + kept):
            effects.removes.add(pair)
        elif tool in verbs.removers and needs and not kept and not lost:
            effects.removes.add(pair)
        elif needs or not (told[False, True] + told[None, True]):
            continue
        elif counts.there <= _RARE * counts.all and counts.all >= (1 if tool in verbs.makers else _ENOUGH):
            effects.makes.setdefault(pair, "")
        elif told[False, True] >= _ENOUGH:
            effects.makes.setdefault(pair, "upsert")
    return (effects.removes, set(effects.makes)) != before


def beginnings_of(
    structure: Structure,
    casts: Mapping[str, Cast],
    episodes: Iterable[Episode],
    effects: Effects,
    failures: Failures,
    existence: Existence,
    points: Mapping[str, Mapping[str, Json]] | None = None,
    hidden: Hidden | None = None,
) -> Beginnings:
    """What the episodes show of their starts."""
    found: list[Beginning] = []
    for episode in episodes:
        tracker = Tracker(
            structure, casts, effects, failures=failures, existence=existence, points=points, hidden=hidden
        )
        for _ in tracker.follow(episode):
            pass
        found.append(Beginning(tracker.first, tracker.absent))
    return Beginnings(found)
