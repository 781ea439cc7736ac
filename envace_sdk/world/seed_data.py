"""Start data: entities from the user's own files, which join the world before its first call.

A file holds the entities of one collection (a list; a table; or an object of entities by key), or of several
(`{"customers": […], "orders": […]}`), or is a toolset's `world.json`, or a snapshot. Which collection a list belongs
to is told by the file's name (`customers.csv`) or by the caller (`customers=people.csv`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from envace_sdk.errors import WorldError
from envace_sdk.json import Json

from .clock import parse_clock
from .collection import Collection
from .dynamics import CollectionRule, Dynamics
from .files import Rows, read_file
from .keys import Document, key_of, set_path
from .names import noun_of
from .plain import check_json
from .state import State
from .tables import typed_rows

__all__ = ["load_seed_data", "read_start"]

_NAMED = re.compile(r"(?s)([\w.-]+)=(.+)")


def load_seed_data(
    source: str | Path, dynamics: Dynamics, start: State, *, schemas: Mapping[str, Json] | None = None
) -> State:
    """The start state with the entities of a file in it; one that has the key of an earlier one replaces it.

    `source` is a path, or `collection=path`. `schemas` are the JSON Schemas of entities, by collection: a table's
    cells are typed by them, else by the entities that are there, else by what all cells of a column look like.

    Raises:
        WorldError: the file cannot be read, names no collection of the dynamics, or an entity in it is wrong;
            the message names the file, the row and the field.
    """
    name, path = _named(source)
    data = read_file(path)
    for wanted, found in _by_collection(data, name or path.stem, dynamics, path).items():
        collection = _resolve(wanted, dynamics, path)
        rule = dynamics.collections[collection]
        held = start.collection(collection)
        if isinstance(found, Rows):
            documents = typed_rows(found, (schemas or {}).get(collection), held, rule, str(path))
        else:
            documents = [_checked(item, place, path) for place, item in _listed(found, rule, wanted, path)]
        joined = dict(held.items())
        joined.update(_keyed(documents, rule, path, isinstance(found, Rows)))
        start = start.replace(collections=start.collections.set(collection, Collection(joined.items())))
    clock = data.get("clock") if isinstance(data, dict) and "collections" in data else None
    return start if clock is None else start.at(parse_clock(clock, f"{path}: clock"))


def read_start(data: Json, where: str) -> tuple[datetime | None, dict[str, Sequence[Document]]]:
    """The clock (None when not given) and the collections of a `world.json`: `{"clock": …, "collections": {…}}`.

    Raises:
        WorldError: it is not of that form; the message names the place.
    """
    if not isinstance(data, dict) or not isinstance(data.get("collections"), dict):
        raise WorldError(f"{where}: expected {{'clock': …, 'collections': {{name: [entities]}}}}")
    unknown = sorted(set(data) - {"clock", "collections"})
    if unknown:
        raise WorldError(f"{where}: {unknown[0]!r} is not known here (known: clock, collections)")
    clock = None if data.get("clock") is None else parse_clock(data["clock"], f"{where}: clock")
    for name, documents in data["collections"].items():
        if not isinstance(documents, list):
            raise WorldError(f"{where}: collections.{name}: expected a list of entities")
        for position, document in enumerate(documents):
            place = f"{where}: collections.{name}[{position}]"
            if not isinstance(document, dict):
                raise WorldError(f"{place}: expected an object")
            check_json(document, place)
    return clock, data["collections"]


def _named(source: str | Path) -> tuple[str | None, Path]:
    found = _NAMED.fullmatch(source) if isinstance(source, str) else None
    try:
        if found is None or Path(source).exists():
            return None, Path(source)
    except (OSError, ValueError) as error:
        raise WorldError(f"{str(source)[:200]!r} is not a path: {error}") from None
    return found[1], Path(found[2])


def _by_collection(data: Json | Rows, name: str, dynamics: Dynamics, path: Path) -> dict[str, Json | Rows]:
    if not isinstance(data, dict):
        return {name: data}
    if "format" in data:
        try:
            state = State.from_json(data)
        except WorldError as error:
            raise WorldError(f"{path}: {error}") from None
        return {each: list(held.values()) for each, held in sorted(state.collections.items()) if len(held)}
    if isinstance(data.get("collections"), dict):
        return dict(read_start(data, str(path))[1])
    if _find(name, dynamics) is None or all(_find(each, dynamics) is not None for each in data):
        return data
    return {name: data}


def _resolve(name: str, dynamics: Dynamics, path: Path) -> str:
    found = _find(name, dynamics)
    if found is None:
        known = ", ".join(sorted(dynamics.collections)) or "none"
        raise WorldError(
            f"{path}: there is no collection {name!r} (there are: {known}); say which one with `collection={path}`"
        )
    return found


def _find(name: str, dynamics: Dynamics) -> str | None:
    """A collection by its name or its noun, whatever their case and punctuation."""
    if name in dynamics.collections:
        return name
    plain = _plain(name)
    for each, rule in dynamics.collections.items():
        if plain in {_plain(each), _plain(noun_of(each, rule)), _plain(noun_of(each))}:
            return each
    return None


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def _listed(found: Json, rule: CollectionRule, name: str, path: Path) -> list[tuple[str, Json]]:
    """The entities of one collection with where they stand: a list, one entity, or an object of them by key."""
    if isinstance(found, list):
        return [(f"{name}[{position}]", item) for position, item in enumerate(found)]
    if isinstance(found, dict):
        if key_of(found, rule.key) is not None:
            return [(name, found)]
        if isinstance(rule.key, str) and found and all(isinstance(item, dict) for item in found.values()):
            field = rule.key
            return [
                (
                    f"{name}.{key}",
                    item if key_of(item, field) is not None else set_path({field: key, **item}, field, key),
                )
                for key, item in found.items()
            ]
    raise WorldError(f"{path}: {name}: expected a list of entities")


def _checked(item: Json, place: str, path: Path) -> tuple[str, Document]:
    if not isinstance(item, dict):
        raise WorldError(f"{path}: {place}: expected an object")
    check_json(item, f"{path}: {place}")
    return place, item


def _keyed(
    documents: Sequence[tuple[str, Document]], rule: CollectionRule, path: Path, table: bool
) -> dict[str, Document]:
    keyed: dict[str, Document] = {}
    places: dict[str, str] = {}
    for place, document in documents:
        key = key_of(document, rule.key)
        if key is None:
            wanted = " and ".join(map(repr, rule.key_fields))
            has = ", ".join(list(document)[:12]) or "nothing"
            kind = "columns" if table else "fields"
            raise WorldError(f"{path}: {place}: no key: it needs {wanted} (its {kind}: {has})")
        if key in keyed:
            raise WorldError(f"{path}: {place}: the key {key!r} is also that of {places[key]}")
        keyed[key] = document
        places[key] = place
    return keyed
