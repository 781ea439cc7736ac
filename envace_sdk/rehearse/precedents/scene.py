"""A call in its situation: its arguments, and what happened before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from envace_sdk.json import Json
from envace_sdk.world.state import State

from .events import Event, Leaf, call_key, leaves

__all__ = ["REMEMBERED", "Scene"]

REMEMBERED = 200
"""How many earlier calls are looked back on."""

_MOST_LEAVES = 60
_MOST_FIELDS = 40


class Scene:
    """One call, with the events before it (oldest first) and the state of the world, as far as they are known."""

    def __init__(self, tool: str, arguments: Mapping[str, Json], past: Sequence[Event], state: State | None) -> None:
        self.tool = tool
        self.arguments = arguments
        self.past = past
        self.state = state

    @cached_property
    def key(self) -> str:
        """The digest of the call."""
        return call_key(self.tool, self.arguments)

    @cached_property
    def given(self) -> tuple[Leaf, ...]:
        """The single values of the arguments."""
        found = []
        for leaf in leaves(self.arguments):
            found.append(leaf)
            if len(found) >= _MOST_LEAVES:
                break
        return tuple(found)

    @cached_property
    def done(self) -> dict[str, list[Event]]:
        """By tool, its successes, the latest first; tools in the order of their latest success."""
        found: dict[str, list[Event]] = {}
        for event in reversed(self.past):
            if not event.is_error:
                found.setdefault(event.tool, []).append(event)
        return found

    def last(self, tool: str) -> Event | None:
        """The latest success of a tool."""
        done = self.done.get(tool)
        return done[0] if done else None

    def linked(self, tool: str, text: str) -> Event | None:
        """The latest success of a tool in which a value stands alone, among its arguments or in its answer."""
        for event in self.done.get(tool, ()):
            if text in event.given_texts or any(text == shown for _, shown, _ in event.shown):
                return event
        return None

    def about(self, text: str) -> Mapping[str, Json]:
        """What earlier calls said last of the thing that a value names, by the name of the field."""
        known = self._about.get(text)
        if known is None:
            known = self._about[text] = {}
            for event in reversed(self.past):
                if not event.is_error:
                    for name, value in event.said_of(text).items():
                        known.setdefault(name, value)
                if len(known) >= _MOST_FIELDS:
                    break
        return known

    @cached_property
    def _about(self) -> dict[str, dict[str, Json]]:
        return {}

    @cached_property
    def again(self) -> Event | None:
        """The latest event of the very same call."""
        return next((event for event in reversed(self.past) if event.key == self.key), None)
