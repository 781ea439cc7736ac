"""What an answer showed is from now on a fact of the world."""

from __future__ import annotations

from collections.abc import Sequence

from envace_sdk.errors import WorldError
from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.world.answer import Touch
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Answer
from envace_sdk.world.keys import Document, get_path, key_text, set_path
from envace_sdk.world.names import noun_of
from envace_sdk.world.state import State

__all__ = ["KeyTakenError", "remember"]


class KeyTakenError(Exception):
    """The only key that the output schema leaves a new entity is another's."""


def remember(answer: Answer, shown: Json, before: State, dynamics: Dynamics) -> tuple[State, frozenset[Touch]]:
    """The state after the answer with what completing it added to its entities, and what the call wrote.

    An entity keeps its key. Only one that the call itself made moves to the key under which the answer shows it.

    Raises:
        KeyTakenError: another entity has that key, or had it.
    """
    state, writes = answer.state, answer.writes
    for collection, key, pointer in ((each.collection, each.key, each.pointer) for each in answer.entities):
        old, new = _at(answer.value, pointer), _at(shown, pointer)
        held = state.get(collection, key)
        if not isinstance(new, dict) or not isinstance(old, dict) or held is None:
            continue
        fields = dynamics.collections[collection].key_fields
        merged = _merged(held, old, new)
        if merged is held:
            continue
        moved = _key(merged, fields)
        if moved == key or moved == _key(held, fields):
            state = state.put(collection, key, merged)
        elif moved is not None and before.get(collection, key) is None and (collection, key) in writes:
            there = state.collection(collection)
            if moved in there or there.was_removed(moved):
                noun = noun_of(collection, dynamics.collections[collection])
                raise KeyTakenError(f"{noun[:1].upper()}{noun[1:]} '{moved}' already exists")
            state = state.remove(collection, key).put(collection, moved, merged)
            writes = writes - {(collection, key)} | {(collection, moved)}
        else:
            state = state.put(collection, key, _with_key_of(merged, held, fields))
    return state, writes


def _merged(held: Document, old: Document, new: Document) -> Document:
    news = {
        field: value
        for field, value in new.items()
        if old.get(field, UNSET) == held.get(field, UNSET) and held.get(field, UNSET) != value
    }
    return {**held, **news} if news else held


def _key(document: Document, fields: Sequence[str]) -> str | None:
    parts: list[Json | Unset] = [get_path(document, field) for field in fields]
    if any(part is UNSET or part is None or isinstance(part, dict | list) for part in parts):
        return None
    return key_text(parts if len(parts) > 1 else parts[0])


def _with_key_of(document: Document, held: Document, fields: Sequence[str]) -> Document:
    for field in fields:
        part = get_path(held, field)
        if part is not UNSET:
            try:
                document = set_path(document, field, part)
            except WorldError:
                return held
    return document


def _at(value: Json, pointer: tuple[str | int, ...]) -> Json:
    for step in pointer:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
