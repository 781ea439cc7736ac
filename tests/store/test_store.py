import asyncio
import itertools
import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import immutables
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event, text

from envace_sdk.errors import StaleWorldError, StoreError
from envace_sdk.store import Store
from envace_sdk.store.engine import connect, default_url, writing
from envace_sdk.world.collection import Collection
from envace_sdk.world.state import State
from envace_sdk.world.world import World

ANY_TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
NAMES = ANY_TEXT | st.sampled_from(["orders", "a\x00b", "\\u0000", "a/b", "", "x" * 5000, "é", "e\u0301"])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**400), 10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(NAMES, JSON, max_size=4)
FEW_COLLECTIONS = st.sampled_from(["orders", "a\x00b"])
FEW_KEYS = st.sampled_from(["1", "2", "\x00", "\\u0000", "k" * 3000])
CLOCKS = st.datetimes(max_value=datetime(9999, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  it gets one

numbers = itertools.count()


def same(one: State | None, other: State) -> bool:
    """Equal to the last byte: Python alone takes 1, 1.0 and True for equal."""
    return one is not None and json.dumps(one.to_json()) == json.dumps(other.to_json())


def world(name: str = "w", documents: int = 3) -> World:
    made = [(f"O-{n}", {"id": f"O-{n}", "status": "open"}) for n in range(documents)]
    return World(name, State(collections=immutables.Map({"orders": Collection(made), "refunds": Collection()})))


def step(w: World, key: str = "O-1", **fields: object) -> None:
    w.commit(w.state.put("orders", key, {"id": key, **fields}).tick())


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_url(request, tmp_path_factory) -> str:
    """One database for many examples, each with a world of its own."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('shared')}/envace.db"
    return request.getfixturevalue("postgresql_url").replace("/postgres?", "/shared?")


@pytest.fixture(scope="module")
def two(shared_url) -> Iterator[tuple[Store, Store]]:
    """A store that writes and one that reads, as two processes would."""
    with Store.open(shared_url) as one, Store.open(shared_url) as other:
        yield one, other


@given(
    st.dictionaries(NAMES, st.dictionaries(NAMES, DOCUMENTS, max_size=4), max_size=3),
    CLOCKS,
    st.integers(-(10**30), 10**30),
    st.dictionaries(NAMES, st.integers(-(10**30), 10**30), max_size=3),
    st.dictionaries(NAMES, NAMES, max_size=3),
    NAMES,
)
@settings(max_examples=60, deadline=None)
def test_any_state_is_read_back_to_the_last_byte(two, collections, clock, seed, counters, history, name):
    state = State(
        seed=seed,
        clock=clock,
        version=2**53 - 1,
        collections=immutables.Map({n: Collection(documents.items()) for n, documents in collections.items()}),
        counters=immutables.Map(counters),
        history=immutables.Map(history),
    )
    toolset = f"{name}{next(numbers)}"
    two[0].save(toolset, World(name, state))
    two[0].save_snapshot(toolset, name, state, world=name)
    assert same(two[1].load(toolset, name), state)
    assert same(two[1].load_snapshot(toolset, name), state)
    assert [(w.toolset, w.name, w.seed, w.clock) for w in two[1].worlds(toolset)] == [(toolset, name, seed, clock)]


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), FEW_COLLECTIONS, FEW_KEYS, st.sampled_from([{}, {"a": 1}, {"a": 1.0}, {"a": True}])),
        st.tuples(st.just("remove"), FEW_COLLECTIONS, FEW_KEYS),
        st.tuples(st.sampled_from(["save", "load", "reset", "restore", "keep", "fork", "count", "drop"])),
        st.tuples(st.just("remember"), FEW_KEYS, st.sampled_from(["x", "y"])),
    ),
    min_size=1,
    max_size=25,
)


def apply(operation: tuple, w: World, kept: list[State]) -> None:
    match operation:
        case ("put", collection, key, document):
            w.commit(w.state.put(collection, key, document).tick())
        case ("remove", collection, key):
            w.commit(w.state.remove(collection, key))
        case ("reset",):
            w.reset()
        case ("restore",):
            w.restore(kept[0])
        case ("keep",):
            kept.insert(0, w.state)
        case ("count",):
            w.commit(w.state.replace(counters=w.state.counters.set("orders", w.state.version)))
        case ("drop",):
            gone = sorted(w.state.collections)[:1]
            w.commit(
                w.state.replace(
                    collections=immutables.Map({n: c for n, c in w.state.collections.items() if n not in gone})
                )
            )
        case ("remember", name, fact):
            w.commit(w.state.replace(history=w.state.history.set(name, fact)))


@given(OPERATIONS)
@settings(max_examples=80, deadline=None)
def test_after_any_calls_and_saves_the_database_holds_the_world(two, operations):
    writer, reader = two
    toolset = f"t{next(numbers)}"
    first = State().put("orders", "1", {"a": 1}).put("orders", "gone", {}).remove("orders", "gone")
    w, kept = World("w", first), [first]
    for operation in operations:
        if operation == ("fork",):
            writer.save(toolset, w)
            w = w.fork(w.name + "f")
        elif operation == ("load",):
            writer.save(toolset, w)
            loaded = reader.load(toolset, w.name)
            w.commit(loaded)
            writer.load(toolset, w.name)
        elif operation == ("save",):
            writer.save(toolset, w)
            assert same(reader.load(toolset, w.name), w.state)
        else:
            apply(operation, w, kept)
    writer.save(toolset, w)
    assert same(reader.load(toolset, w.name), w.state)


@pytest.fixture
def store(url) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened


def written(store: Store, act) -> int:
    """How many rows `act` has the store put or delete one by one."""
    rows: list[int] = []

    def count(_connection, _cursor, statement, parameters, _context, executemany):
        if not statement.startswith(("SELECT", "BEGIN")):
            rows.append(len(parameters) if executemany else 1)

    event.listen(store._engine, "before_cursor_execute", count)
    try:
        act()
    finally:
        event.remove(store._engine, "before_cursor_execute", count)
    return sum(rows)


def test_a_save_writes_in_proportion_to_what_changed_and_not_to_the_world(store):
    w = world(documents=2000)
    assert written(store, lambda: store.save("retail", w)) > 2000
    assert written(store, lambda: store.save("retail", w)) == 0
    step(w, status="closed")
    assert written(store, lambda: store.save("retail", w)) <= 3


def test_a_change_that_python_takes_for_none_is_saved(store, url):
    w = world()
    for value in (1, True, 1.0, 1):
        step(w, n=value)
        store.save("retail", w)
        with Store.open(url) as other:
            assert same(other.load("retail", "w"), w.state)


def test_an_entity_that_was_made_anew_comes_last(store, url):
    w = world()
    store.save("retail", w)
    document = w.state.get("orders", "O-0")
    w.commit(w.state.remove("orders", "O-0").put("orders", "O-0", document))
    store.save("retail", w)
    with Store.open(url) as other:
        assert list(other.load("retail", "w").collection("orders")) == ["O-1", "O-2", "O-0"]


def test_a_fork_is_copied_inside_the_database(store, url):
    w = world(documents=2000)
    store.save("retail", w)
    step(w, status="closed")
    store.save("retail", w)
    fork = w.fork("fork")
    step(fork, "O-2", status="lost")
    step(w, "O-3", status="later")
    store.save("retail", w)
    assert written(store, lambda: store.save("retail", fork)) < 10
    with Store.open(url) as other:
        assert same(other.load("retail", "fork"), fork.state)
        assert same(other.load("retail", "w"), w.state)


def test_a_relative_that_somebody_else_changed_is_not_copied(store, url):
    w = world(documents=2000)
    store.save("retail", w)
    with Store.open(url) as other:
        theirs = World("w", other.load("retail", "w"))
        step(theirs, "O-9", status="theirs")
        other.save("retail", theirs)
    fork = w.fork("fork")
    store.save("retail", fork)
    with Store.open(url) as other:
        assert same(other.load("retail", "fork"), fork.state)


def test_a_stale_writer_is_refused_and_changes_nothing(store, url):
    w = world()
    store.save("retail", w)
    with Store.open(url) as other:
        theirs = World("w", other.load("retail", "w"))
        step(theirs, status="theirs")
        other.save("retail", theirs)
        step(w, status="ours")
        with pytest.raises(StaleWorldError, match="load it again"):
            store.save("retail", w)
        assert same(other.load("retail", "w"), theirs.state)
        w.commit(store.load("retail", "w"))
        step(w, status="ours")
        store.save("retail", w)
        assert same(other.load("retail", "w"), w.state)


def test_a_world_that_was_never_loaded_is_not_overwritten(store, url):
    store.save("retail", world())
    with Store.open(url) as other, pytest.raises(StaleWorldError, match="stored already"):
        other.save("retail", world(documents=1))


def test_a_world_that_somebody_deleted_is_not_written_into_its_successor(store, url):
    w = world()
    store.save("retail", w)
    with Store.open(url) as other:
        assert other.delete("retail", "w")
        successor = world(documents=1)
        other.save("retail", successor)
        step(w)
        with pytest.raises(StaleWorldError):
            store.save("retail", w)
        assert same(other.load("retail", "w"), successor.state)


def test_of_many_writers_at_once_one_wins_each_round(store, url):
    store.save("retail", world())
    stores = [Store.open(url) for _ in range(4)]
    for _ in range(3):
        worlds = [World("w", s.load("retail", "w")) for s in stores]
        barrier = threading.Barrier(len(stores))

        def attempt(number, worlds=worlds, barrier=barrier):
            step(worlds[number], status=f"{number}")
            barrier.wait(20)
            try:
                stores[number].save("retail", worlds[number])
            except StaleWorldError:
                return None
            return worlds[number].state

        with ThreadPoolExecutor(4) as pool:
            won = [state for state in pool.map(attempt, range(4)) if state is not None]
        assert len(won) == 1
        assert same(store.load("retail", "w"), won[0])
    for s in stores:
        s.close()


def test_writers_of_different_worlds_do_not_disturb_one_another(store, url):
    def fill(number):
        with Store.open(url) as mine:
            w = world(f"w{number}")
            for round_ in range(10):
                step(w, status=f"{round_}")
                mine.save("retail", w)
        return w.state

    with ThreadPoolExecutor(4) as pool:
        states = list(pool.map(fill, range(4)))
    for number, state in enumerate(states):
        assert same(store.load("retail", f"w{number}"), state)


def test_one_store_serves_many_async_callers(store):
    async def serve() -> list[World]:
        worlds = [world(f"w{number}") for number in range(6)]
        for _ in range(3):
            for w in worlds:
                step(w)
            await asyncio.gather(*(asyncio.to_thread(store.save, "retail", w) for w in worlds))
        return worlds

    for w in asyncio.run(serve()):
        assert store.load("retail", w.name) is w.state


def test_a_store_in_memory_is_shared_by_its_threads():
    with Store.open("sqlite://") as store:
        w = world()
        with ThreadPoolExecutor(2) as pool:
            pool.submit(store.save, "retail", w).result()
        assert store.load("retail", "w") is w.state


def test_a_failed_save_leaves_the_world_to_be_saved_later(store, url):
    w = world()
    store.save("retail", w)
    step(w, status="fine")
    good = w.state
    w.commit(w.state.put("orders", "bad", {"n": 10**5000}))
    with pytest.raises(StoreError, match="digits"):
        store.save("retail", w)
    with Store.open(url) as other:
        assert len(other.load("retail", "w").collection("orders")) == 3
        w.commit(good)
        store.save("retail", w)
        assert same(other.load("retail", "w"), good)


@pytest.mark.parametrize("changes", [{"version": 2**63}, {"seed": 10**5000}])
def test_what_the_database_cannot_hold_is_refused_by_name(store, changes):
    with pytest.raises(StoreError):
        store.save("retail", World("w", State(**changes)))
    assert store.worlds() == []


def test_a_document_nested_too_deeply_is_refused(store):
    document: dict = {}
    for _ in range(100_000):
        document = {"a": document}
    with pytest.raises(StoreError, match="recursion"):
        store.save("retail", World("w", State().put("orders", "1", document)))


def test_times_are_kept_in_utc_to_the_microsecond(store, url):
    clock = datetime(2026, 3, 29, 2, 30, 0, 123456, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    store.save("retail", World("w", State(clock=clock)))
    with Store.open(url) as other:
        assert other.load("retail", "w").clock == clock
        found = other.worlds()[0]
        assert found.clock.utcoffset() == timedelta(0)
        assert abs(datetime.now(UTC) - found.created_at) < timedelta(minutes=5)


@pytest.mark.parametrize("clock", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Lima"])
def test_times_at_the_ends_of_the_calendar_survive_any_zone_of_the_server(url, monkeypatch, clock, zone):
    monkeypatch.setenv("PGTZ", zone)
    with Store.open(url) as store, Store.open(url) as other:
        store.save("retail", World("w", State(clock=clock)))
        assert other.load("retail", "w").clock == clock


def test_worlds_and_snapshots_are_told_apart_by_toolset(store):
    for toolset in ("retail", "itops"):
        store.save(toolset, world())
        store.save_snapshot(toolset, "s", State(version=len(toolset)), world="w")
    assert [w.toolset for w in store.worlds()] == ["retail", "itops"]
    assert [w.toolset for w in store.worlds("itops")] == ["itops"]
    assert [(s.toolset, s.name, s.world, s.version) for s in store.snapshots("itops")] == [("itops", "s", "w", 5)]
    assert store.load("retail", "nobody") is None
    assert store.load_snapshot("retail", "nobody") is None
    assert store.delete("retail", "w")
    assert not store.delete("retail", "w")
    assert store.load("itops", "w") is not None
    assert store.delete_snapshot("retail", "s")
    assert not store.delete_snapshot("retail", "s")
    assert store.load_snapshot("itops", "s") == State(version=5)


def test_deleting_a_world_deletes_its_rows(store):
    store.save("retail", world())
    store.delete("retail", "w")
    with store._engine.connect() as connection:
        for table in ("entities", "facts"):
            assert connection.execute(text(f"SELECT count(*) FROM {table}")).scalar() == 0


def test_a_snapshot_is_replaced_by_one_of_its_name(store):
    store.save_snapshot("retail", "s", State(version=1))
    store.save_snapshot("retail", "s", State(version=2))
    assert store.load_snapshot("retail", "s") == State(version=2)
    assert len(store.snapshots()) == 1


def test_a_damaged_snapshot_is_named(store):
    store.save_snapshot("retail", "s", State())
    with writing(store._engine) as connection:
        connection.execute(text("UPDATE snapshots SET state = :bytes"), {"bytes": b"no"})
    with pytest.raises(StoreError, match="'s' of 'retail'"):
        store.load_snapshot("retail", "s")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE entities SET document = '{'",
        "DELETE FROM facts",
        "UPDATE facts SET kind = 'x'",
        "UPDATE worlds SET seed = ''",
    ],
)
def test_a_damaged_world_is_refused(store, url, damage):
    store.save("retail", world())
    with writing(store._engine) as connection:
        connection.execute(text(damage))
    with Store.open(url) as other, pytest.raises(StoreError, match="damaged"):
        other.load("retail", "w")


def test_sqlite_makes_its_tables_and_its_folder_when_opened(tmp_path):
    url = f"sqlite:///{tmp_path}/deep/er/envace.db"
    with Store.open(url) as store:
        store.save("retail", world())
    with Store.open(url) as store:
        assert len(store.worlds()) == 1


def test_sqlite_keeps_a_log_so_that_readers_do_not_wait_for_writers(tmp_path):
    url = f"sqlite:///{tmp_path}/envace.db"
    with Store.open(url) as store:
        store.save("retail", world())
        with writing(connect(url)) as connection:
            connection.execute(text("DELETE FROM worlds"))
            assert len(store.worlds()) == 1


def test_postgresql_makes_its_tables_only_when_told(postgresql_database):
    url = postgresql_database("template1")
    with pytest.raises(StoreError, match="migrate=True"):
        Store.open(url)
    Store.open(url, migrate=True).close()
    with Store.open(url) as store:
        store.save("retail", world())


def test_sqlite_can_be_told_not_to_migrate(tmp_path):
    with pytest.raises(StoreError, match="no tables yet"):
        Store.open(f"sqlite:///{tmp_path}/envace.db", migrate=False)


def test_a_database_of_a_newer_version_is_refused(url):
    Store.open(url).close()
    engine = connect(url)
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    for migrate in (None, True, False):
        with pytest.raises(StoreError, match="newer"):
            Store.open(url, migrate=migrate)


def test_the_default_database_lies_in_the_users_data_folder():
    assert default_url().startswith("sqlite:///")
    assert default_url().endswith("envace.db")


@pytest.mark.parametrize("url", ["mysql://h/x", "no url", "oracle+nothing://x", "sqlite+nothing:///x.db"])
def test_another_database_is_refused(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if url.startswith("sqlite"):
        Store.open(url).close()  # whatever the driver, it is Python's own
        return
    with pytest.raises(StoreError):
        Store.open(url)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "x.db").write_text("not a database, but long enough to have a header of its own" * 10)
    with pytest.raises(StoreError, match=r"x\.db cannot be used: file is not a database"):
        Store.open(f"sqlite:///{tmp_path}/x.db")


def test_passwords_are_not_repeated_in_errors():
    for url in ("postgresql://me:secret@127.0.0.1:1/x", "postgres//me:secret@h/x"):
        with pytest.raises(StoreError) as caught:
            Store.open(url)
        assert "secret" not in str(caught.value)


def test_a_missing_driver_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"envace-sdk\[postgres\]"):
        Store.open("postgresql://h/x")
