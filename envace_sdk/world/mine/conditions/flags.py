"""Hidden truths of a session: which calls make them true and false, so that errors and answers follow from them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from math import comb, log2
from operator import or_

from .readings import Seen, truths
from .session import Event, Flag, Reading, Trigger
from .triggers import Candidate, candidates

__all__ = ["first_episodes", "hidden_flags"]

MAX_CHOSEN = 6
"""Triggers that are tried in combination, for each direction."""
ACCURACY = 0.95
MAX_TRIGGERS = 2
MAX_TOOLS = 12
CHANCE_BITS = 4.0
"""What must be left over, as there are many errors and answers that something might explain by chance."""
MAX_EVENTS = 2400


def hidden_flags(episodes: Sequence[Sequence[Event]]) -> list[Flag]:
    """Flags of the session that explain errors, and answers that are true or false.

    An error of a class happens exactly while its flag is false (or exactly while it is true), which holds for at least
    95 % of these errors and 95 % of that tool's successes; other errors of the tool say nothing, as they may be checked
    first. The fewest setters are preferred, and a flag must explain more than the choice of its setters takes to
    say. Readings that the same calls explain are one flag. Best explained first; deterministic.
    """
    looked = first_episodes(episodes)
    triggers = candidates(looked)
    found: list[Flag] = []
    finders = [_Finder(reading, seen, triggers) for reading, seen in truths(looked).items()]
    for finder in sorted(finders, key=lambda finder: -finder.evidence):
        known = min(
            (shown for flag in found if (shown := finder.showing(flag)) is not None),
            key=lambda flag: (flag.wrong, -flag.right),
            default=None,
        )
        best = known if known is not None and not known.wrong else finder.best() or known
        if best is not None:
            found = _with(found, best)
    found.sort(key=lambda flag: -flag.right)
    return [replace(flag, name=name) for flag, name in zip(found, _names(found), strict=True)]


def first_episodes(episodes: Sequence[Sequence[Event]]) -> list[Sequence[Event]]:
    """As many episodes as there is time for."""
    total = 0
    chosen: list[Sequence[Event]] = []
    for episode in episodes:
        total += len(episode)
        if chosen and total > MAX_EVENTS:
            break
        chosen.append(episode)
    return chosen


@dataclass(frozen=True, slots=True)
class _Score:
    """How well some setters explain what was seen."""

    initially: bool | None
    right: int
    wrong: int
    runs: int
    """Stretches in which the flag does not change and something is seen, and those among them in which it is false."""
    false_runs: int

    @property
    def bits(self) -> float:
        """What is explained, in bits."""
        return log2(comb(self.runs, self.false_runs))


class _Finder:
    """Looks for the setters that explain one reading."""

    def __init__(self, reading: Reading, seen: list[Seen], triggers: list[Candidate]) -> None:
        self.reading = reading
        self.seen = seen
        self.triggers = triggers
        self.numbers = {trigger.trigger: index for index, trigger in enumerate(triggers)}
        self.by_tool: dict[str, list[int]] = {}
        """By tool, the numbers of its triggers, first that of all its calls."""
        for index, trigger in enumerate(triggers):
            self.by_tool.setdefault(trigger.trigger.tool, []).append(index)
        self._last: dict[int, list[int]] = {}
        rare = min(sum(one.value is value for one in seen) for value in (True, False))
        self.most_wrong = min((1 - ACCURACY) * len(seen), rare / 10)
        """What is rare must be explained as well as what is frequent."""

    def best(self) -> Flag | None:
        """The flag with the fewest and simplest setters that explains enough, if there is one."""
        if self.evidence <= CHANCE_BITS + log2(len(self.triggers) + 1):
            return None
        found: tuple[tuple[int, int, int], Flag] | None = None
        for start in (False, True, None):
            downs = self._sides(False, start)
            for setters in self._sides(True, start) if downs else ():
                for clearers in downs:
                    if not (setters or clearers) or self._overlap(setters, clearers):
                        continue
                    cost = sum(self.triggers[index].cost for index in (*setters, *clearers))
                    if found is not None and (cost, 0, 0) > found[0]:
                        continue
                    score = self._score(setters, clearers, start)
                    if score is None or not self._accepted(score, len(setters) + len(clearers), cost):
                        continue
                    key = (cost, score.wrong, -score.right)
                    if found is None or key < found[0]:
                        found = key, self._flag(setters, clearers, score)
        return None if found is None else found[1]

    @property
    def evidence(self) -> float:
        """The bits that the reading itself has to give."""
        return log2(comb(len(self.seen), sum(one.value is True for one in self.seen)))

    def showing(self, flag: Flag) -> Flag | None:
        """The flag as this reading shows it, if it does: where a flag is known, little is needed to see it again."""
        sides = [tuple(self.numbers[trigger] for trigger in side) for side in (flag.set_by, flag.cleared_by)]
        start = flag.initially
        for setters, clearers, initially in (
            (sides[0], sides[1], start),
            (sides[1], sides[0], None if start is None else not start),
        ):
            score = self._score(setters, clearers, initially)
            if score is not None and score.right >= 3 and score.bits >= 3:
                return self._flag(setters, clearers, score)
        return None

    def _flag(self, setters: tuple[int, ...], clearers: tuple[int, ...], score: _Score) -> Flag:
        named = [tuple(self.triggers[index].trigger for index in side) for side in (setters, clearers)]
        return Flag("", score.initially, named[0], named[1], (self.reading,), score.right, score.wrong)

    def _overlap(self, setters: tuple[int, ...], clearers: tuple[int, ...]) -> bool:
        """Whether one call would both set and clear it."""
        for one in setters:
            for other in clearers:
                if self.triggers[one].trigger.tool == self.triggers[other].trigger.tool and any(
                    set(left) & set(right)
                    for left, right in zip(self.triggers[one].places, self.triggers[other].places, strict=True)
                ):
                    return True
        return False

    def _sides(self, up: bool, start: bool | None) -> list[tuple[int, ...]]:
        """The sets of triggers by which the flag may become true (or false): one of each set happened wherever it must
        have become so, but for as many cases as may be wrong; those come first that happened seldom elsewhere.
        """
        changes: list[tuple[int, int]] = []
        idle: list[tuple[int, int]] = []
        before: Seen | None = None
        for index, one in enumerate(self.seen):
            if before is not None and before.episode == one.episode:
                was, since = before.value, before.place
            else:
                was, since = start, 0
            if was is not None and was is not up:
                (changes if one.value is up else idle).append((index, since))
            before = one
        if not changes:
            return [()]
        scored = []
        least = max(1, (len(changes) - self.most_wrong) / MAX_TRIGGERS)
        for index in self._common(changes, least):
            last = self.last(index)
            covered = sum(1 << place for place, (at, since) in enumerate(changes) if last[at] >= since)
            if covered.bit_count() >= least:
                stray = sum(last[at] >= since for at, since in idle)
                worth = stray / (len(idle) + 1) - covered.bit_count() / len(changes)
                scored.append((worth, self.triggers[index].cost, index, covered))
        able = [(index, covered) for _, _, index, covered in sorted(scored)[:MAX_CHOSEN]]
        return [
            tuple(index for index, _ in chosen)
            for chosen in _subsets(able)
            if len(changes) - _union(covered for _, covered in chosen) <= self.most_wrong
        ]

    def _common(self, changes: list[tuple[int, int]], least: float) -> Iterator[int]:
        """The triggers of the tools that were called in most of these places."""
        ranked = []
        for place, numbers in enumerate(self.by_tool.values()):
            last = self.last(numbers[0])
            covered = sum(last[at] >= since for at, since in changes)
            if covered >= least:
                ranked.append((-covered, place, numbers))
        for *_, numbers in sorted(ranked)[:MAX_TOOLS]:
            yield from numbers

    def last(self, index: int) -> list[int]:
        """Where a trigger last happened before each sight; -1 for never."""
        known = self._last.get(index)
        if known is None:
            by_episode = self.triggers[index].places
            known = self._last[index] = [
                places[at - 1] if (at := bisect_left(places := by_episode[one.episode], one.place)) else -1
                for one in self.seen
            ]
        return known

    def _score(self, setters: tuple[int, ...], clearers: tuple[int, ...], start: bool | None) -> _Score | None:
        """How well they do; None as soon as that is not well enough."""
        right = wrong = runs = false_runs = 0
        setting, clearing = [[self.last(trigger) for trigger in side] for side in (setters, clearers)]
        run: tuple[int, int, bool] | None = None
        for index, one in enumerate(self.seen):
            set_at = max((last[index] for last in setting), default=-1)
            cleared_at = max((last[index] for last in clearing), default=-1)
            state = start if set_at == cleared_at else set_at > cleared_at
            if state is None:
                continue
            if state is one.value:
                right += 1
            else:
                wrong += 1
                if wrong > self.most_wrong:
                    return None
            current = (one.episode, max(set_at, cleared_at), state)
            if current != run:
                runs += 1
                false_runs += not state
                run = current
        return _Score(start, right, wrong, runs, false_runs)

    def _accepted(self, score: _Score, count: int, cost: int) -> bool:
        """Nearly all is explained, on both sides, and that takes less to say than what it explains."""
        if score.right < 4 or score.wrong > (1 - ACCURACY) * (score.right + score.wrong):
            return False
        if score.false_runs < 2 or score.runs - score.false_runs < 2:
            return False
        return score.bits > count * log2(len(self.triggers) + 1) + (cost - 2 * count) + CHANCE_BITS


def _subsets(able: list[tuple[int, int]]) -> Iterator[tuple[tuple[int, int], ...]]:
    for size in range(MAX_TRIGGERS + 1):
        yield from combinations(able, size)


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0).bit_count()


def _with(found: list[Flag], flag: Flag) -> list[Flag]:
    """The same setters are the same flag, also the other way round."""
    for place, known in enumerate(found):
        same = (set(flag.set_by), set(flag.cleared_by)) == (set(known.set_by), set(known.cleared_by))
        opposite = (set(flag.cleared_by), set(flag.set_by)) == (set(known.set_by), set(known.cleared_by))
        if same or opposite:
            readings = tuple(reading._replace(inverted=not same) for reading in flag.shown_by)
            initially = flag.initially if same or flag.initially is None else not flag.initially
            merged = replace(
                known,
                initially=known.initially if known.initially == initially else None,
                shown_by=(*known.shown_by, *readings),
                right=known.right + flag.right,
                wrong=known.wrong + flag.wrong,
            )
            return [*found[:place], merged, *found[place + 1 :]]
    return [*found, flag]


def _names(flags: Sequence[Flag]) -> Iterator[str]:
    """After the answer that shows it, else after the call that sets it."""
    taken: set[str] = set()
    for flag in flags:
        shown = [reading.what.rpartition(".")[2] for reading in flag.shown_by if reading.kind == "answer"]
        setters: list[Trigger] = [*flag.set_by, *flag.cleared_by]
        base = next((name for name in shown if name.isidentifier()), "") or f"after_{setters[0].tool}"
        name = base = "".join(sign if sign.isalnum() else "_" for sign in base)
        number = 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        yield name
