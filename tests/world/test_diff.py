from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.json import UNSET
from envace_sdk.world.diff import EntityChange, diff, render
from envace_sdk.world.state import State

keys = st.sampled_from("abcd")
values = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from([1.0, "1", [1], [True], {"x": 1}, {"x": True}])
documents = st.dictionaries(st.sampled_from("fg"), values, max_size=2)
writes = st.lists(st.tuples(st.sampled_from(["one", "two"]), keys, st.none() | documents), max_size=10)


def apply(state, changes):
    for collection, key, document in changes:
        state = state.remove(collection, key) if document is None else state.put(collection, key, document)
    return state


def test_equal_states_differ_in_nothing():
    state = State().put("a", "1", {"x": 1})
    assert diff(state, state) == []
    assert diff(state, state.put("a", "1", {"x": 1.0})) == []
    assert diff(state, state.tick()) == []


def test_changes_name_the_fields_down_to_the_innermost():
    before = State().put("o", "1", {"a": {"b": 1, "c": 2}, "l": [1], "gone": 0}).put("o", "2", {"x": 1})
    after = before.put("o", "1", {"a": {"b": 1, "c": 3}, "l": [1, 2], "new": None}).remove("o", "2").put("p", "9", {})
    assert diff(before, after) == [
        EntityChange("deleted", "o", "2", {"x": (1, UNSET)}),
        EntityChange(
            "updated", "o", "1", {"a.c": (2, 3), "l": ([1], [1, 2]), "gone": (0, UNSET), "new": (UNSET, None)}
        ),
        EntityChange("created", "p", "9", {}),
    ]


def test_true_is_not_one():
    before = State().put("o", "1", {"a": 1, "b": [1], "c": {"d": 0}})
    after = State().put("o", "1", {"a": True, "b": [True], "c": {"d": False}})
    assert list(diff(before, after)[0].fields) == ["a", "b", "c.d"]


@given(writes, writes, writes)
def test_relatives_and_strangers_are_compared_alike(common, ours, theirs):
    base = apply(State(), common)
    loaded = State.from_json(base.to_json())
    before, after = apply(base, ours), apply(base, theirs)
    assert diff(before, after) == diff(apply(loaded, ours), apply(loaded, theirs))
    assert [c.name for c in diff(before, after)] == [c.name for c in diff(before, State.from_json(after.to_json()))]


@given(writes, writes)
def test_the_reverse_of_a_diff_is_the_diff_of_the_reverse(ours, theirs):
    before, after = apply(State(), ours), apply(State(), theirs)
    opposite = {"created": "deleted", "deleted": "created", "updated": "updated"}
    forwards = {(c.name, c.kind): {path: pair[::-1] for path, pair in c.fields.items()} for c in diff(before, after)}
    backwards = {(c.name, opposite[c.kind]): dict(c.fields) for c in diff(after, before)}
    assert forwards == backwards


def test_rendering_is_a_line_for_each_entity():
    before = State().put("orders", "ORD-1", {"status": "open", "n": 1}).put("orders", "ORD-2", {})
    after = before.put("orders", "ORD-1", {"status": "closed", "n": 1, "at": None}).remove("orders", "ORD-2")
    after = after.put("orders", "ORD-3", {"status": "open"})
    assert render(diff(before, after)) == (
        '- orders/ORD-2\n~ orders/ORD-1: status "open" → "closed", at (absent) → null\n+ orders/ORD-3: status "open"'
    )


def test_rendering_is_short_for_large_entities():
    after = State().put("o", "1", {f"f{n}": "x" * 1000 for n in range(100)})
    text = render(diff(State(), after), fields=2)
    assert len(text) < 200
    assert text.endswith("and 98 more")


def test_a_key_cannot_write_a_line_of_its_own():
    assert render([EntityChange("deleted", "files", "a\n- files/b\x1b")]) == "- files/a\\n- files/b\\x1b"
