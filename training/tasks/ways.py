"""How an entity may be told of: by its key, by what it is like, or by what refers to it; and the calls that find it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Final, Literal

from envace_sdk.errors import EnvaceError
from envace_sdk.json import UNSET, Json
from envace_sdk.rehearse.base import Rehearsal
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.absorb import shown_entities
from envace_sdk.world.dynamics import ToolRule
from envace_sdk.world.keys import get_path
from envace_sdk.world.state import State

from .atlas import Atlas
from .words import value_words, words

__all__ = ["TRUSTED", "Way", "found_keys", "tell", "tried"]

TRUSTED: Final = frozenset({"fixture", "dynamics", "precedent"})
"""Layers whose answers a task may be built on: what a schema alone allows was made up."""

_SHORTEST: Final = 3
_LONGEST: Final = 60
_MOST_TRIES: Final = 6


@dataclass(frozen=True, slots=True)
class Way:
    """One way of telling which entity is meant."""

    kind: Literal["key", "search", "reference"]
    subject: str
    """The entity as a noun phrase: "order TT-1", "the customer whose email is a@example.net"."""
    value: str
    """Its key in a sentence: "TT-1", "that of the customer whose email is a@example.net"."""
    calls: tuple[ToolCall, ...] = ()
    """What has to be called to learn the key."""


async def tell(
    atlas: Atlas, state: State, collection: str, key: str, random: Random, *, hidden: float, shown: Collection[str]
) -> Way:
    """A way of telling which entity is meant.

    Args:
        atlas: of the world.
        state: the world as it is when the entity is looked for.
        collection: of the entity.
        key: of the entity.
        random: the source of chance.
        hidden: how often the key is not told, where it can be found out.
        shown: the tools that may be used for that.
    """
    noun = atlas.noun(collection)
    if random.random() < hidden:
        found = [way async for way in _by_likeness(atlas, state, collection, key, shown)]
        found += [way async for way in _by_reference(atlas, state, collection, key, shown)]
        if found:
            return random.choice(found)
    raw = atlas.raw_key(collection, key)
    return Way("key", f"{noun} {key}", key if raw is UNSET else value_words(raw))


async def tried(atlas: Atlas, call: ToolCall, state: State) -> Rehearsal | None:
    """What the call comes to in the state; None where the environment cannot tell, or only by making it up."""
    try:
        rehearsal = await atlas.environment.rehearse(call, state)
    except EnvaceError:
        return None
    return rehearsal if rehearsal.layer in TRUSTED else None


def found_keys(atlas: Atlas, rule: ToolRule, value: Json) -> list[str]:
    """The keys of the entities of the rule's own collection that an answer shows, each once."""
    shown = shown_entities(value, rule, atlas.environment.dynamics)
    return list(dict.fromkeys(key for collection, key, _ in shown if collection == rule.collection))


async def _by_likeness(
    atlas: Atlas, state: State, collection: str, key: str, shown: Collection[str]
) -> AsyncIterator[Way]:
    """By a search that finds this one and no other."""
    document = state.get(collection, key) or {}
    tries = 0
    for tool, rule in _tools(atlas, collection, "search", shown):
        must = tool.input_schema.get("required")
        required = must if isinstance(must, list) else []
        for argument, narrowing in rule.filters.items():
            fields = dict.fromkeys([narrowing.field, *narrowing.any_of])
            for field in fields if narrowing.op in {"equals", "iequals", "contains"} else ():
                value = get_path(document, field)
                if not _is_telling(value, key) or set(required) - {argument} or tries >= _MOST_TRIES:
                    continue
                tries += 1
                call = ToolCall(tool.name, {argument: value})
                rehearsal = await tried(atlas, call, state)
                if rehearsal is None or rehearsal.result.is_error:
                    continue
                if found_keys(atlas, rule, rehearsal.result.value()) == [key]:
                    subject = f"the {atlas.noun(collection)} whose {words(field)} is {value_words(value)}"
                    yield Way("search", subject, f"that of {subject}", (call,))


async def _by_reference(
    atlas: Atlas, state: State, collection: str, key: str, shown: Collection[str]
) -> AsyncIterator[Way]:
    """By another entity that can be read, and names this one."""
    for other, other_key, field in list(atlas.mentions(collection, key))[:_MOST_TRIES]:
        for tool, _ in _tools(atlas, other, "read", shown):
            argument = atlas.key_argument(tool)
            if argument is None:
                continue
            call = ToolCall(tool.name, {argument: atlas.raw_key(other, other_key)})
            rehearsal = await tried(atlas, call, state)
            if rehearsal is None or rehearsal.result.is_error:
                continue
            if any(value == key for value in _leaves(rehearsal.result.value(), field)):
                subject = f"the {atlas.noun(collection)} of {atlas.noun(other)} {other_key}"
                yield Way("reference", subject, f"that of {atlas.noun(other)} {other_key}", (call,))


def _tools(atlas: Atlas, collection: str, effect: str, shown: Collection[str]) -> Iterator[tuple[Tool, ToolRule]]:
    for tool in atlas.environment.toolset:
        rule = atlas.environment.dynamics.tools.get(tool.name)
        if rule is not None and rule.effect == effect and rule.collection == collection and tool.name in shown:
            yield tool, rule


def _is_telling(value: Json, key: str) -> bool:
    return isinstance(value, str) and _SHORTEST <= len(value) <= _LONGEST and value != key and value.isprintable()


def _leaves(value: Json, field: str) -> Iterator[Json]:
    """What an answer shows under a field, at the top or one object below."""
    if isinstance(value, Mapping):
        for part in (value, *(inner for inner in value.values() if isinstance(inner, Mapping))):
            held = get_path(dict(part), field)
            if held is not UNSET:
                yield held
