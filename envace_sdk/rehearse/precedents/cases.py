"""Recorded calls as cases: each in the situation in which it was made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.state import State

from .events import Event
from .features import Features, features
from .forms import Form, form_of
from .scene import REMEMBERED, Scene

__all__ = ["Case", "cases_of", "events_of"]


class Case:
    """One recorded call and its answer, with what came before it in the same episode."""

    def __init__(self, fixture: Fixture, event: Event, events: Sequence[Event], at: int, state: State | None) -> None:
        self.fixture = fixture
        self.event = event
        """The call with its answer as data."""
        self.episode = fixture.episode
        self.events = events
        """The remembered events of the episode."""
        self.at = at
        """How many of them came before."""
        self.state = state

    @property
    def is_remembered(self) -> bool:
        """Whether it is one of the remembered events."""
        return self.at < len(self.events) and self.events[self.at] is self.event

    @cached_property
    def scene(self) -> Scene:
        """The situation it was made in."""
        past = self.events[max(0, self.at - REMEMBERED) : self.at]
        return Scene(self.event.tool, self.event.arguments, past, self.state)

    @cached_property
    def form(self) -> Form:
        """The form of the answer."""
        given = (*self.scene.given, ("", self.event.tool, self.event.tool))
        return form_of(self.event.value, is_error=self.event.is_error, given=given)

    @cached_property
    def features(self) -> Features:
        """The features of the situation, but for what only other episodes can tell."""
        return features(self.scene)


def cases_of(
    fixtures: Sequence[Fixture],
    states: Mapping[int, State],
    tools: Set[str],
    remembered: Set[str],
    essence: Callable[[ToolCall], Mapping[str, Json]] = lambda call: call.arguments,
) -> list[Case]:
    """The recorded calls of these tools as cases, episode by episode.

    Args:
        fixtures: recorded calls.
        states: by the identity of a fixture, the world before it, as far as it is known.
        tools: the tools that cases are wanted of.
        remembered: the tools whose calls a world remembers; the others happened unseen.
        essence: the arguments of a call, as far as they matter.
    """
    found = []
    for calls in _by_episode(fixtures, tools | remembered).values():
        events: list[Event] = []
        for fixture in calls:
            event = _event(fixture, essence)
            if event is None:
                continue
            if event.tool in tools:
                found.append(Case(fixture, event, events, len(events), states.get(id(fixture))))
            if event.tool in remembered:
                events.append(event)
    return found


def events_of(fixtures: Sequence[Fixture], essence: Callable[[ToolCall], Mapping[str, Json]]) -> dict[str, list[Event]]:
    """The recorded calls of all tools, by episode, as what happened there."""
    tools = {fixture.call.name for fixture in fixtures}
    return {
        episode: [event for fixture in calls if (event := _event(fixture, essence)) is not None]
        for episode, calls in _by_episode(fixtures, tools).items()
    }


def _by_episode(fixtures: Sequence[Fixture], tools: Set[str]) -> dict[str, list[Fixture]]:
    """The calls of these tools, by episode and in their order."""
    found: dict[str, list[Fixture]] = {}
    for fixture in fixtures:
        if fixture.call.name in tools:
            found.setdefault(fixture.episode, []).append(fixture)
    return {episode: sorted(calls, key=lambda each: each.position) for episode, calls in found.items()}


def _event(fixture: Fixture, essence: Callable[[ToolCall], Mapping[str, Json]]) -> Event | None:
    """A recorded call as what happened; None where it is nested too deeply to be compared with anything."""
    call, result = fixture.call, fixture.result
    try:
        return Event(call.name, essence(call), result.value(), is_error=result.is_error, result=result)
    except RecursionError:
        return None
