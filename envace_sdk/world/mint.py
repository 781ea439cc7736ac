"""New keys for new entities: they look like the ones that are there, and are never used twice."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from random import Random

from envace_sdk.errors import SchemaError, WorldError
from envace_sdk.json import UNSET, Json, Unset

from .collection import Collection
from .dynamics import CollectionRule
from .index import Entry
from .keyfield import admits, first_number, free_key
from .keys import Document, get_path, key_text
from .keyshape import Numbered, Scattered, Shape, highest, shape_of
from .minttemplate import template_shape
from .names import noun_of
from .schemakey import field_schema, shape_from_schema
from .state import State

__all__ = ["mint", "mint_key"]

_ATTEMPTS = 200
_MOST_COUNTED = 2**53
"""Higher numbers are not remembered: the entities themselves say which are taken."""
_SAMPLE = 20
"""How many entities are looked at to learn what keys look like."""


def mint(name: str, rule: CollectionRule, state: State, random: Random, schema: Json = None) -> Json:
    """A key for a new entity of a collection; of a composite key, the list of its parts.

    `schema`: the JSON Schema of such an entity. It tells what keys look like where neither the rule nor the entities
    do, and a key that its key fields do not allow is not made.

    Raises:
        WorldError: no new key can be found, or the collection's `mint` is wrong.
    """
    return mint_key(name, rule, state, random, schema=schema)[0]


def mint_key(
    name: str,
    rule: CollectionRule,
    state: State,
    random: Random,
    *,
    schema: Json = None,
    parts: Sequence[Json | Unset] = (),
) -> tuple[Json, State]:
    """Like `mint`, with the state that remembers the number it took; `parts` of a composite key may be given.

    Raises:
        WorldError: as `mint`.
    """
    fields = rule.key_fields
    made = [*parts, *[UNSET] * (len(fields) - len(parts))]
    missing = [at for at, part in enumerate(made) if part is UNSET or part is None]
    collection = state.collection(name)

    def taken(part: Json) -> bool:
        made[at] = part
        if at != missing[-1]:
            return False
        key = key_text(made if len(made) > 1 else part)
        return key in collection or collection.was_removed(key)

    for at in missing:
        made[at], state = _part(name, fields[at], rule, state, random, schema, taken)
    return (made if len(made) > 1 else made[0]), state


def _part(
    name: str,
    field: str,
    rule: CollectionRule,
    state: State,
    random: Random,
    schema: Json,
    taken: Callable[[Json], bool],
) -> tuple[Json, State]:
    wanted = field_schema(schema, field)
    shape = _shape(state.collection(name), name, field, rule, schema)
    if isinstance(shape, Numbered):
        counter = name if isinstance(rule.key, str) else f"{name}.{field}"
        number = _next_number(state, name, field, counter, rule, shape)
        if shape.integer:
            number = max(number, first_number(wanted))
        for _ in range(_ATTEMPTS):
            while taken(shape.key(number)):
                number += 1
            if admits(wanted, shape.key(number)):
                return shape.key(number), state.counted(counter, number + 1) if number < _MOST_COUNTED else state
            number += 1
    else:
        for _ in range(_ATTEMPTS):
            part = shape.key(random)
            if admits(wanted, part) and not taken(part):
                return part, state
    if wanted is None:
        raise WorldError(f"collection {name!r}: no new key found in {_ATTEMPTS} attempts; give it a longer `mint`")
    single = isinstance(rule.key, str)
    try:
        return free_key(wanted, random, taken, lambda: _used(state.collection(name), field) if single else ()), state
    except SchemaError as error:
        raise WorldError(f"collection {name!r}: no new key is left for {field!r}: {error}") from error


def _used(collection: Collection, field: str) -> Iterator[Json]:
    """The keys that are or were there, removed ones in each form that their text may have had."""
    yield from (get_path(document, field) for document in collection.values())
    for key in collection.removed():
        yield key
        if key.lstrip("-").isdecimal() and len(key) < 20:
            yield int(key)


def _shape(collection: Collection, name: str, field: str, rule: CollectionRule, schema: Json) -> Shape:
    if rule.mint and rule.mint != "{n}":
        return _template(rule.mint, integer=False)
    shape = _usual(collection, field)
    wanted = field_schema(schema, field)
    if rule.mint:
        return _typed(_template(rule.mint, integer=isinstance(shape, Numbered) and shape.integer), wanted)
    word = re.sub("[^a-z0-9]", "", noun_of(name, rule).lower())[:4]
    return _typed(shape or shape_from_schema(wanted) or _template(f"{word or 'id'}_{{hex:8}}", integer=False), wanted)


def _typed(shape: Shape, wanted: Json) -> Shape:
    """Bare numbers are integers or texts as the schema has them."""
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if kind not in ("integer", "string") or not isinstance(shape, Numbered) or shape.prefix or shape.suffix:
        return shape
    return shape if shape.integer == (kind == "integer") else replace(shape, integer=kind == "integer")


def _usual(collection: Collection, field: str) -> Shape | None:
    """What the keys that are there look like; of those that a collection started with, found once for all forks."""
    started = collection.started_with()
    if not started:
        return _common([entry.document for entry in islice(collection.entries(), _SAMPLE)], field)
    fact = ("shape", field)
    if fact not in collection.facts:
        collection.facts[fact] = _common([entry.document for entry in started[-_SAMPLE:]], field)
    found = collection.facts[fact]
    return found if isinstance(found, Numbered | Scattered) else None


def _common(documents: list[Document], field: str) -> Shape | None:
    values = [get_path(document, field) for document in documents]
    if values and all(type(value) is int for value in values):
        return Numbered("", 0, "", integer=True)
    return shape_of([value for value in values if isinstance(value, str)])


def _template(text: str, *, integer: bool) -> Shape:
    try:
        return template_shape(text, integer=integer)
    except ValueError as error:
        raise WorldError(str(error)) from None


def _next_number(state: State, name: str, field: str, counter: str, rule: CollectionRule, shape: Numbered) -> int:
    known = state.counters.get(counter)
    if known is not None:
        return known
    if rule.counts_apart:
        return max(rule.start_at, shape.first)
    part = None if isinstance(rule.key, str) else field
    return max(rule.start_at, shape.first, _highest(state.collection(name), shape, part) + 1)


def _highest(collection: Collection, shape: Numbered, field: str | None) -> int:
    """The highest number in any key of this shape; what the collection started with is counted once for all forks."""
    started = collection.started_with()
    fact = ("highest", shape, field)
    found = collection.facts.get(fact)
    if not isinstance(found, int):
        found = highest(_values(started, field), shape)
        collection.facts[fact] = found
    last = started[-1].sequence if started else -1
    fresh = highest(_values(collection.entries(after=last), field), shape)
    return max(found, fresh, highest(collection.removed(), shape))


def _values(entries: Iterable[Entry], field: str | None) -> Iterator[Json]:
    """The keys, or of composite keys the part in the field."""
    return (entry.key if field is None else get_path(entry.document, field) for entry in entries)
