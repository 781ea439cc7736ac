import contextlib
import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_strategies import JSON

from envace_sdk.errors import ToolsetError
from envace_sdk.tools.documents import decode, parse, parse_yaml, without_comments

LETTERS = "abcdefghijklmnopqrstuvwxyz"
BOMB = "a: &a [x, x]\n" + "".join(f"{this}: &{this} [*{last}, *{last}]\n" for last, this in pairwise(LETTERS))


def test_yaml_is_read_by_the_rules_of_1_2():
    text = """
no: no
date: 2026-01-01
time: 12:30:45
octal: 0o17
leading: 017
separated: 1_000
infinity: .inf
tilde: ~
nothing:
yes: true
200: {x: 1}
float: 1e3
half: .5
quoted: "5"
base: &base {a: 1}
merged: {<<: *base, b: 2}
"""
    assert parse_yaml(text, "x.yaml") == {
        "no": "no",
        "date": "2026-01-01",
        "time": "12:30:45",
        "octal": "0o17",
        "leading": 17,
        "separated": "1_000",
        "infinity": ".inf",
        "tilde": None,
        "nothing": None,
        "yes": True,
        "200": {"x": 1},
        "float": 1000.0,
        "half": 0.5,
        "quoted": "5",
        "base": {"a": 1},
        "merged": {"a": 1, "b": 2},
    }


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]",
        "a: !!python/object/apply:os.system ['true']",
        "a: !!set {x}",
        "a: !!binary aGk=",
        "a: !!timestamp 2026-01-01",
        "? [1, 2]\n: 3",
        "a: [",
        "--- 1\n--- 2",
        "\tx: 1",
        "a: " + "9" * 5000,
        "[" * 5000,
        "- " * 5000 + "1",
        BOMB,
    ],
    ids=[
        "cycle",
        "object",
        "set",
        "bytes",
        "date",
        "list as key",
        "open",
        "two",
        "tab",
        "digits",
        "deep",
        "nested",
        "bomb",
    ],
)
def test_yaml_that_is_not_json_or_grows_beyond_bounds_is_refused(text):
    with pytest.raises(ToolsetError, match=r"^x\.yaml: "):
        parse_yaml(text, "x.yaml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("[NaN]", "NaN is no JSON number"),
        ("[-Infinity]", "no JSON number"),
        ('{"a": 1,}', "line 1"),
        ("[" * 100_000, "deeply"),
        ("[1] x", "Extra data"),
        ("\x00", "not JSON"),
    ],
)
def test_what_is_not_json_is_refused_with_where_and_why(text, said):
    with pytest.raises(ToolsetError, match=said) as refused:
        parse(text, "tools.json")
    assert str(refused.value).startswith("tools.json: ")


def test_a_byte_order_mark_is_no_part_of_the_text():
    assert parse(decode("\ufeff[1]".encode(), "x"), "x") == [1]


def test_bytes_that_are_not_utf_8_are_refused():
    with pytest.raises(ToolsetError, match="UTF-8"):
        decode("[1]".encode("utf-16"), "x")


def test_comments_and_trailing_commas_go_and_strings_that_look_like_them_stay():
    text = '{"a": "// no /* no */ ,]", // yes\n "b": [1, 2, /* yes, */],}'
    assert json.loads(without_comments(text)) == {"a": "// no /* no */ ,]", "b": [1, 2]}


@given(JSON)
def test_json_without_comments_is_left_alone(value):
    text = json.dumps(value)
    assert without_comments(text) == text


@given(st.text(), st.sampled_from(["a.json", "a.yaml", "standard input"]))
def test_any_text_is_read_or_refused(text, where):
    try:
        value = parse(text, where)
    except ToolsetError:
        return
    json.dumps(value)


@given(st.binary())
def test_any_bytes_are_text_or_refused(data):
    with contextlib.suppress(ToolsetError):
        decode(data, "x")
