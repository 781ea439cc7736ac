"""The world as the guard knows it: where it began, and what was observed since."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace

from envace_sdk.errors import EvidenceError
from envace_sdk.evidence.canonical import digest
from envace_sdk.json import Json
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.answer import Touch
from envace_sdk.world.state import State

from .action import Action
from .prediction import Prediction, WorldDiff
from .scoring import observed_status

__all__ = ["KnownWorld", "basis", "basis_now"]

_ARGUMENTS = 200
"""Values among the arguments that are looked up as keys."""
_MISSING = 10_000
"""Things that are known to be missing."""


class KnownWorld:
    """A state that follows observations; may be used from any thread. Its states never change, so each is a fork.

    Args:
        environment: what follows.
        state: where it begins; default: the environment's start.
        complete: whether it begins with all that is real.
    """

    def __init__(self, environment: Environment, state: State | None = None, *, complete: bool = False) -> None:
        self.environment = environment
        self.complete = complete
        """Whether all that is real is known, so that what is not known is not there."""
        self._missing: dict[Touch, None] = {}
        self._state = environment.start if state is None else state
        self._lock = threading.Lock()
        self._followed: set[str] = set()

    @property
    def state(self) -> State:
        """As it is now."""
        return self._state

    def is_new(self, name: str) -> bool:
        """Whether the observation of an action was not followed yet."""
        return name not in self._followed

    def observe(self, call: ToolCall, result: ToolResult, *, name: str = "") -> tuple[State, State]:
        """Let happen what really happened. The states before and after it. `name` is the action's id.

        Raises:
            EnvaceError: the environment cannot follow; the state is what it was.
        """
        with self._lock:
            before = self._state
            if name in self._followed:
                return before, before
            if call.name in self.environment.toolset:
                self._state = self.environment.observe(before, call, result)
            if name:
                self._followed.add(name)
            return before, self._state

    def doubted(self, prediction: Prediction) -> Prediction:
        """A prediction, as far as the world bears it: that something is not found can be said of what was observed to
        be missing, or of a world that is known whole. Of any other, nothing is known.
        """
        if not prediction.unseen:
            return prediction
        if self.complete or any(touch in self._missing for touch in prediction.unseen):
            return replace(prediction, unseen=())
        names = [f"{name}/{key}" if key is not None else name for name, key in prediction.unseen]
        reason = f"the guard has not seen {', '.join(names)}, which does not say that it is not there"
        return replace(prediction, status="unknown", confidence=0.0, answer="", reason=reason)

    def note_missing(self, prediction: Prediction | None, result: ToolResult) -> None:
        """Keep that what a call looked for was found to be missing: the one thing, or those that the answer names."""
        if prediction is None or not prediction.unseen or observed_status(result) != "not_found":
            return
        named = [touch for touch in prediction.unseen if touch[1] is not None]
        if len(prediction.unseen) > 1:
            named = [touch for touch in named if str(touch[1]) in result.first_text]
        with self._lock:
            self._missing |= dict.fromkeys(named)
            while len(self._missing) > _MISSING:
                del self._missing[next(iter(self._missing))]

    def restore(self, state: State) -> None:
        """Take another state for the known one."""
        with self._lock:
            self._state = state


def basis(action: Action, change: WorldDiff, state: State, *, sure: bool = True) -> str:
    """A digest of what a prediction rests on in a state: the entities that it changes, as they are before it, and
    those whose keys are among the arguments.

    Where it is not `sure` what the call reads and changes, it is the version of the whole world.
    """
    if not sure:
        return f"version {state.version}"
    named = {(each.collection, each.key) for each in change.changes if each.kind != "created"}
    keys = set(_texts(action.arguments))
    for name, collection in state.collections.items():
        named |= {(name, key) for key in keys if key in collection}
    found: list[Json] = [[name, key, state.get(name, key)] for name, key in sorted(named)]
    try:
        return digest(found)
    except EvidenceError:
        return f"version {state.version}"


def basis_now(action: Action, prediction: Prediction, state: State) -> str:
    """What the `basis` of a prediction would be in another state: where it differs, the world has moved."""
    return basis(action, prediction.change, state, sure=not prediction.basis.startswith("version "))


def _texts(value: Json) -> list[str]:
    """The texts and whole numbers in a value, which keys may equal."""
    found: list[str] = []
    rest = [value]
    while rest and len(found) < _ARGUMENTS:
        item = rest.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, int) and not isinstance(item, bool):
            found.append(str(item))
        elif isinstance(item, Mapping):
            rest.extend(item.values())
        elif isinstance(item, list | tuple):
            rest.extend(item[:_ARGUMENTS])
    return found
