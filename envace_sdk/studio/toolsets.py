"""The toolsets that the studio shows: loaded when somebody looks at one."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from starlette.exceptions import HTTPException

from envace_sdk.mcp_servers.snapshots import Snapshots
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.store import Store
from envace_sdk.tools.shipped import shipped
from envace_sdk.world.state import State

__all__ = ["Opened", "Toolsets", "WorldRow"]


@dataclass(frozen=True, slots=True)
class WorldRow:
    """A world in a list."""

    name: str
    version: int
    clock: datetime
    entities: int | None
    """None where telling would mean to load it."""


@dataclass(frozen=True, slots=True)
class Opened:
    """One toolset, with its worlds and snapshots."""

    environment: Environment
    store: Store | None
    snapshots: Snapshots
    held: Worlds = field(repr=False)
    """Its worlds where there is no store."""

    @property
    def name(self) -> str:
        """What it is called."""
        return self.environment.toolset.name

    def worlds(self) -> Worlds:
        """Its worlds, as they are stored now: others may change them there."""
        return self.held if self.store is None else Worlds(self.environment, store=self.store)

    def rows(self) -> list[WorldRow]:
        """What there is to say of each world. Raises: StoreError."""
        if self.store is not None:
            return [WorldRow(one.name, one.version, one.clock, None) for one in self.store.worlds(self.name)]
        return [
            WorldRow(one.name, one.state.version, one.state.clock, sum(map(len, one.state.collections.values())))
            for one in self.held
        ]

    def state(self, world: str) -> State:
        """The state of a world. Raises: HTTPException (404) when there is none; StoreError."""
        if self.store is not None:
            found = self.store.load(self.name, world)
        else:
            found = self.held.get(world).state if world in self.held else None
        if found is None:
            raise HTTPException(404, f"There is no world {world!r} of {self.name!r} here.")
        return found


class Toolsets:
    """Where toolsets come from.

    Args:
        sources: what `Environment.load` takes, each with a name or None; none at all: the shipped toolsets.
        store: where their worlds are kept; None: in memory, as long as the studio runs.
    """

    def __init__(self, sources: Iterable[tuple[str | None, str]], store: Store | None = None) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._opened: dict[str, Opened] = {}
        self._waiting: Mapping[str, Path] = {}
        for name, source in sources:
            opened = self._open(Environment.load(source, name=name))
            self._opened[opened.name] = opened
        if not self._opened:
            self._waiting = shipped()

    @property
    def names(self) -> list[str]:
        """Their names."""
        return sorted({*self._opened, *self._waiting})

    @property
    def stored(self) -> list[str]:
        """The names of toolsets of which the store holds worlds. Raises: StoreError."""
        return [] if self._store is None else sorted({one.toolset for one in self._store.worlds()})

    @property
    def only(self) -> Opened | None:
        """The toolset that was named, where it is the only one."""
        return next(iter(self._opened.values())) if len(self._opened) == 1 and not self._waiting else None

    @property
    def is_stored(self) -> bool:
        """Whether worlds outlive the studio."""
        return self._store is not None

    def get(self, name: str) -> Opened:
        """The toolset of that name. Raises: HTTPException (404); EnvaceError when it cannot be loaded."""
        with self._lock:
            if name not in self._opened:
                if name not in self._waiting:
                    raise HTTPException(404, "There is no toolset of that name here.")
                self._opened[name] = self._open(Environment.load(self._waiting[name]))
            return self._opened[name]

    def close(self) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()

    def _open(self, environment: Environment) -> Opened:
        held = Worlds(environment)
        if self._store is None:
            held.get()
        return Opened(environment, self._store, Snapshots(environment.toolset.name, self._store), held)
