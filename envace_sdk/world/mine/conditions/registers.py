"""Hidden values of a session: which calls set them to what, so that answers show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from envace_sdk.json import UNSET, Json

from ..explain import Example, explain
from .flags import first_episodes, hidden_flags
from .following import updated
from .readings import Seen, leaves, values
from .separation import separated
from .session import Event, Flag, Reading, Register, Update
from .triggers import scope_of
from .updates import Form, alike, constant_form, forms

__all__ = ["registers"]

MAX_UPDATES = 4
MAX_CANDIDATES = 10
MAX_CONDITIONED = 3
"""Of the candidates, those for which conditions are looked for."""
ACCURACY = 0.95
_NAME = "it"
"""What a register is called while it is looked for."""


def registers(episodes: Sequence[Sequence[Event]], flags: Sequence[Flag] | None = None) -> list[Register]:
    """Registers of the session that answers show.

    An answer's leaf shows a register if it is what the last successful setter made it: an argument, a part of its
    answer, a constant, or something computed from what was there before (`joinpath(session.cwd, args.folder)`,
    `session.total + args.price`). At least 95 % of what is shown after a setter, or again without one, must agree, and
    two different values at least must have been foretold. Leaves that the same calls explain are one register. A flag
    that is set where a register is, and cleared elsewhere, tells where the register becomes null. Best
    explained first; deterministic.
    """
    looked = first_episodes(episodes)
    found: list[Register] = []
    for reading, seen in values(looked).items():
        known = _shows_known(found, reading, seen, looked)
        if known is not None:
            found[known[0]] = known[1]
            continue
        made = _Finder(reading, seen, looked).best()
        if made is not None:
            found.append(made)
    for flag in hidden_flags(looked) if flags is None else flags:
        found = [_cleared(register, flag, looked) for register in found]
    found.sort(key=lambda register: -register.right)
    return [_renamed(register, name) for register, name in zip(found, _register_names(found), strict=True)]


@dataclass(slots=True)
class _Score:
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
        fits = self.wrong <= (1 - ACCURACY) * (self.right + self.wrong)
        return fits and self.right >= 4 and len(self.foretold) >= 2 and 2 * self.linked <= self.told

    @property
    def worth(self) -> int:
        return self.right - 3 * self.wrong + len(self.foretold)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What lies between two sights of the value: `old` is `UNSET` where an episode begins."""

    old: Json
    events: Sequence[Event]
    new: Json

    @property
    def changed(self) -> bool:
        """Whether the value was known before, and is another now."""
        return self.old is not UNSET and not alike(self.old, self.new)


class _Finder:
    """Looks for the calls that explain one leaf."""

    def __init__(self, reading: Reading, seen: list[Seen], episodes: Sequence[Sequence[Event]]) -> None:
        self.reading = reading
        self.episodes = episodes
        self.sights: dict[int, dict[int, Json]] = {}
        for one in seen:
            self.sights.setdefault(one.episode, {})[one.place] = one.value
        self.stretches = list(self._stretches())

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
        return Register("", _initial(score.starts), tuple(chosen), (self.reading,), score.right, score.wrong)

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
                echoes += any(alike(value, other) for _, other in leaves(dict(self.episodes[number][place].arguments)))
        return echoes < 0.9 * total

    def _stretches(self) -> Iterator[_Stretch]:
        for number, places in self.sights.items():
            episode, since, old = self.episodes[number], 0, UNSET
            for place in sorted(places):
                yield _Stretch(old, episode[since:place], places[place])
                since, old = place, places[place]

    def score(self, updates: Sequence[Update]) -> _Score:
        """Plays all episodes with some updates."""
        score = _Score()
        tools = {update.tool for update in updates}
        for number, places in self.sights.items():
            value: Json = UNSET
            before: Json = UNSET
            untouched = True
            setter: Event | None = None
            for place, event in enumerate(self.episodes[number]):
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
                    new = updated(updates, _NAME, value, event)
                    if new is not value:
                        untouched, setter = False, event
                    value = new
        return score

    def _extended(self, chosen: list[Update], score: _Score) -> tuple[list[Update], _Score] | None:
        best: tuple[int, int, list[Update], _Score] | None = None
        for place, (tool, form) in enumerate(self._candidates(chosen)):
            for condition in self._conditions(tool, form) if place < MAX_CONDITIONED else [""]:
                update = Update(tool, condition, form.named(_NAME))
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
        hits: dict[tuple[str, Form], set[int]] = {}
        strays: dict[tuple[str, Form], int] = {}
        for number, stretch in enumerate(self.stretches):
            changed = not alike(stretch.old, stretch.new)
            for event in stretch.events:
                if event.failed:
                    continue
                constant: list[tuple[Form, Json]] = []
                if stretch.old is not UNSET and _is_constant(stretch.new):
                    constant.append((constant_form(stretch.new), stretch.new))
                for form, value in (*forms(event, stretch.old), *constant):
                    if form.needs_old and event.tool == self.reading.tool and "args" not in form.source:
                        continue
                    if alike(value, stretch.new):
                        if changed:
                            hits.setdefault((event.tool, form), set()).add(number)
                    elif len(stretch.events) < 3:
                        strays[event.tool, form] = strays.get((event.tool, form), 0) + 1
        known = {(update.tool, update.value) for update in chosen}
        able = [
            (strays.get(pair, 0) / 2 - len(found), pair[1].cost, place, pair)
            for place, (pair, found) in enumerate(hits.items())
            if len(found) > 1 and (pair[0], pair[1].named(_NAME)) not in known
        ]
        covered = set().union(*hits.values()) if hits else set()
        changed = {number for number, stretch in enumerate(self.stretches) if stretch.changed}
        if 2 * len(covered & changed) < len(changed):
            return [] if chosen else self._explained(chosen)
        ranked = [pair for *_, pair in sorted(able, key=lambda entry: entry[:3])[:MAX_CANDIDATES]]
        return ranked or self._explained(chosen)

    def _explained(self, chosen: Sequence[Update]) -> list[tuple[str, Form]]:
        """Where no usual form fits a tool: any expression over its call and the old value."""
        examples: dict[str, list[Example]] = {}
        changes = sum(stretch.changed for stretch in self.stretches)
        for stretch in self.stretches:
            acting = [event for event in stretch.events if not event.failed]
            if len(acting) == 1 and stretch.changed:
                scope = {**scope_of(acting[0]), "session": {_NAME: stretch.old}}
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
            value = updated([Update(tool, "", form.named(_NAME))], _NAME, stretch.old, mine[0])
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


def _is_constant(value: Json) -> bool:
    return value is not None and len(str(value)) <= 40


def _initial(starts: list[Json]) -> Json:
    """What nearly all episodes begin with."""
    for value in starts[:3]:
        if len(starts) > 1 and sum(alike(value, other) for other in starts) >= ACCURACY * len(starts):
            return value
    return UNSET


def _shows_known(
    found: list[Register], reading: Reading, seen: list[Seen], episodes: Sequence[Sequence[Event]]
) -> tuple[int, Register] | None:
    """Whether a leaf shows a register that is known already."""
    finder = _Finder(reading, seen, episodes)
    for place, register in enumerate(found):
        score = finder.score(register.updates)
        if (
            score.right >= 2
            and score.foretold
            and 2 * score.linked <= score.told
            and score.wrong <= (1 - ACCURACY) * (score.right + score.wrong)
        ):
            if len({repr(one.value) for one in seen}) < 2:
                continue
            initially = register.initially
            if score.starts and _initial(score.starts) is not initially:
                initially = initially if alike(_initial(score.starts), initially) else UNSET
            return place, replace(
                register,
                initially=initially,
                shown_by=(*register.shown_by, reading),
                right=register.right + score.right,
                wrong=register.wrong + score.wrong,
            )
    return None


def _cleared(register: Register, flag: Flag, episodes: Sequence[Sequence[Event]]) -> Register:
    """With the calls that clear a flag which the setters of the register set, if no answer contradicts that."""
    if flag.wrong:
        return register
    for setters, clearers, initially in (
        (flag.set_by, flag.cleared_by, flag.initially),
        (flag.cleared_by, flag.set_by, None if flag.initially is None else not flag.initially),
    ):
        if {trigger.tool for trigger in setters} != {update.tool for update in register.updates}:
            continue
        new = [
            Update(trigger.tool, trigger.condition, "null")
            for trigger in clearers
            if all(update.tool != trigger.tool for update in register.updates)
        ]
        start = None if initially is False and register.initially is UNSET else register.initially
        made = replace(register, updates=(*register.updates, *new), initially=start, cleared=True)
        for reading in register.shown_by:
            finder = _Finder(reading, values(episodes)[reading], episodes)
            if finder.score(made.updates).wrong > finder.score(register.updates).wrong:
                return register
        return made
    return register


def _renamed(register: Register, name: str) -> Register:
    old = f"session.{_NAME}"
    updates = tuple(update._replace(value=update.value.replace(old, f"session.{name}")) for update in register.updates)
    return replace(register, name=name, updates=updates)


def _register_names(found: Sequence[Register]) -> Iterator[str]:
    """After the leaf that shows it."""
    taken: set[str] = set()
    for register in found:
        last = register.shown_by[0].what.rpartition(".")[2] or register.shown_by[0].tool
        base = "".join(sign if sign.isalnum() else "_" for sign in last)
        base = base if base.isidentifier() else f"of_{base}"
        name, number = base, 1
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        yield name
