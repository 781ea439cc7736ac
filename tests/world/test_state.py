import json
import sys
from datetime import UTC, datetime, timedelta, timezone

import immutables
import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import WorldError
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import DEFAULT_CLOCK, State

RULES = Dynamics.parse("""
collections:
  orders: {key: order_id}
  lines: {key: [order_id, number]}
tools: {}
""")


def test_a_world_begins_with_the_entities_under_their_keys():
    state = State.start(
        collections={"orders": [{"order_id": 7}], "lines": [{"order_id": 7, "number": 1}]}, dynamics=RULES, seed=3
    )
    assert state.get("orders", "7") == {"order_id": 7}
    assert state.get("lines", '["7", "1"]') == {"order_id": 7, "number": 1}
    assert (state.seed, state.version, state.clock) == (3, 0, DEFAULT_CLOCK)
    assert state.get("nowhere", "1") is None
    assert len(state.collection("nowhere")) == 0


@pytest.mark.parametrize(
    ("collections", "message"),
    [
        ({"clients": []}, "no collection 'clients'.*lines, orders"),
        ({"orders": [{"order_id": 1}, {"id": 2}]}, r"orders\[1\] has no key: it needs 'order_id'"),
        ({"orders": [{"order_id": 1}, {"order_id": "1"}]}, r"orders\[1\] has the key '1'"),
        ({"orders": ["x"]}, r"orders\[0\] is not an object"),
        ({"lines": [{"order_id": 1}]}, "'order_id' and 'number'"),
    ],
)
def test_start_data_without_usable_keys_is_refused(collections, message):
    with pytest.raises(WorldError, match=message):
        State.start(collections=collections, dynamics=RULES)


def test_a_write_leaves_the_state_before_it_as_it_was():
    before = State.start(collections={"orders": [{"order_id": 1}]}, dynamics=RULES)
    after = before.put("orders", "1", {"order_id": 1, "x": 2}).remove("orders", "nothing").tick()
    assert before.get("orders", "1") == {"order_id": 1}
    assert after.get("orders", "1") == {"order_id": 1, "x": 2}
    assert (after.version, after.clock) == (1, DEFAULT_CLOCK + timedelta(seconds=1))
    assert before.remove("orders", "nothing") is before


def test_time_cannot_run_off_its_end():
    with pytest.raises(WorldError, match="cannot advance"):
        State(clock=datetime.max.replace(tzinfo=UTC)).tick()


def test_a_clock_without_a_zone_is_refused_and_one_with_another_becomes_utc():
    with pytest.raises(WorldError, match="time zone"):
        State.start(clock=datetime(2026, 1, 1), dynamics=RULES)  # noqa: DTZ001
    zone = timezone(timedelta(hours=2))
    assert State.start(clock=datetime(2026, 1, 1, 2, tzinfo=zone), dynamics=RULES).clock == datetime(
        2026, 1, 1, tzinfo=UTC
    )


def test_chance_depends_on_seed_version_and_salt_only():
    draws = {
        name: state.random(*salt).random()
        for name, state, salt in [
            ("plain", State(seed=1), ()),
            ("seed", State(seed=2), ()),
            ("version", State(seed=1, version=1), ()),
            ("salt", State(seed=1), ("a",)),
            ("salts", State(seed=1), ("a", "b")),
            ("joined", State(seed=1), ("ab",)),
        ]
    }
    assert len(set(draws.values())) == len(draws)
    assert State(seed=1).put("c", "k", {}).random().random() == draws["plain"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
documents = st.dictionaries(st.text(max_size=3), json_values, max_size=3)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.text(max_size=2), st.none() | documents), max_size=12),
    st.integers(),
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    st.dictionaries(st.text(max_size=2), st.text(max_size=2), max_size=2),
)
def test_a_snapshot_brings_everything_back(writes, seed, clock, history):
    state = State(seed=seed, clock=clock)
    for collection, key, document in writes:
        state = state.remove(collection, key) if document is None else state.put(collection, key, document).tick()
    state = state.replace(
        counters=state.counters.set("a", 5), history=state.history.update(history), version=state.version + 1
    )
    data = json.loads(json.dumps(state.to_json()))
    again = State.from_json(data)
    assert again == state
    assert json.dumps(again.to_json()) == json.dumps(state.to_json())
    for name, held in state.collections.items():
        assert list(again.collection(name).items()) == list(held.items())
        assert again.collection(name).removed() == held.removed()
        assert again.put(name, "new", {}).to_json() == state.put(name, "new", {}).to_json()


@given(st.dictionaries(st.sampled_from(["version", "next", "seed", "counters", "a"]), st.integers()))
def test_a_counter_may_be_named_like_a_part_of_the_snapshot(counters):
    state = State(counters=immutables.Map(counters))
    assert State.from_json(json.loads(json.dumps(state.to_json()))) == state


GOOD = {
    "format": 1,
    "seed": 0,
    "clock": "2026-01-01T00:00:00Z",
    "version": 0,
    "counters": {},
    "history": {},
    "collections": {"orders": {"next": 2, "entities": [[0, "a", {}], [1, "b", {"x": 1}]], "removed": ["c"]}},
}


def entities(*rows, **more):
    return {"collections": {"orders": {"next": 9, "entities": [*rows], "removed": [], **more}}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format"),
        ({"seed": "x"}, "seed: expected an integer"),
        ({"seed": True}, "seed"),
        ({"version": -1}, "version"),
        ({"version": 2**53}, "version: expected an integer from 0 to"),
        (entities(next=2**53), "collections.orders.next: expected an integer from"),
        ({"clock": "9999-12-31T23:59:59Z"}, "clock: expected a time not after 9999"),
        ({"history": {"a": "\udfff"}}, "snapshot: history.a: .*surrogate"),
        ({"history": {"\udfff": "a"}}, "snapshot: history: the key .*surrogate"),
        ({"collections": {"\ud800": {"next": 0, "entities": []}}}, "collections: .*surrogate"),
        (entities([0, "\ud800", {}]), r"entities\[0\]: the key: .*surrogate"),
        (entities([0, "a", {"x": ["\ud800"]}]), r"entities\[0\].x\[0\]: .*surrogate"),
        (entities([0, "a", {"x": {"\ud800": 1}}]), r"entities\[0\].x: the key .*surrogate"),
        (entities(removed=["\ud800"]), "removed.*surrogate"),
        ({"clock": "yesterday"}, "clock: expected a time"),
        ({"clock": None}, "clock"),
        ({"counters": {"a": "x"}}, "counters.a"),
        ({"counters": []}, "counters: expected an object"),
        ({"history": {"a": 1}}, "history.a"),
        ({"collections": []}, "collections"),
        ({"collections": {"orders": []}}, "collections.orders"),
        (entities([0, "a"]), r"collections.orders.entities\[0\]"),
        (entities([0, "a", []]), r"entities\[0\]: the document"),
        (entities([0, "a", {}], [0, "b", {}]), r"entities\[1\]: sequence numbers"),
        (entities([0, "a", {}], [1, "a", {}]), r"entities\[1\]: the key 'a'"),
        (entities([9, "a", {}]), "below `next`"),
        (entities([True, "a", {}]), "sequence numbers"),
        (entities([0, 1, {}]), "key 1"),
        (entities([0, "a", {"x": float("nan")}]), r"entities\[0\].x: nan"),
        (entities([0, "a", {"x": {1: 2}}]), "key 1 is not text"),
        (entities([0, "a", {"x": {1, 2}}]), "set is not a JSON type"),
        (entities([0, "a", {}], removed=["a"]), "removed"),
        (entities([0, "a", {}], removed=[1]), "removed"),
        (entities(next="x"), "collections.orders.next"),
    ],
)
def test_a_broken_snapshot_is_refused_by_the_place_that_is_wrong(change, message):
    assert State.from_json(GOOD).get("orders", "b") == {"x": 1}
    with pytest.raises(WorldError, match=message):
        State.from_json({**GOOD, **change})


@given(json_values)
def test_anything_else_is_refused_too(data):
    with pytest.raises(WorldError):
        State.from_json(data)


def test_a_document_nested_without_end_is_refused():
    deep = {}
    for _ in range(sys.getrecursionlimit() * 2):
        deep = {"x": deep}
    with pytest.raises(WorldError, match="nested deeper"):
        State.from_json({**GOOD, **entities([0, "a", deep])})


def test_text_of_whole_surrogate_pairs_is_text():
    data = json.loads('{"x": "\\ud83d\\ude00", "é": ["ü"]}')
    assert State.from_json({**GOOD, **entities([0, "a", data])}).get("orders", "a") == {"x": "😀", "é": ["ü"]}


def test_an_entity_under_a_key_that_its_fields_do_not_say_is_found_by_the_check():
    rules = Dynamics.parse("collections: {orders: {key: id}, lines: {key: [a, b]}}\ntools: {}")
    state = State().put("orders", "7", {"id": 7}).put("lines", '["1", "x"]', {"a": 1, "b": "x"}).put("other", "k", {})
    state.check_keys(rules)
    with pytest.raises(WorldError, match=r"orders: the entity under the key 'KEY': .*'id'.* say 'OTHER'"):
        state.put("orders", "KEY", {"id": "OTHER"}).check_keys(rules)
    with pytest.raises(WorldError, match=r"lines: .* have none"):
        state.put("lines", "KEY", {"a": 1}).check_keys(rules)


def test_the_latest_clock_that_is_read_leaves_room_for_writes():
    state = State.from_json({**GOOD, "clock": "9999-01-01T00:00:00Z"})
    assert state.tick().version == 1
