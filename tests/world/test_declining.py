"""Requirements with `status: success`: the server says what is wrong in an answer that is no error."""

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envace_sdk.tools.model import Tool
from envace_sdk.world.declining import Declining
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.expressions import compile_template
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.observing import Observer
from envace_sdk.world.state import State

RULES = """
collections: {files: {key: name}, session: {key: id}}
tools:
  read:
    effect: read
    collection: files
    key: args.name
    requires:
      - {that: "entity != null", error: '{{"error": "No file {args.name}", "at": [{args.line}]}}', status: success}
  write:
    effect: create
    collection: files
    key: args.name
    take: [text]
    requires:
      - {that: "!(args.text.contains('secret'))", error: "Refused: {args.name} holds a secret", status: success}
      - {that: "args.text != 'number'", error: "42", status: success}
      - {that: "size(args.text) < 20", error: '{{"error": "{args.text} is long"}}', status: validation_error}
  remove:
    effect: delete
    collection: files
    key: args.name
    requires: [{that: "entity.text != 'kept'", error: '{{"error": "{args.name} is kept"}}', status: success}]
  count:
    effect: search
    collection: files
    requires: [{that: "!has(args.name)", error: '[{{"error": "Just count"}}]', status: success}]
"""
DYNAMICS = Dynamics.parse(RULES)
START = State.start(
    dynamics=DYNAMICS, collections={"files": [{"name": "a", "text": "kept"}, {"name": "b", "text": "x"}]}
)


def tool(name):
    return Tool({"name": name, "inputSchema": {"type": "object"}})


def answer(name, /, **arguments):
    return Interpreter(DYNAMICS).run(tool(name), arguments, START, Random(1))


def after(name, value, /, **arguments):
    return Observer(Interpreter(DYNAMICS)).after(tool(name), arguments, value, START, Random(1))


def test_the_answer_is_no_error_and_changes_nothing():
    told = answer("remove", name="a")
    assert (told.error, told.outcome, told.value, told.state) == (None, "success", {"error": "a is kept"}, START)
    assert answer("remove", name="b").state is not START


def test_words_stay_words_and_a_list_is_a_list():
    told = answer("write", name="c", text="my secret")
    assert (told.value, told.is_text) == ("Refused: c holds a secret", True)
    told = answer("write", name="c", text="number")
    assert (told.value, told.is_text) == ("42", True)
    told = answer("count", name="c")
    assert (told.value, told.is_text) == ([{"error": "Just count"}], False)


@pytest.mark.parametrize("name", ['a "b" c', "back\\slash", "line\nend", '", "ok": "yes', "{}", "é 🙂", "\ud800"])
def test_what_stands_in_the_texts_of_an_answer_cannot_break_its_json(name):
    assert answer("read", name=name, line=7).value == {"error": f"No file {name}", "at": [7]}
    assert json.loads(answer("write", name="c", text=name + "." * 20).error) == {"error": f"{name}{'.' * 20} is long"}


def test_an_object_where_json_has_one_stays_json():
    assert answer("read", name="c", line={"from": 1}).value == {"error": "No file c", "at": [{"from": 1}]}


def test_the_status_of_a_requirement_is_read_and_written():
    assert DYNAMICS.tools["count"].requires[0].status == "success"
    assert Dynamics.parse(DYNAMICS.dump()) == DYNAMICS


@pytest.mark.parametrize(
    ("name", "value", "arguments"),
    [
        ("read", {"error": "No file z", "at": [3]}, {"name": "z", "line": 3}),
        ("remove", {"error": "b is kept"}, {"name": "b"}),
        ("write", "Refused: c holds a secret", {"name": "c", "text": "x"}),
    ],
)
def test_a_real_answer_that_declines_shows_nothing_and_changes_nothing(name, value, arguments):
    assert after(name, value, **arguments) is START


def test_a_real_answer_that_does_not_decline_still_counts():
    assert after("read", {"name": "z", "text": "new"}, name="z", line=1).get("files", "z")["text"] == "new"
    assert after("remove", {"gone": "b"}, name="b").get("files", "b") is None


FITTING = [
    ("No file {args.x}", "No file a"),
    ("No file {args.x} in {args.y}", "No file in in in in in"),
    ('{{"error": "{args.x}"}}', {"error": ""}),
    ('{{"error": "no {args.x} here", "code": {args.y}}}', {"error": "no a here", "code": {"any": "thing"}}),
    ("[{args.x}, 1]", [None, 1]),
    ('{{"ok": false}}', {"ok": False}),
]
OTHER = [
    ("No file {args.x}", "No such file"),
    ("No file {args.x}", {"error": "No file a"}),
    ("ab{args.x}ba", "aba"),
    ("a{args.x}b{args.y}c", "acb"),
    ("a{args.x}b{args.y}c", "a-c"),
    ('{{"error": "{args.x}"}}', {"error": 5}),
    ('{{"error": "{args.x}"}}', {"error": "a", "more": 1}),
    ('{{"error": "{args.x}"}}', ["error"]),
    ("[{args.x}, 1]", [1, 1, 1]),
    ('{{"ok": false}}', {"ok": 0}),
    ("{args.x}", "anything"),
    (" {args.x}{args.y} ", " anything "),
    ("plain", "plainly"),
]


@pytest.mark.parametrize(("template", "value"), FITTING)
def test_what_a_template_makes_is_known_whatever_stands_in_its_slots(template, value):
    assert Declining([compile_template(template)])(value)


@pytest.mark.parametrize(("template", "value"), OTHER)
def test_other_answers_are_not_taken_for_it(template, value):
    assert not Declining([compile_template(template)])(value)


def test_words_are_compared_in_time_that_grows_with_them():
    template = compile_template("a" + "{args.x}a" * 30 + "b")
    assert not Declining([template])("a" * 200_000 + "c")


@given(
    template=st.sampled_from([text for text, _ in FITTING]),
    x=st.text(),
    n=st.integers() | st.booleans() | st.none() | st.lists(st.text(), max_size=3),
)
def test_whatever_a_rule_answers_so_is_known_as_its_own(template, x, n):
    template = template.replace("[{args.x}", "[{args.n}").replace("{args.y}}}", "{args.n}}}")
    rule = {"effect": "compute", "requires": [{"that": "false", "error": template, "status": "success"}]}
    interpreter = Interpreter(Dynamics.model_validate({"tools": {"do": rule}}))
    told = interpreter.run(tool("do"), {"x": x, "y": x, "n": n}, START, Random(1))
    assert told.error is None
    assert interpreter.declines(tool("do"), told.value)
