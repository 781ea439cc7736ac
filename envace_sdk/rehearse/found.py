"""What recordings show to have been there when they began."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool
from envace_sdk.world.absorb import shown_entities
from envace_sdk.world.diff import diff
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.observing import writes
from envace_sdk.world.state import State

__all__ = ["Found"]


class Found:
    """Gathers entities from episode after episode: one was there if it was read before any recorded write to it."""

    def __init__(self, tools: Mapping[str, Tool], dynamics: Dynamics, after: Callable[[Fixture, State], State]) -> None:
        self._tools = tools
        self._dynamics = dynamics
        self._after = after
        self._known: set[tuple[str, str]] = set()
        """Entities that are known from recordings alone."""

    def at_start(self, episode: Sequence[Fixture], start: State) -> State:
        """`start` with what the episode shows to have been there; what was there otherwise is left as it is."""
        touched: set[tuple[str, str]] = set()
        state = start
        for fixture in sorted(
            (f for f in episode if f.is_call and f.call.name in self._tools), key=lambda f: f.position
        ):
            call, rule = fixture.call, self._dynamics.tools.get(fixture.call.name)
            changing = writes(self._tools[call.name], rule)
            if not changing and not fixture.result.is_error:
                for collection, key, shown in shown_entities(fixture.result.value(), rule, self._dynamics):
                    held = start.get(collection, key)
                    if (collection, key) in touched or (held is not None and (collection, key) not in self._known):
                        continue
                    self._known.add((collection, key))
                    start = start.put(collection, key, shown if held is None else {**shown, **held})
            after = self._after(fixture, state)
            if changing:
                touched |= {(change.collection, change.key) for change in diff(state, after)}
            state = after
        return start
