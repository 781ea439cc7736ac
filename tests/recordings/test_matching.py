"""Which recorded request an incoming one is, and how a miss is explained."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.errors import FixtureError
from envace_sdk.recordings import Matching, RecordMode, differences, explain_miss


def call(name="get", **arguments):
    return {"name": name, "arguments": arguments}


def same(matching, one, other):
    return matching.key("tools/call", one) == matching.key("tools/call", other)


def test_metadata_the_order_of_members_and_the_spelling_of_whole_numbers_do_not_matter():
    matching = Matching()
    assert same(matching, {**call(a=1, b=2.0), "_meta": {"progressToken": 5}}, call(b=2, a=1))
    assert same(matching, {"name": "get"}, call())


def test_everything_else_matters():
    matching = Matching()
    assert not same(matching, call(a=1), call(a="1"))
    assert not same(matching, call(a=1), call(a=True))
    assert not same(matching, call(a=1), call(a=1, b=None))
    assert not same(matching, call("get"), call("got"))
    assert matching.key("tools/call", call()) != matching.key("prompts/get", call())
    assert matching.key("tools/call", call(), [{"a": 1}]) != matching.key("tools/call", call())


@pytest.mark.parametrize("path", ["at", "get:at", "tools/call:at"])
def test_an_ignored_path_does_not_matter(path):
    assert same(Matching([path]), call(at=1, x=1), call(at=2, x=1))
    assert same(Matching([path]), call(x=1), call(at=2, x=1))


def test_an_ignored_path_goes_into_objects_and_lists_and_can_be_of_one_tool_only():
    matching = Matching(["get:filter.trace", "items.*.nonce"])
    assert same(matching, call(filter={"trace": 1, "q": 2}), call(filter={"trace": 3, "q": 2}))
    assert same(matching, call(items=[{"nonce": 1}, {"nonce": 2}]), call(items=[{"nonce": 3}, {"nonce": 4}]))
    assert not same(matching, call("put", filter={"trace": 1}), call("put", filter={"trace": 2}))


@pytest.mark.parametrize("path", ["", "get:", "a..b", "."])
def test_a_path_with_an_empty_step_is_refused(path):
    with pytest.raises(FixtureError, match="expected a path"):
        Matching([path])


def test_a_miss_names_the_closest_recording_and_what_differed():
    recorded = [
        ("call 1", {"arguments": {"city": "Oslo", "days": 3, "unit": "C"}}),
        ("call 2", {"arguments": {"city": "Bergen", "days": 3}}),
    ]
    said = explain_miss("forecast", {"arguments": {"city": "Bergen", "days": 5}}, recorded)
    assert said == "not recorded; closest is call 2: arguments.days is 5, recorded 3"
    assert explain_miss("forecast", {}, []) == "no call of forecast is recorded"
    assert "has changed since" in explain_miss("forecast", recorded[0][1], recorded)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
)


@given(one=json_values, other=json_values)
def test_values_differ_somewhere_exactly_when_they_are_not_the_same(one, other):
    import json

    assert bool(list(differences(one, other))) == (json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True))


@pytest.mark.parametrize("mode", ["none", "new", "once", "all"])
def test_modes_are_known_by_name(mode):
    assert RecordMode.parse(mode).value == mode


@pytest.mark.parametrize("typo", ["", "None", "onece", "new_episodes"])
def test_a_typo_in_a_mode_is_an_error_that_names_the_modes(typo):
    with pytest.raises(ValueError, match="there are: none, new, once, all"):
        RecordMode.parse(typo)
