"""Write back: the entities an answer shows enter the world, so that later reads agree with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from envace_sdk.json import Json

from .dynamics import Dynamics, ToolRule
from .keys import get_path, key_of
from .state import State

__all__ = ["absorb", "amend", "shown_entities"]

Shown: TypeAlias = tuple[str, str, dict[str, Json]]
"""Collection, key text, and what the answer shows of the entity."""


def absorb(
    value: Json,
    rule: ToolRule | None,
    dynamics: Dynamics,
    state: State,
    *,
    only_new: bool = False,
    only_open: bool = False,
    before: State | None = None,
) -> State:
    """The state with the entities of `value` in it: new ones added, known ones brought up to what is shown.

    With `only_new` known ones stay as they are: an answer may show an entity with fields that are no part of it. Known
    is what was in `before`, where that is given. With `only_open` nothing enters collections of which all is known.
    """
    for collection, key, shown in shown_entities(value, rule, dynamics):
        if only_open and not dynamics.collections[collection].open:
            continue
        held = state.get(collection, key)
        is_new = before is not None and before.get(collection, key) is None
        if held is None:
            state = state.put(collection, key, shown)
        elif (is_new or not only_new) and any(
            field not in held or held[field] != part for field, part in shown.items()
        ):
            state = state.put(collection, key, {**held, **shown})
    return state


def amend(value: Json, rule: ToolRule | None, dynamics: Dynamics, state: State) -> State:
    """The state with the fields that it holds of the entities of `value` as they are shown there."""
    for collection, key, shown in shown_entities(value, rule, dynamics):
        held = state.get(collection, key)
        news = {field: part for field, part in shown.items() if held and field in held and held[field] != part}
        if held is not None and news:
            state = state.put(collection, key, {**held, **news})
    return state


def shown_entities(value: Json, rule: ToolRule | None, dynamics: Dynamics) -> Iterator[Shown]:
    """The entities in an answer.

    An object counts as an entity of a collection when it holds the collection's key *and* stands where one belongs:
    as the answer of a tool about that collection (bare, wrapped or listed), or under the collection's own name or
    noun. Holding the key alone is not enough, since references do too: where the rule says under which name the entity
    or the list is, what stands beside it is no part of it.
    """
    collection = rule.collection if rule else None
    wrap = rule.returns.wrap if rule else None
    if wrap is None or not isinstance(value, dict) or wrap not in value:
        yield from _walk(value, collection, dynamics, 0)
        return
    for name, part in value.items():
        yield from _walk(part, collection if name == wrap else _named(name, dynamics), dynamics, 1)


def _walk(value: Json, collection: str | None, dynamics: Dynamics, depth: int) -> Iterator[Shown]:
    if depth > 8:
        return
    if isinstance(value, list):
        for item in value:
            yield from _walk(item, collection, dynamics, depth + 1)
    elif isinstance(value, dict):
        found = _entity(value, collection, dynamics)
        if found is not None:
            yield found
        for name, part in value.items():
            if isinstance(part, dict | list):
                inner = _named(name, dynamics) or (collection if found is None else None)
                yield from _walk(part, inner, dynamics, depth + 1)


def _entity(value: dict[str, Json], collection: str | None, dynamics: Dynamics) -> Shown | None:
    if collection is None:
        return None
    rule = dynamics.collections[collection]
    if any(isinstance(get_path(value, field), dict | list) for field in rule.key_fields):
        return None  # {"service": {"service": "mail", …}}: a wrapper that is called like the key
    key = key_of(value, rule.key)
    return None if key is None or len(value) <= len(rule.key_fields) else (collection, key, value)


def _named(name: str, dynamics: Dynamics) -> str | None:
    plain = name.casefold()
    for collection, rule in dynamics.collections.items():
        if plain in {collection.casefold(), rule.noun.casefold()}:
            return collection
    return None
