"""Looking for the calls that explain what one leaf of answers shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from envace_sdk.json import UNSET, Json

from ..explain import Example, explain
from .following import updated
from .readings import Seen, leaves
from .separation import separated
from .session import Event, Reading, Register, Update
from .stretches import Calls, Hits, Stretch
from .triggers import scope_of
from .updates import Form, alike

__all__ = ["ACCURACY", "NAME", "Finder", "Score", "initial"]

MAX_UPDATES = 4
MAX_CANDIDATES = 10
MAX_CONDITIONED = 3
"""Of the candidates, those for which conditions are looked for."""
ACCURACY = 0.95
NAME = "it"
"""What a register is called while it is looked for."""


@dataclass(slots=True)
class Score:
    """How well some updates foretell what was seen."""

    right: int = 0
    wrong: int = 0
    foretold: set[str] = field(default_factory=set)
    """Values that were rightly told before they were seen, other than the one seen before."""
    linked: int = 0
    """How often the call that showed a foretold value named what the call that set it did."""
    told: int = 0
    starts: list[Json] = field(default_factory=list)
    """What was seen first in each episode, where nothing had set it."""

    @property
    def accepted(self) -> bool:
        """Whether they foretell nearly all, and more than that things stay as they are."""
        fits = self.wrong <= (1 - ACCURACY) * (self.right + self.wrong)
        return fits and self.right >= 4 and len(self.foretold) >= 2 and 2 * self.linked <= self.told

    @property
    def worth(self) -> int:
        """By which updates are compared."""
        return self.right - 3 * self.wrong + len(self.foretold)


class Finder:
    """Looks for the calls that explain one leaf."""

    def __init__(self, reading: Reading, seen: list[Seen], calls: Calls) -> None:
        self.reading = reading
        self.calls = calls
        self.episodes = calls.episodes
        self.sights: dict[int, dict[int, Json]] = {}
        for one in seen:
            self.sights.setdefault(one.episode, {})[one.place] = one.value
        self.stretches = list(self._stretches())

    @cached_property
    def hits(self) -> Hits:
        """What gives the values that were seen."""
        return Hits(self.stretches, self.calls, self.reading)

    def best(self) -> Register | None:
        """The register with the fewest setters that explains the leaf, if there is one."""
        if not self._worth_looking():
            return None
        chosen: list[Update] = []
        score = self.score(chosen)
        for _ in range(MAX_UPDATES):
            better = self._extended(chosen, score)
            if better is None:
                break
            chosen, score = better
        if not chosen or not score.accepted:
            return None
        return Register("", initial(score.starts), tuple(chosen), (self.reading,), score.right, score.wrong)

    def _worth_looking(self) -> bool:
        """The value changes within episodes, and is not just an argument of the call that shows it."""
        changes = sum(not alike(stretch.old, stretch.new) for stretch in self.stretches)
        if changes < 2:
            return False
        alone = sum(
            stretch.changed and all(event.tool == self.reading.tool for event in stretch.events)
            for stretch in self.stretches
        )
        if alone > (1 - ACCURACY) * len(self.stretches):
            return False
        echoes = total = 0
        for number, places in self.sights.items():
            for place, value in places.items():
                total += 1
                echoes += any(alike(value, other) for _, other in self.calls.arguments(self.episodes[number][place]))
        return echoes < 0.9 * total

    def _stretches(self) -> Iterator[Stretch]:
        for number, places in self.sights.items():
            episode, since, old = self.episodes[number], 0, UNSET
            for place in sorted(places):
                yield Stretch(old, episode[since:place], places[place])
                since, old = place, places[place]

    def score(self, updates: Sequence[Update]) -> Score:
        """Plays all episodes with some updates."""
        score = Score()
        tools = {update.tool for update in updates}
        for number, places in self.sights.items():
            value: Json = UNSET
            before: Json = UNSET
            untouched = True
            setter: Event | None = None
            episode = self.episodes[number]
            for place in sorted({*places, *self.calls.places(tools, number)}):
                event = episode[place]
                if place in places:
                    shown = places[place]
                    if value is not UNSET:
                        hit = alike(value, shown)
                        score.right += hit
                        score.wrong += not hit
                        if hit and not alike(before, shown):
                            score.foretold.add(repr(shown))
                            score.told += 1
                            score.linked += setter is not None and _linked(setter, event)
                    elif untouched:
                        score.starts.append(shown)
                    value = before = shown
                if event.tool in tools and not event.failed:
                    new = updated(updates, NAME, value, event)
                    if new is not value or new is UNSET:
                        untouched, setter = False, event
                    value = new
        return score

    def _extended(self, chosen: list[Update], score: Score) -> tuple[list[Update], Score] | None:
        best: tuple[int, int, list[Update], Score] | None = None
        moves = {number for number, stretch in enumerate(self.stretches) if stretch.changed}
        for place, (tool, form) in enumerate(self._candidates(chosen)):
            explained = moves & self.hits.found.get((tool, form), moves)
            promising = place < MAX_CONDITIONED and 4 * len(explained) >= len(moves)
            for condition in self._conditions(tool, form) if promising else [""]:
                update = Update(tool, condition, form.named(NAME))
                if any(known.tool == tool and not known.condition for known in chosen) and not condition:
                    continue
                made = sorted([*chosen, update], key=lambda one: not one.condition)
                scored = self.score(made)
                cost = form.cost + 2 * bool(condition)
                if scored.worth > score.worth + cost and (best is None or (-scored.worth, cost) < best[:2]):
                    best = -scored.worth, cost, made, scored
        return None if best is None else best[2:]

    def _candidates(self, chosen: Sequence[Update]) -> list[tuple[str, Form]]:
        """Tools and forms that give a value that was seen next, most often first."""
        hits, strays = self.hits.found, self.hits.strays
        moves = {number for number, stretch in enumerate(self.stretches) if stretch.changed}
        covered = set().union(*hits.values()) if hits else set()
        if 2 * len(covered & moves) < len(moves):
            return [] if chosen else self._explained(chosen)
        known = {(update.tool, update.value) for update in chosen}
        able = [
            (strays.get(pair, 0) / 2 - len(found), pair[1].cost, place, pair)
            for place, (pair, found) in enumerate(hits.items())
            if len(found) > 1 and (pair[0], pair[1].named(NAME)) not in known
        ]
        ranked = [pair for *_, pair in sorted(able, key=lambda entry: entry[:3])[:MAX_CANDIDATES]]
        return ranked or self._explained(chosen)

    def _explained(self, chosen: Sequence[Update]) -> list[tuple[str, Form]]:
        """Where no usual form fits a tool: any expression over its call and the old value."""
        examples: dict[str, list[Example]] = {}
        changes = sum(stretch.changed for stretch in self.stretches)
        for stretch in self.stretches:
            acting = [event for event in stretch.events if not event.failed]
            if len(acting) == 1 and stretch.changed:
                scope = {**scope_of(acting[0]), "session": {NAME: stretch.old}}
                examples.setdefault(acting[0].tool, []).append(Example(scope, stretch.new))
        found: list[tuple[str, Form]] = []
        for tool, cases in examples.items():
            if 2 * len(cases) > changes > 4 and all(update.tool != tool for update in chosen):
                found += [(tool, Form(one.source, 4 + one.cost, True)) for one in explain(cases, limit=1)]
        return found

    def _conditions(self, tool: str, form: Form) -> list[str]:
        """None, and what tells the calls that set the value from those that did not."""
        yes, no = [], []
        for stretch in self.stretches:
            mine = [event for event in stretch.events if event.tool == tool and not event.failed]
            if len(mine) != 1:
                continue
            value = updated([Update(tool, "", form.named(NAME))], NAME, stretch.old, mine[0])
            if alike(value, stretch.new) and not alike(stretch.old, stretch.new):
                yes.append(scope_of(mine[0]))
            elif not alike(value, stretch.new) and stretch.old is not UNSET:
                no.append(scope_of(mine[0]))
        if len(yes) < 2 or not no:
            return [""]
        bare = [[_arguments(one) for one in side] for side in (yes, no)]
        found = separated(*bare, limit=1, tolerance=0, stages=2) or separated(yes, no, limit=1, tolerance=0, stages=1)
        return ["", *[condition.source for condition in found]]


def _linked(setter: Event, shower: Event) -> bool:
    """Whether two calls are about the same thing: what one shows is then that thing's, not the session's."""
    named = {repr(value) for _, value in leaves(dict(shower.arguments)) if _names(value)}
    about = [*leaves(dict(setter.arguments)), *leaves(setter.answer)]
    return any(repr(value) in named for _, value in about)


def _names(value: Json) -> bool:
    return (isinstance(value, str) and value != "") or (isinstance(value, int) and not isinstance(value, bool))


def _arguments(scope: dict[str, Json]) -> dict[str, Json]:
    return {"args": scope["args"]}


def initial(starts: list[Json]) -> Json:
    """What nearly all episodes begin with."""
    for value in starts[:3]:
        if len(starts) > 1 and sum(alike(value, other) for other in starts) >= ACCURACY * len(starts):
            return value
    return UNSET
