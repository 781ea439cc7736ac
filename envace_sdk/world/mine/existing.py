"""What makes things and what removes them, and which errors say that a thing is missing, or there already."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json

from .belief import EXISTS
from .effects import Effects, Existence, Name
from .episodes import Episode
from .failures import Failure, Failures
from .hidden import Hidden
from .moments import Moment
from .roles import Cast
from .starting import Beginning, Beginnings
from .structure import Structure
from .tracking import Tracker

__all__ = ["Verbs", "beginnings_of", "learn_existence", "learn_removals"]

_RARE: Final = 0.1
_SOME: Final = 0.2
_HARDLY: Final = 0.05
_HALF: Final = 0.5
_MOSTLY: Final = 0.7
_ENOUGH: Final = 2

_MISSING: Final = re.compile(
    r"not found|no such|(?:does|did|do)(?: not|n't) exist|unknown|missing|not exist"
    r"|\bno \w+ (?:is |was )?(?:called|named|with|found)"
    r"|could not find|cannot find|can't find|not registered|non-?existent",
    re.IGNORECASE,
)
_TAKEN: Final = re.compile(r"already|exists|duplicate|taken|in use", re.IGNORECASE)

_Place = tuple[str, int, str]
"""A tool, the number of one of its failures, and the name that the tool has for a thing."""


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
        """How many calls there were."""
        return self.there + self.gone + self.unknown

    def note(self, exists: bool | None) -> None:
        """Count a call."""
        self.there += exists is True
        self.gone += exists is False
        self.unknown += exists is None


def learn_existence(tracked: Iterable[Moment], failures: Failures) -> Existence:
    """Which errors say that a thing is missing, or there already."""
    done: dict[Name, _Counts] = {}
    failed: dict[_Place, _Counts] = {}
    examples: dict[tuple[str, int], Failure] = {}
    for moment in tracked:
        step, failure = moment.step, failures.of(moment.step)
        if failure is not None:
            examples[step.tool, failure.number] = failure
        elif not step.ok:
            continue
        for name, exists in moment.existed.items():
            if failure is None:
                counts = done.setdefault((step.tool, name), _Counts())
            else:
                counts = failed.setdefault((step.tool, failure.number, name), _Counts())
            counts.note(exists)
            counts.named += str(moment.keys[name]) in step.text
    told = {
        place: _told(counts, done.get((place[0], place[2]), _Counts()), examples[place[:2]].text)
        for place, counts in failed.items()
    }
    return _clearest(told)


def _clearest(told: Mapping[_Place, tuple[str, float]]) -> Existence:
    """What errors say, each of one thing; what is said plainly of a thing is not said by another error as well."""
    existence = Existence()
    plainly: set[tuple[str, str, str]] = set()
    for place in sorted(told, key=lambda p: (-told[p][1], p)):
        tool, number, name = place
        what, strength = told[place]
        if strength >= 1:
            plainly.add((tool, name, what))
        elif strength <= 0 or (tool, name, what) in plainly:
            continue
        if (tool, number) not in existence.missing and (tool, number) not in existence.taken:
            book = existence.missing if what == "missing" else existence.taken
            book[tool, number] = name
    return existence


def _told(counts: _Counts, usual: _Counts, text: str) -> tuple[str, float]:
    """What an error says of a thing, and how clearly: 0 for nothing, 1 or more where its words say so too.

    Args:
        counts: the calls that ended in it.
        usual: the calls that succeeded.
        text: what it says.
    """
    there = counts.there / counts.all
    usually = usual.there / usual.all if usual.all else _HALF
    missing, taken = bool(_MISSING.search(text)), bool(_TAKEN.search(text))
    mostly_gone = there <= (_HALF if missing else _RARE)
    is_named = missing or (counts.all >= _ENOUGH and counts.named > _MOSTLY * counts.all)
    if mostly_gone and is_named and usually - there > (_HARDLY if missing else _SOME):
        return "missing", usually - there + missing
    mostly_there = there >= (_HALF if taken else 1 - _RARE)
    is_often = taken or counts.all >= _ENOUGH
    if mostly_there and is_often and there - usually > 1 - _MOSTLY and usually <= _SOME:
        return "taken", there - usually + taken
    return "", 0.0


def learn_removals(
    tracker: Tracker, moments: Sequence[Moment], existence: Existence, effects: Effects, verbs: Verbs
) -> bool:
    """Which calls make and which remove things; whether `effects` has learned anything."""
    votes: dict[Name, Counter[tuple[bool | None, bool]]] = {}
    for sighting in tracker.evidence.sightings:
        if sighting.field == EXISTS:
            before = sighting.before if isinstance(sighting.before, bool) else None
            votes.setdefault(sighting.place[:2], Counter())[before, bool(sighting.after)] += 1
    done: dict[Name, _Counts] = {}
    for moment in moments:
        if moment.step.ok:
            for name, exists in moment.existed.items():
                done.setdefault((moment.step.tool, name), _Counts()).note(exists)
    known = (len(effects.removes), len(effects.makes))
    for pair, counts in sorted(done.items(), key=lambda item: item[0]):
        if pair[0] in verbs.readers or pair in effects.harmless:
            continue
        told = votes.get(pair, Counter())
        needs = existence.needs(*pair)
        if _removes(told, needs=needs, is_remover=pair[0] in verbs.removers):
            effects.removes.add(pair)
        elif not needs and told[False, True] + told[None, True]:
            if counts.there <= _RARE * counts.all and counts.all >= (1 if pair[0] in verbs.makers else _ENOUGH):
                effects.makes.setdefault(pair, "")
            elif told[False, True] >= _ENOUGH or (
                told[None, True] > _ENOUGH and told[None, True] >= _SOME * counts.all
            ):
                effects.makes.setdefault(pair, "upsert")
    return (len(effects.removes), len(effects.makes)) != known


def _removes(told: Mapping[tuple[bool | None, bool], int], *, needs: bool, is_remover: bool) -> bool:
    """Whether a call removes a thing: it is seen to, or is called so and nothing speaks against it."""
    lost, kept = told.get((True, False), 0), told.get((True, True), 0)
    if lost >= (1 if is_remover else _ENOUGH) and lost >= _MOSTLY * (lost + kept):
        return True
    return is_remover and needs and not kept and not lost


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
    tracker = Tracker(structure, casts, effects, failures=failures, existence=existence, points=points, hidden=hidden)

    def beginning(episode: Episode) -> Beginning:
        evidence = tracker.run([episode])
        tracker.forget()
        return Beginning(evidence.first, evidence.absent)

    return Beginnings(map(beginning, episodes))
