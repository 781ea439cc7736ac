"""Turns: worlds that several writers change at once, in one PostgreSQL database."""

import itertools
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import immutables
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from private_postgresql import run_sql
from sqlalchemy import text

from envace_sdk.errors import BusyWorldError, DoubtfulSaveError, StoreError, UnsavedWorldError, WorldError
from envace_sdk.store import Store
from envace_sdk.store.engine import connect
from envace_sdk.store.turns import Turns
from envace_sdk.world.collection import Collection
from envace_sdk.world.state import State
from envace_sdk.world.world import World

START = State(
    collections=immutables.Map(
        {
            "orders": Collection((f"O-{n}", {"id": f"O-{n}", "status": "open"}) for n in range(50)),
            "refunds": Collection(),
        }
    ),
    counters=immutables.Map({"orders": 51}),
)
KEYS = st.sampled_from(["O-1", "O-2", "O-49", "new", "\x00"])
numbers = itertools.count()


def same(one, other):
    return json.dumps(one.to_json()) == json.dumps(other.to_json())


@pytest.fixture
def url(postgresql_database):
    return postgresql_database("migrated")


@pytest.fixture
def turns(url):
    with Turns(url, wait=0.3, patience=0.3) as made:
        yield made


def save(turns, state, name="w", held=None):
    turn = turns.take("t", name, held)
    return turn.keep(state, turns.base(START))


def put(state, key="O-1", **fields):
    return state.put("orders", key, {"id": key, **fields}).tick()


def loaded(turns, name="w"):
    turn = turns.take("t", name)
    turn.end()
    return turn.held.state if turn.held else None


def rows(url, table):
    with Store.open(url) as store, store._engine.connect() as connection:
        return connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one()


def test_a_world_is_stored_as_what_differs_from_its_start(turns, url):
    save(turns, put(START, status="held"))
    assert rows(url, "entities") == 1
    assert same(loaded(turns), put(START, status="held"))
    assert loaded(turns).collection("orders").get("O-3") is START.collection("orders").get("O-3")


@pytest.fixture(scope="module")
def shared(request):
    url = request.getfixturevalue("postgresql_url").replace("/postgres?", "/shared?")
    with Turns(url) as one, Turns(url) as other, Store.open(url) as store:
        yield one, other, store


@given(
    st.lists(
        st.tuples(st.sampled_from(["put", "remove", "reset", "forget", "save", "elsewhere"]), KEYS, st.integers(0, 3)),
        max_size=12,
    )
)
@settings(max_examples=60, deadline=None)
def test_after_any_changes_every_reader_finds_the_world_to_the_last_byte(shared, operations):
    one, other, store = shared
    name = f"any-{next(numbers)}"
    held, state = None, START
    for what, key, value in operations:
        match what:
            case "put":
                state = put(state, key, n=value)
            case "remove":
                state = state.remove("orders", key).tick()
            case "reset":
                state = START
            case "forget":  # as if it had begun otherwise: without an entity of the start, and no trace of it
                kept = [(k, d) for k, d in state.collection("orders").items() if k != key]
                state = state.replace(collections=immutables.Map({"orders": Collection(kept)}))
            case "elsewhere":  # the same state, related to nothing
                state = State.from_json(state.to_json())
            case "save":
                held = save(one, state, name, held)
    held = save(one, state, name, held)
    turn = other.take("t", name)
    turn.end()
    assert same(turn.held.state, state)
    assert same(store.load("t", name), state)


def test_a_store_without_turns_reads_and_changes_such_a_world_too(turns, url):
    held = save(turns, put(START, status="held"))
    with Store.open(url) as store:
        world = World("w", store.load("t", "w"))
        world.commit(put(world.state, "O-2", status="closed"))
        store.save("t", world)
    turn = turns.take("t", "w", held)
    assert turn.read
    turn.end()
    assert same(turn.held.state, put(put(START, status="held"), "O-2", status="closed"))


def test_a_world_that_is_as_it_is_known_is_not_read_again(turns):
    held = save(turns, put(START))
    turn = turns.take("t", "w", held)
    turn.end()
    assert turn.held is held
    assert not turn.read


def test_turns_of_one_world_follow_one_another_and_none_is_lost(url):
    def add(n):
        with_turns = pair[n % 2]
        turn = with_turns.take("t", "w")
        state = turn.held.state if turn.held else START
        turn.keep(put(state, f"made-{n}"), with_turns.base(START))

    with Turns(url) as one, Turns(url) as other, ThreadPoolExecutor(8) as pool:
        pair = (one, other)
        list(pool.map(add, range(40)))
        state = loaded(one)
    assert state.version == 40
    assert {f"made-{n}" for n in range(40)} <= set(state.collection("orders"))


def test_turns_of_other_worlds_are_not_waited_for(turns):
    turn = turns.take("t", "one")
    save(turns, put(START), "other")
    turn.end()


def test_a_turn_that_does_not_come_is_an_error_that_says_so(turns):
    turn = turns.take("t", "w")
    with pytest.raises(BusyWorldError, match=r"in use by others for 0.3 s: nothing has happened"):
        turns.take("t", "w")
    turn.end()
    again = turns.take("t", "w")
    again.end()
    assert again.waited == 0


def test_a_turn_tells_how_long_it_was_waited_for_and_sees_what_was_saved_meanwhile(turns):
    first = turns.take("t", "w")
    timer = threading.Timer(0.1, first.keep, (put(START), turns.base(START)))
    timer.start()
    turn = turns.take("t", "w")
    timer.join()
    turn.end()
    assert 0.05 < turn.waited < 0.3
    assert turn.held.state.version == 1


def test_a_turn_that_is_given_back_leaves_the_world_to_others_as_it_was(turns):
    turn = turns.take("t", "w")
    turn.end()
    turn.end()
    assert loaded(turns) is None


def test_a_value_that_cannot_be_stored_changes_nothing(turns):
    save(turns, put(START))
    with pytest.raises(StoreError):
        save(turns, put(put(START), "O-2", value=object()))
    assert same(loaded(turns), put(START))


def test_more_worlds_than_there_is_room_for_are_refused(url):
    with Turns(url, limit=2) as turns:
        save(turns, put(START), "one")
        save(turns, put(START), "two")
        with pytest.raises(WorldError, match=r"2 worlds of 't' are stored, of at most 2: .*--max-worlds"):
            save(turns, put(START), "three")
        save(turns, put(put(START)), "one")


def test_a_deleted_world_is_gone(turns):
    save(turns, put(START))
    assert turns.take("t", "w").delete()
    assert not turns.take("t", "w").delete()
    assert loaded(turns) is None


def _kick(url):
    """End every other session of the database, as a restart of the server does."""
    run_sql(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )


def test_connections_that_broke_meanwhile_are_not_noticed(turns, url):
    held = save(turns, put(START))
    _kick(url)
    save(turns, put(held.state, "O-2"), held=held)
    assert loaded(turns).version == 2


def test_a_connection_that_breaks_before_a_save_means_that_nothing_has_happened(turns, url):
    held = save(turns, put(START))
    turn = turns.take("t", "w", held)
    _kick(url)
    with pytest.raises(UnsavedWorldError, match="nothing has happened"):
        turn.keep(put(held.state, "O-2"), turns.base(START))
    assert loaded(turns).version == 1


def test_a_turn_whose_connection_broke_can_still_be_given_back(turns, url):
    turn = turns.take("t", "w")
    _kick(url)
    turn.end()
    assert loaded(turns) is None


@pytest.mark.parametrize("committed", [True, False])
def test_a_connection_that_breaks_at_the_commit_is_asked_about(turns, url, committed):
    held = save(turns, put(START))
    turn = turns.take("t", "w", held)
    commit = turn._connection.commit

    def broken():
        if committed:
            commit()
        _kick(url)
        turn._connection.exec_driver_sql("SELECT 1")

    turn._connection.commit = broken
    if committed:
        assert turn.keep(put(held.state, "O-2"), turns.base(START)).revision == 2
    else:
        with pytest.raises(UnsavedWorldError, match="nothing has happened"):
            turn.keep(put(held.state, "O-2"), turns.base(START))
    assert loaded(turns).version == (2 if committed else 1)


def test_a_save_of_which_nobody_can_tell_is_called_doubtful(turns, url):
    held = save(turns, put(START))
    turn = turns.take("t", "w", held)

    def broken():
        _kick(url)
        save(turns, put(put(put(held.state, "O-3"))), held=save(turns, put(held.state, "O-4"), held=held))
        turn._connection.exec_driver_sql("SELECT 1")

    turn._connection.commit = broken
    with pytest.raises(DoubtfulSaveError, match="look into the world"):
        turn.keep(put(held.state, "O-2"), turns.base(START))


def test_a_database_that_is_away_is_waited_for_and_then_named(url):
    with Turns(url.replace("host=/tmp/", "host=/tmp/no-such-"), patience=0.2) as turns:
        began = time.monotonic()
        with pytest.raises(UnsavedWorldError, match="cannot be used"):
            turns.take("t", "w")
        assert time.monotonic() - began >= 0.2


def test_a_store_says_whether_its_database_answers(url):
    with Store.open(url) as store:
        assert store.reachable()
        _kick(url)
        assert store.reachable()
    with Store(connect(url.replace("host=/tmp/", "host=/tmp/no-such-"))) as store:
        assert not store.reachable()


def test_another_database_than_postgresql_is_refused(tmp_path):
    with pytest.raises(StoreError, match="need PostgreSQL"):
        Turns(f"sqlite:///{tmp_path}/x.db")
