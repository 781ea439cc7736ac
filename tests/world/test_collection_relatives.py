from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.world.collection import Collection

KEYS = st.sampled_from(["a", "b", "c", "d", "e"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "remove", "fork"]), KEYS, st.integers(0, 3)), min_size=1, max_size=40
)


def unlike(one, other):
    keys = {*one, *one.removed(), *other, *other.removed()}
    return {k for k in keys if one.entry(k) is not other.entry(k) or one.was_removed(k) != other.was_removed(k)}


@given(STEPS, st.data())
def test_two_relatives_differ_in_no_other_keys_than_they_say(steps, data):
    family = [Collection([("a", {"n": 0}), ("b", {"n": 0})])]
    for what, key, number in steps:
        parent = family[-1 - number % len(family)] if what == "fork" else family[-1]
        family.append(parent.remove(key) if what == "remove" else parent.put(key, {"n": number}))
    one, other = data.draw(st.sampled_from(family)), data.draw(st.sampled_from(family))
    assert unlike(one, other) <= set(one.changed_since(other))


def test_what_a_few_steps_changed_is_known_however_much_was_changed_before():
    collection = Collection([(str(n), {}) for n in range(100)])
    for n in range(100):
        collection = collection.put(str(n), {"n": n})
    later = collection.put("1", {}).remove("2").put("new", {})
    assert set(later.changed_since(collection)) == {"1", "2", "new"}
    assert set(collection.changed_since(later)) == {"1", "2", "new"}
    assert set(later.changed_since(later)) == set()


def test_strangers_say_that_they_are():
    assert Collection().changed_since(Collection()) is None
