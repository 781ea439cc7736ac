"""What an expression can see: the names bound for it, the world, the time and the source of chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any

from envace_sdk.json import Json

from ..collection import Collection
from ..dynamics import Dynamics
from ..keys import Document
from ..mint import mint_key
from ..state import State
from .failure import ExhaustedError, FailedError
from .values import name_text

__all__ = ["MAX_STEPS", "CollectionView", "Scope", "WorldView"]

MAX_STEPS = 1_000_000
"""Elements looked at, and blocks of text made, by all expressions that share a scope: a second or two at most."""
TEXT_STEP = 32
"""Characters of text that cost one step."""


class Scope:
    """The surroundings of an expression; one is made per call.

    Functions may change `state` (minting a key takes a number), so whoever made the scope goes on with the
    state it finds here afterwards.
    """

    __slots__ = ("_random", "dynamics", "functions", "key_schema", "names", "reads", "seen", "state", "steps")

    def __init__(
        self,
        names: dict[str, Any],
        state: State,
        *,
        random: Random | None = None,
        dynamics: Dynamics | None = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        steps: int = MAX_STEPS,
        key_schema: Callable[[str], Json] | None = None,
    ) -> None:
        self.names = names
        """Every name but `world` and `now`, which come from the state unless they are given here."""
        self.state = state
        self.dynamics = dynamics
        self.functions = functions or {}
        """What the names in `compile_expression(extra=…)` do."""
        self.steps = steps
        self.key_schema = key_schema
        """By collection, the schema that new keys must meet."""
        self.reads: set[tuple[str, str | None]] = set()
        """Collection and key of every entity that was looked at; None for the key: all of them."""
        self.seen: dict[int, tuple[str, str, Document]] = {}
        """By identity, the documents that were handed out, so that an answer can tell entities from copies."""
        self._random = random

    @property
    def random(self) -> Random:
        """The source of chance; seeded by the state when none was given."""
        if self._random is None:
            self._random = self.state.random()
        return self._random

    def spend(self, steps: int) -> None:
        """Account for work. Raises: ExhaustedError when there has been too much of it."""
        self.steps -= steps
        if self.steps < 0:
            raise ExhaustedError("it takes too many steps")

    def spend_text(self, length: int) -> None:
        """Account for a text that is read or made."""
        if length >= TEXT_STEP:
            self.spend(length // TEXT_STEP)

    def collection(self, name: str) -> Collection:
        """A collection by name, which must be one of the dynamics', or in the world."""
        found = self.state.collections.get(name)
        if found is None:
            if self.dynamics is None or name not in self.dynamics.collections:
                known = sorted({*self.state.collections, *(self.dynamics.collections if self.dynamics else ())})
                raise FailedError(f"there is no collection {name!r} (there are: {', '.join(known) or 'none'})")
            found = self.state.collection(name)
        return found

    def get(self, name: str, key: str) -> Document | None:
        """An entity, which is noted as read."""
        document = self.collection(name).get(key)
        self.reads.add((name, key))
        if document is not None:
            self.seen[id(document)] = (name, key, document)
        return document

    def mint(self, name: str) -> Json:
        """A key that no entity has or had. Raises: WorldError when none can be found."""
        rule = self.dynamics.collections.get(name) if self.dynamics is not None else None
        if rule is None:
            raise FailedError(f"no rule tells how keys of {name!r} are made")
        key, self.state = mint_key(name, rule, self.state, self.random, schema=self.wanted_key(name))
        return key

    def wanted_key(self, name: str) -> Json:
        """The schema of an entity as far as its key goes, or None."""
        return None if self.key_schema is None else self.key_schema(name)


class WorldView:
    """`world` in an expression: its collections by name. `start` and the like can be further ones."""

    __slots__ = ("_scope", "name")

    def __init__(self, scope: Scope, name: str = "world") -> None:
        self._scope = scope
        self.name = name

    @classmethod
    def of(cls, state: State, name: str, dynamics: Dynamics | None = None) -> WorldView:
        """A view of another state than the scope's."""
        return cls(Scope({}, state, dynamics=dynamics), name)

    def member(self, name: str) -> CollectionView:
        """A collection; one that does not exist is an error."""
        return CollectionView(self._scope, name)

    def __str__(self) -> str:
        return self.name

    def as_json(self) -> Json:
        """The whole world, if it is small enough."""
        names = sorted(self._scope.state.collections)
        return {name: CollectionView(self._scope, name).as_json() for name in names}


class CollectionView:
    """`world.orders` in an expression: a map from keys to entities, never copied."""

    __slots__ = ("collection", "name", "scope")

    def __init__(self, scope: Scope, name: str) -> None:
        self.scope = scope
        self.name = name
        self.collection = scope.collection(name)

    def get(self, key: Any) -> Document | None:
        """The entity of a key, or None."""
        return self.scope.get(self.name, name_text(key))

    def __len__(self) -> int:
        self.scope.reads.add((self.name, None))
        return len(self.collection)

    def __contains__(self, key: object) -> bool:
        text = name_text(key)
        self.scope.reads.add((self.name, text))
        return text in self.collection

    def items(self) -> Iterator[tuple[str, Document]]:
        """Keys and entities in the order of creation."""
        self.scope.reads.add((self.name, None))
        seen = self.scope.seen
        for key, document in self.collection.items():
            seen[id(document)] = (self.name, key, document)
            yield key, document

    def __str__(self) -> str:
        return f"the collection {self.name}"

    def as_json(self) -> Json:
        """All of its entities by key, if there are not too many."""
        self.scope.spend(len(self.collection))
        return dict(self.items())
