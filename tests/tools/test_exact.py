import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_strategies import JSON

from envace_sdk.tools.exact import element_texts, find_array, join, one_line

FINITE = JSON.filter(lambda value: "NaN" not in json.dumps(value) and "Infinity" not in json.dumps(value))


def test_the_text_of_each_element_is_what_it_was():
    text = ' { "a" : 0, "tools" :\n [ {"n": 1e0, "u": "\\u00e9\\/"} , [ ],"]" ] , "b": 1}'
    array = find_array(text, "tools")
    assert array == '[ {"n": 1e0, "u": "\\u00e9\\/"} , [ ],"]" ]'
    assert element_texts(array) == ['{"n": 1e0, "u": "\\u00e9\\/"}', "[ ]", '"]"']


@pytest.mark.parametrize(
    ("text", "keys", "found"),
    [
        ("[]", (), "[]"),
        ('{"result": {"tools": [1]}}', ("result", "tools"), "[1]"),
        ('{"tools": [1], "tools": [2]}', ("tools",), "[2]"),
        ('{"tools": {}}', ("tools",), None),
        ('{"other": []}', ("tools",), None),
        ('{"result": 5}', ("result", "tools"), None),
        ("{}", (), None),
        ("5", (), None),
        ("{}", ("tools",), None),
    ],
)
def test_an_array_is_found_where_it_is_or_not_at_all(text, keys, found):
    assert find_array(text, *keys) == found


def test_what_is_on_one_line_is_not_touched_and_what_is_not_loses_only_space_between_tokens():
    assert one_line('{"a":  [1, 2]}') == '{"a":  [1, 2]}'
    assert one_line('{\r\n  "a b": "c  d\\n",\n\t"e": 1.0\n}') == '{"a b":"c  d\\n","e":1.0}'


@given(st.lists(FINITE, max_size=5), st.sampled_from([None, 2]))
def test_elements_joined_again_are_the_same_values_on_one_line(values, indent):
    text = json.dumps({"x": [1], "tools": values}, indent=indent)
    joined = join(element_texts(find_array(text, "tools")))
    assert json.loads(joined) == values
    assert "\n" not in joined
