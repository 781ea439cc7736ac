"""Which calls carry, or can compute, the values that are seen after them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from envace_sdk.json import UNSET, Json

from ...index import value_key
from .readings import leaves
from .session import Event, Reading
from .updates import Form, alike, constant_form, copies, derivations

__all__ = ["Calls", "Hits", "Stretch"]

SHORT = 3
"""Calls in a stretch that shows by itself whether its calls set the value."""
FIRST = 16
"""Changes after which the search ends where next to nothing explains them."""
DOMINANT = 0.7
"""The share of one new value after a tool's calls from which on they may set just that."""
MAX_CONSTANT = 40


@dataclass(frozen=True, slots=True)
class Stretch:
    """What lies between two sights of the value: `old` is `UNSET` where an episode begins."""

    old: Json
    events: Sequence[Event]
    new: Json

    @property
    def changed(self) -> bool:
        """Whether the value was known before, and is another now."""
        return self.old is not UNSET and not alike(self.old, self.new)


class Calls:
    """The calls of all episodes: where each tool was called, and what each call carries."""

    def __init__(self, episodes: Sequence[Sequence[Event]]) -> None:
        self.episodes = episodes
        self._known: dict[int, Mapping[Hashable, list[Form]]] = {}
        self._arguments: dict[int, Sequence[tuple[str, Json]]] = {}
        self._places: dict[str, dict[int, list[int]]] = {}
        for number, episode in enumerate(episodes):
            for place, event in enumerate(episode):
                if not event.failed:
                    self._places.setdefault(event.tool, {}).setdefault(number, []).append(place)

    def arguments(self, event: Event) -> Sequence[tuple[str, Json]]:
        """The scalars in a call's arguments, with their paths."""
        found = self._arguments.get(id(event))
        if found is None:
            found = self._arguments[id(event)] = tuple(leaves(dict(event.arguments)))
        return found

    def places(self, tools: Iterable[str], episode: int) -> Iterator[int]:
        """Where some tools succeeded in an episode."""
        for tool in tools:
            yield from self._places.get(tool, {}).get(episode, ())

    def carried(self, event: Event) -> Mapping[Hashable, list[Form]]:
        """The values in a call, each with the forms that copy it."""
        found = self._known.get(id(event))
        if found is None:
            found = self._known[id(event)] = copies(event)
        return found


class Hits:
    """For each tool and form, the stretches whose new value they give."""

    def __init__(self, stretches: Sequence[Stretch], calls: Calls, reading: Reading) -> None:
        self.found: dict[tuple[str, Form], set[int]] = {}
        """The numbers of the stretches that have a new value."""
        self._reading = reading
        self._short: dict[str, int] = {}
        self._short_hits: dict[tuple[str, Form], int] = {}
        self._after: dict[str, dict[str, set[int]]] = {}
        changes = 0
        for number, stretch in enumerate(stretches):
            changes += stretch.changed
            if stretch.changed and changes == FIRST and len(set().union(*self.found.values())) < FIRST / 4:
                break
            for event in stretch.events:
                if not event.failed:
                    self._look(number, stretch, event, calls)
        self._add_constants()
        self.strays = {pair: self._short.get(pair[0], 0) - self._short_hits.get(pair, 0) for pair in self.found}
        """How many short stretches with the tool do not have the value."""

    def _look(self, number: int, stretch: Stretch, event: Event, calls: Calls) -> None:
        is_short = len(stretch.events) < SHORT
        self._short[event.tool] = self._short.get(event.tool, 0) + is_short
        copied = calls.carried(event).get(value_key(stretch.new), ())
        for form in (*copied, *derivations(calls.arguments(event), stretch.old, stretch.new)):
            if form.needs_old and event.tool == self._reading.tool and "args" not in form.source:
                continue  # That a number grows each time that it is shown is no register's doing.
            pair = event.tool, form
            self._short_hits[pair] = self._short_hits.get(pair, 0) + is_short
            if not alike(stretch.old, stretch.new):
                self.found.setdefault(pair, set()).add(number)
        if stretch.changed and stretch.new is not None and len(str(stretch.new)) <= MAX_CONSTANT:
            source = constant_form(stretch.new).source
            self._after.setdefault(event.tool, {}).setdefault(source, set()).add(number)

    def _add_constants(self) -> None:
        for tool, values in self._after.items():
            most = max(values, key=lambda source: len(values[source]))
            if len(values[most]) >= DOMINANT * len(set().union(*values.values())):
                self.found[tool, Form(most, 2, False)] = values[most]
