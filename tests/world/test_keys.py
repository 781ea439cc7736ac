import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import WorldError
from envace_sdk.json import UNSET
from envace_sdk.world.keys import del_path, get_path, key_of, key_text, keyed, set_path

names = st.text(alphabet="abc", min_size=1, max_size=2)
scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=3)
documents = st.dictionaries(
    names, st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(names, v, max_size=3)), max_size=4
)
paths = st.lists(names | st.sampled_from(["0", "1", "2"]), min_size=1, max_size=3).map(".".join)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        ("1", "1"),
        (1.0, "1"),
        (1.5, "1.5"),
        (True, "true"),
        (None, "null"),
        ("", ""),
        (["a", 1], '["a", "1"]'),
        (("a", "1.0"), '["a", "1.0"]'),
        (["a", [1, ["1"]]], '["a", ["1", ["1"]]]'),
        ({"b": 1, "a": 2}, '{"a": 2, "b": 1}'),
        (-0.0, "0"),
        (10**30, str(10**30)),
    ],
)
def test_equal_keys_have_one_text(value, text):
    assert key_text(value) == text


def test_the_text_of_lists_within_lists_grows_with_their_depth():
    nested = "x"
    for _ in range(200):
        nested = [nested]
    assert len(key_text(nested)) < 1000
    assert key_text([["1"]]) != key_text(['["1"]'])


def test_a_document_of_a_key_alone_is_found_under_it():
    assert keyed(["a.b", "n"], ["x", 2]) == {"a": {"b": "x"}, "n": 2}
    assert key_of(keyed(["a.b", "n"], ["x", 2]), ["a.b", "n"]) == '["x", "2"]'


def test_a_key_field_that_is_absent_or_null_gives_no_key():
    assert key_of({"id": 0}, "id") == "0"
    assert key_of({"id": None}, "id") is None
    assert key_of({}, "id") is None
    assert key_of({"a": {"b": "x"}, "n": 2}, ["a.b", "n"]) == '["x", "2"]'
    assert key_of({"a": 1}, ["a"]) == "1"
    assert key_of({"a": 1}, ["a", "b"]) is None


def test_paths_reach_into_objects_and_lists():
    document = {"a": {"b": [{"c": 1}]}, "x.y": 2}
    assert get_path(document, "a.b.0.c") == 1
    assert get_path(document, "x.y") == 2
    assert get_path(document, "a.b.1.c") is UNSET
    assert get_path(document, "a.b.-1") is UNSET
    assert get_path(document, "a.b.c") is UNSET
    assert get_path(document, "a.b.0.c.d") is UNSET
    assert get_path(None, "a") is UNSET


def test_setting_makes_the_objects_on_the_way():
    assert set_path({}, "a.b.c", 1) == {"a": {"b": {"c": 1}}}
    assert set_path({"a": None}, "a.b", 1) == {"a": {"b": 1}}
    assert set_path({"a": [1]}, "a.1", 2) == {"a": [1, 2]}
    assert set_path({"x.y": 1}, "x.y", 2) == {"x.y": 2}


@pytest.mark.parametrize("path", ["a.b.c", "l.5", "l.x"])
def test_setting_through_something_else_is_an_error_that_names_the_path(path):
    with pytest.raises(WorldError, match=path):
        set_path({"a": {"b": "text"}, "l": []}, path, 1)


@given(documents, paths, scalars)
def test_what_was_set_is_found_and_nothing_is_changed_in_place(document, path, value):
    before = json.dumps(document)
    try:
        changed = set_path(document, path, value)
    except WorldError:
        pass
    else:
        assert get_path(changed, path) == value
    assert json.dumps(document) == before


@given(documents, paths)
def test_what_was_deleted_is_gone_and_nothing_is_changed_in_place(document, path):
    before, held = json.dumps(document), get_path(document, path)
    changed = del_path(document, path)
    assert json.dumps(document) == before
    if held is UNSET:
        assert changed is document
    else:
        assert json.dumps(changed) != before
        if not path.rpartition(".")[2].isdigit():  # in a list, what follows moves up
            assert get_path(changed, path) is UNSET
