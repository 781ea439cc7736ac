"""A named world: the one mutable holder of a state."""

from __future__ import annotations

import asyncio

from .state import State

__all__ = ["World"]


class World:
    """A name, the state it is in now, and the state it can be reset to.

    Whoever reads the state, derives another and commits that must hold `lock` from reading to committing.
    """

    __slots__ = ("lock", "name", "origin", "state")

    def __init__(self, name: str, state: State, origin: State | None = None) -> None:
        self.name = name
        self.state = state
        self.origin = state if origin is None else origin
        self.lock = asyncio.Lock()

    def fork(self, name: str) -> World:
        """Another world that begins where this one is, at no cost; resetting it leads back to here."""
        return World(name, self.state)

    def snapshot(self) -> State:
        """The state as it is; it never changes."""
        return self.state

    def commit(self, state: State) -> None:
        """Take a derived state as this world's."""
        self.state = state

    def restore(self, state: State) -> None:
        """Go to a state that was taken earlier, or elsewhere; `reset` still leads to the origin."""
        self.state = state

    def reset(self) -> None:
        """Go back to the origin."""
        self.state = self.origin

    def __repr__(self) -> str:
        return f"<World {self.name!r} at version {self.state.version}>"
