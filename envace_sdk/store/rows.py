"""The rows of one world: written in batches, copied, and read back as a state.

A world may have a base, a state that is kept once for many worlds: then its rows are what differs from that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

import immutables
from sqlalchemy import Connection, Executable, Row, Table, bindparam, delete, insert, literal, select
from sqlalchemy.dialects import postgresql, sqlite

from envace_sdk.errors import StoreError
from envace_sdk.json import Json
from envace_sdk.world.collection import Collection
from envace_sdk.world.following import follow
from envace_sdk.world.index import Entry
from envace_sdk.world.state import State

from .bases import BASE, Base, Bases
from .changes import COUNTER, HISTORY, NEXT, changes
from .schema import entities, facts

__all__ = ["copy", "put_facts", "read", "write"]

_BATCH: Final = 5_000


def write(connection: Connection, world_id: int, before: State, after: State, base: Base | None = None) -> Base | None:
    """Put and delete the rows of a world, so that they become those of `after`; gives the base it has from now on."""
    found = changes(before, after)
    if base is not None and not (
        base.entities.isdisjoint(found.entities_gone) and base.facts.isdisjoint(found.facts_gone)
    ):
        # Without its row, the base would show through: the world gets all its rows, and no base.
        for table in (entities, facts):
            connection.execute(delete(table).where(table.c.world_id == world_id))
        found, base = changes(State(), after), None
    _delete(connection, entities, world_id, found.entities_gone)
    _delete(connection, facts, world_id, found.facts_gone)
    _put(connection, entities, world_id, found.entities)
    _put(connection, facts, world_id, found.facts)
    return base


def put_facts(connection: Connection, world_id: int, found: Sequence[dict[str, Any]]) -> None:
    """Put these facts of a world."""
    _put(connection, facts, world_id, found)


def copy(connection: Connection, source: int, target: int) -> None:
    """Give a world the rows of another, without their leaving the database."""
    for table in (entities, facts):
        rest = [column for column in table.c if column is not table.c.world_id]
        rows = select(literal(target), *rest).where(table.c.world_id == source)
        connection.execute(insert(table).from_select([table.c.world_id, *rest], rows))


def read(connection: Connection, world: Row[Any], bases: Bases) -> tuple[State, Base | None]:
    """The state of the world whose row this is, and its base. Raises: StoreError when rows are damaged."""
    try:
        return _read(connection, world, bases)
    except KeyError as error:
        raise StoreError(f"world {world.name!r} of {world.toolset!r} is damaged: {error} is not known") from error


def _read(connection: Connection, world: Row[Any], bases: Bases) -> tuple[State, Base | None]:
    known: dict[str, dict[str, Json]] = {BASE: {}, COUNTER: {}, HISTORY: {}, NEXT: {}}
    for kind, name, value in connection.execute(
        select(facts.c.kind, facts.c.name, facts.c.value).where(facts.c.world_id == world.id)
    ):
        known[kind][name] = value
    base = bases.get(connection, str(known[BASE][""])) if known[BASE] else None
    start = State() if base is None else base.state
    following = {name: collection.next_sequence for name, collection in start.collections.items()} | known[NEXT]
    entries: dict[str, list[Entry]] = {name: [] for name in following}
    removed: dict[str, list[str]] = {name: [] for name in following}
    query = (
        select(entities.c.collection, entities.c.key, entities.c.sequence, entities.c.document)
        .where(entities.c.world_id == world.id)
        .order_by(entities.c.sequence)
        .execution_options(yield_per=_BATCH)
    )
    with connection.execute(query) as found:
        for collection, key, sequence, document in found:
            if document is None:
                removed[collection].append(key)
            else:
                entries[collection].append(Entry(sequence, key, document))
    made = {
        name: Collection.restore(entries[name], removed[name], number)
        if base is None
        else follow(start.collection(name), entries[name], removed[name], number)
        for name, number in sorted(following.items())
    }
    return State(
        seed=world.seed,
        clock=world.clock,
        version=world.version,
        collections=immutables.Map(made),
        counters=start.counters.update(known[COUNTER]),
        history=start.history.update(known[HISTORY]),
    ), base


def _batches(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (rows[at : at + _BATCH] for at in range(0, len(rows), _BATCH))


def _delete(connection: Connection, table: Table, world_id: int, lookups: Sequence[bytes]) -> None:
    statement = delete(table).where(table.c.world_id == world_id, table.c.lookup == bindparam("gone"))
    for batch in _batches(lookups):
        connection.execute(statement, [{"gone": lookup} for lookup in batch])


def _put(connection: Connection, table: Table, world_id: int, rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        statement = _upsert(table, connection.dialect.name)
        for batch in _batches(rows):
            connection.execute(statement, [{"world_id": world_id, **row} for row in batch])


@cache
def _upsert(table: Table, database: str) -> Executable:
    dialect = postgresql if database == "postgresql" else sqlite
    statement = dialect.insert(table)
    changing = {column.name: statement.excluded[column.name] for column in table.c if not column.primary_key}
    upsert: Executable = statement.on_conflict_do_update(index_elements=[*table.primary_key], set_=changing)
    return upsert
