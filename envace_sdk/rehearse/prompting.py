"""What the environment role is told of a call: the tool, recorded calls like it, what it touches, what came before.

Serving and training use the same prompts, so that a policy is asked in the way in which it was trained.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, Self

from pydantic import TypeAdapter

from envace_sdk.errors import ModelError
from envace_sdk.json import Json
from envace_sdk.models.model import ChatModel, Message
from envace_sdk.roles import Step, Style, rehearse_prompt
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.keys import key_text
from envace_sdk.world.state import State

from .nearest import Nearest

__all__ = ["ABOUT", "PromptSettings", "RehearsalPrompts"]

ABOUT: Final = "envace.json"
"""The file in a trained model's folder that says in which prompts it was trained."""

_SEARCHED: Final = 5
"""Entities that are shown of a collection that is searched."""
_DEPTH: Final = 6


@dataclass(frozen=True, slots=True)
class PromptSettings:
    """How much the environment role is told."""

    style: Style = "json"
    """`compact` for small models."""
    examples: int = 3
    """Recorded calls of the same tool."""
    entities: int = 8
    """Things in the world that the call touches. 0: the role has to know, or make up, what there is."""
    history: int = 8
    """Earlier calls."""
    budget: int | None = 24_000
    """The most characters of a prompt; see `rehearse_prompt` for what goes first."""

    @classmethod
    def of(cls, model: ChatModel) -> Self:
        """What a model was trained with, where the folder it was loaded from says so; else the defaults.

        Raises:
            ModelError: what it says cannot be read.
        """
        folder = getattr(model, "folder", None)
        path = None if folder is None else Path(folder) / ABOUT
        if path is None or not path.is_file():
            return cls()
        try:
            return TypeAdapter(cls).validate_python(json.loads(path.read_text(encoding="utf-8"))["rehearsal"])
        except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
            raise ModelError(f"{path}: cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class RehearsalPrompts:
    """Prompts for the calls of one toolset.

    Args:
        dynamics: what the tools are about.
        fixtures: recorded calls.
        settings: how much is told.
    """

    dynamics: Dynamics = field(default_factory=Dynamics)
    fixtures: Sequence[Fixture] = ()
    settings: PromptSettings = PromptSettings()
    _nearest: Nearest = field(init=False, repr=False, compare=False, default_factory=lambda: Nearest(()))

    def __post_init__(self) -> None:
        object.__setattr__(self, "_nearest", Nearest(self.fixtures))

    def messages(
        self,
        tool: Tool,
        call: ToolCall,
        state: State,
        history: Sequence[Step] = (),
        *,
        without: str | None = None,
    ) -> tuple[Message, ...]:
        """The prompt for one call.

        Args:
            tool: the tool that is called.
            call: the call.
            state: the world before it.
            history: earlier calls with their answers, oldest first.
            without: a recorded episode that is not told of, because the call is from it.
        """
        settings = self.settings
        nearest = self._nearest.find(call, settings.examples, without=without)
        return rehearse_prompt(
            tool,
            call,
            examples=[(fixture.call, fixture.result) for fixture in nearest],
            entities=self.touched(call, state),
            history=history[-settings.history :] if settings.history else (),
            style=settings.style,
            budget=settings.budget,
        )

    def touched(self, call: ToolCall, state: State) -> Mapping[str, Sequence[Json]]:
        """By collection, the entities that the call names, those that these name, and some of what it searches."""
        found: dict[tuple[str, str], Json] = {}
        rule = self.dynamics.tools.get(call.name)
        own = [rule.collection] if rule is not None and rule.collection is not None else []
        names = [*own, *(name for name in self.dynamics.collections if name not in own)]
        for key in _texts(dict(call.arguments), 0):
            self._add(names, key, state, found)
        if rule is not None and rule.effect == "search" and own:
            for key, document in islice(state.collection(own[0]).items(), _SEARCHED):
                found.setdefault((own[0], key), document)
        for document in list(found.values()):
            for field_name, value in document.items() if isinstance(document, dict) else ():
                if isinstance(value, str):
                    self._add(self._named(field_name), value, state, found)
        touched: dict[str, list[Json]] = {}
        for (collection, _), document in islice(found.items(), self.settings.entities):
            touched.setdefault(collection, []).append(document)
        return touched

    def _add(self, names: Sequence[str], key: str, state: State, found: dict[tuple[str, str], Json]) -> None:
        for name in names:
            document = state.get(name, key)
            if document is not None:
                found.setdefault((name, key), document)

    def _named(self, field_name: str) -> list[str]:
        """The collections whose key field is called so."""
        return [name for name, rule in self.dynamics.collections.items() if rule.key_fields == [field_name]]


def _texts(value: Json, depth: int) -> Iterator[str]:
    """The scalars of a call's arguments, as keys would be written."""
    if isinstance(value, dict | list) and depth < _DEPTH:
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part, depth + 1)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield key_text(value)
