"""What becomes of a state when a call was really answered so: its rule's changes, and all that the answer shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

from envace_sdk.errors import DynamicsError
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.tools.model import Tool

from .absorb import absorb, shown_entities
from .answer import Answer
from .dynamics import Dynamics, ToolRule
from .interpret import Interpreter
from .keys import Document, get_path, key_text, keyed
from .state import State

__all__ = ["Observer", "minted_key", "writes"]

_MOST = 2000
"""Items of one list that are looked at."""


def writes(tool: Tool, rule: ToolRule | None) -> bool:
    """Whether the tool may change the world, as far as its rule, else its own hint, says."""
    if rule is None or rule.effect == "opaque":
        return tool.annotations.get("readOnlyHint") is not True
    return rule.effect in {"create", "update", "delete"} or bool(rule.also)


def minted_key(rule: ToolRule | None, dynamics: Dynamics, value: Json) -> Json:
    """The key that the real server minted, where the answer of a create shows it; else None."""
    if rule is None or rule.effect != "create" or rule.collection is None:
        return None
    fields = dynamics.collections[rule.collection].key_fields
    for collection, _, shown in shown_entities(value, rule, dynamics):
        if collection == rule.collection:
            parts: list[Json | Unset] = [get_path(shown, field) for field in fields]
            known: list[Json] = [part for part in parts if part is not UNSET]
            return known if len(parts) > 1 else known[0] if known else None
    return None


class Observer:
    """Takes in what real calls were answered.

    Args:
        interpreter: the rules.
    """

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter

    @property
    def _dynamics(self) -> Dynamics:
        return self._interpreter.dynamics

    def after(self, tool: Tool, arguments: Mapping[str, Json], value: Json, state: State, random: Random) -> State:
        """The state after a call that succeeded with `value`: what its rule changes, corrected by what that shows."""
        rule = self._dynamics.tools.get(tool.name)
        if rule is None or rule.effect == "opaque":
            return absorb(value, rule, self._dynamics, state, only_new=not writes(tool, rule))
        if self._interpreter.declines(tool, value):
            return state
        before, changing = state, writes(tool, rule)
        named = self._named(rule, tool, arguments, state)
        if named is not None and rule.effect != "create":
            state = _merged(state, *named)
        if changing:
            state = self._with_needed(tool, arguments, state)
            answer = self._run(tool, arguments, state, random, minted_key(rule, self._dynamics, value))
            if answer is not None and answer.error is None:
                state = answer.state
        if rule.effect == "delete":
            return state
        state = absorb(value, rule, self._dynamics, state, only_new=not changing, before=before)
        if named is not None and rule.effect == "read":
            state = _merged(state, named[0], named[1], _projected(rule, value))
        for collection, key, fields in self._listed(rule, tool, arguments, value, state):
            state = _merged(state, collection, key, fields)
        return state

    def _with_needed(self, tool: Tool, arguments: Mapping[str, Json], state: State) -> State:
        """With what else the call needs, and nothing has been heard of: the call succeeded, so it was there."""
        for collection, key, value in self._interpreter.needs(tool, arguments, state):
            fields = self._dynamics.collections[collection].key_fields
            if len(fields) == 1 and state.get(collection, key) is None:
                state = state.put(collection, key, keyed(fields, [value]))
        return state

    def _named(
        self, rule: ToolRule, tool: Tool, arguments: Mapping[str, Json], state: State
    ) -> tuple[str, str, Document] | None:
        """The entity that the call names: its collection, its key and the fields of that. It was there."""
        if rule.effect not in {"read", "update", "delete"} or rule.collection is None:
            return None
        try:
            key = self._interpreter.key(tool, arguments, state)
        except DynamicsError:
            return None
        fields = self._dynamics.collections[rule.collection].key_fields
        parts = key if isinstance(key, list) and len(fields) > 1 else [key]
        if key is None or len(parts) != len(fields):
            return None
        return rule.collection, key_text(key), keyed(fields, parts)

    def _listed(
        self, rule: ToolRule, tool: Tool, arguments: Mapping[str, Json], value: Json, state: State
    ) -> Iterator[tuple[str, str, Document]]:
        """The entities that the items of a list stand for, where the rule says which."""
        if rule.returns.item_key is None or rule.collection is None:
            return
        fields = self._dynamics.collections[rule.collection].key_fields
        if len(fields) != 1:
            return
        items = _items(value)
        for key, item in zip(self._interpreter.item_keys(tool, arguments, items, state), items, strict=False):
            if isinstance(key, str | int) and not isinstance(key, bool):
                shown = item if isinstance(item, dict) else {}
                yield rule.collection, key_text(key), {**shown, fields[0]: key}

    def _run(
        self, tool: Tool, arguments: Mapping[str, Json], state: State, random: Random, minted: Json
    ) -> Answer | None:
        """What the rules say of a call; nothing where they cannot be computed on what was observed."""
        try:
            return self._interpreter.run(tool, arguments, state, random, minted=minted, silent=True)
        except DynamicsError:
            return None


def _projected(rule: ToolRule, value: Json) -> Document:
    """The fields of the entity that an answer in the form of the rule shows."""
    told = rule.returns
    if told.wrap is not None and isinstance(value, dict):
        value = value.get(told.wrap)
    if told.fields is None or not isinstance(value, dict):
        return {}
    return {name: value[name] for name in told.fields if name in value}


def _items(value: Json) -> list[Json]:
    """The list that an answer is, or that it holds."""
    if isinstance(value, dict):
        value = next((part for part in value.values() if isinstance(part, list)), None)
    return value[:_MOST] if isinstance(value, list) else []


def _merged(state: State, collection: str, key: str, shown: Document) -> State:
    held = state.get(collection, key)
    if held is None:
        return state.put(collection, key, shown)
    if all(name in held and held[name] == part for name, part in shown.items()):
        return state
    return state.put(collection, key, {**held, **shown})
