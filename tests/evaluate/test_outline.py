import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.evaluate.forms import bounded, same
from envace_sdk.evaluate.outline import align, equal_leaves, f1, key_paths, leaves_of
from envace_sdk.json import UNSET

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=4)),
    max_leaves=12,
)


def test_the_items_of_a_list_share_their_key_paths():
    assert key_paths({"notes": [{"id": 1}, {"id": 2, "title": "x"}], "tags": ["a"]}) == {
        "/notes",
        "/notes/*/id",
        "/notes/*/title",
        "/tags",
        "/tags/*",
    }


def test_answers_of_different_kinds_have_no_structure_in_common():
    kinds = [5, [], {}, {"a": 1}, ["x"]]
    scores = [[f1(key_paths(one), key_paths(other)) for other in kinds] for one in kinds]
    assert scores == [[1.0 if row == column else 0.0 for column in range(5)] for row in range(5)]


def test_an_item_too_many_does_not_shift_what_follows():
    recorded = {"notes": [{"id": 1}, {"id": 2}, {"id": 3}]}
    played = {"notes": [{"id": 9}, {"id": 1}, {"id": 2}, {"id": 3}]}
    pairs = list(align(recorded, played))
    assert [(one, other) for _, one, other in pairs if one is not UNSET] == [(1, 1), (2, 2), (3, 3)]
    assert [other for _, one, other in pairs if one is UNSET] == [9]


def test_an_item_that_changed_is_paired_with_what_it_became():
    pairs = list(align([{"id": 1, "s": "a"}, {"id": 2, "s": "b"}], [{"id": 1, "s": "a"}, {"id": 2, "s": "c"}]))
    assert [path for path, one, other in pairs if one != other] == ["/1/s"]


@given(VALUES)
def test_a_value_agrees_with_itself_leaf_by_leaf(value):
    pairs = list(align(value, value))
    assert all(equal_leaves(one, other) for _, one, other in pairs)
    assert [path for path, _, _ in pairs] == [leaf.path for leaf in leaves_of(value)]


@given(VALUES, VALUES)
def test_every_recorded_leaf_is_paired_once(recorded, played):
    paths = [path for path, one, _ in align(recorded, played) if one is not UNSET]
    assert sorted(paths) == sorted(leaf.path for leaf in leaves_of(recorded))


@given(VALUES, VALUES)
def test_how_alike_two_structures_are_does_not_depend_on_which_is_first(one, other):
    ours, theirs = key_paths(one), key_paths(other)
    assert f1(ours, theirs) == f1(theirs, ours)
    assert f1(ours, ours) == 1.0


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (2, 2.0, True),
        (0.1 + 0.2, 0.3, True),
        (1, True, False),
        (None, False, False),
        ("2", 2, False),
        (float("nan"), float("nan"), True),
        (10**400, 1.5, False),
        ("a", "A", False),
    ],
)
def test_scalars_are_the_same_as_in_json(one, other, alike):
    assert same(one, other) is alike


def test_what_is_nested_beyond_measure_is_cut_off():
    deep = []
    for _ in range(5_000):
        deep = [deep]
    cut = bounded(deep)
    assert len(leaves_of(cut)) == 1
    assert bounded({"a": [1]}) == {"a": [1]}
