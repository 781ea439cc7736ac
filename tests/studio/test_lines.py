import json

import pytest

from envace_sdk.studio.lines import lines

VALUE = {"a": 1, "b": {"c": [1, 2], "d": 'x, {y" z'}, "e": "\\"}


def test_json_has_a_line_for_each_member_as_if_it_were_indented():
    assert lines(json.dumps(VALUE)) == json.dumps(VALUE, indent=2).split("\n")


@pytest.mark.parametrize("length", range(1, 40))
def test_json_that_is_broken_off_has_the_lines_of_the_whole_up_to_there(length):
    whole = json.dumps(VALUE)
    broken = lines(whole[:length])
    assert broken[:-1] == lines(whole)[: len(broken) - 1]


def test_a_text_keeps_its_lines():
    assert lines("one\ntwo") == ["one", "two"]


@pytest.mark.parametrize("text", ["[" * 50_000, "]" * 50_000, "[" + '"' * 50_000, "{,}" * 20_000, '["' + "\\" * 50_000])
def test_what_only_looks_like_json_stays_small(text):
    assert sum(map(len, lines(text))) < 2_000_000
