"""`like`: an entity becomes as another one is, but for its key."""

from random import Random

import pytest

from envace_sdk.errors import DynamicsError
from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.state import State

RULES = """
collections:
  files: {key: name}
  rows: {key: [table.name, id]}
  boxes: {key: id}
tools:
  copy: {effect: create, collection: files, key: args.to, like: "get('files', args.from)"}
  copy_as: {effect: create, collection: files, key: args.to, like: "get('files', args.from)", take: [owner],
            set: {copies: "0"}, append: {seen: args.from}}
  overwrite: {effect: update, collection: files, key: args.to, like: "get('files', args.from)"}
  copy_row: {effect: create, collection: rows, key: [args.table, args.id], like: "get('rows', [args.table, args.from])"}
  back_up:
    effect: read
    collection: files
    key: args.name
    also:
      - {effect: update, upsert: true, collection: files, key: "args.name + '.bak'", like: entity}
  split:
    effect: compute
    also:
      - {effect: create, collection: boxes, each: args.ids, key: item, like: "get('boxes', args.of)"}
  from_words: {effect: create, collection: files, key: args.to, like: args.from}
"""
DYNAMICS = Dynamics.parse(RULES)
START = State.start(
    dynamics=DYNAMICS,
    collections={
        "files": [
            {"name": "a", "text": "x", "owner": "amy", "tags": ["new"], "copies": 3, "seen": []},
            {"name": "b", "text": "y", "mode": "r"},
        ],
        "rows": [{"table": {"name": "t", "engine": "fast"}, "id": 1, "value": 5}],
        "boxes": [{"id": "box", "size": 3}],
    },
)


def run(name, state=START, /, **arguments):
    tool = Tool({"name": name, "inputSchema": {"type": "object"}})
    return Interpreter(DYNAMICS).run(tool, arguments, state, Random(1))


def test_a_copy_has_all_fields_but_a_key_of_its_own():
    state = run("copy", **{"from": "a", "to": "c"}).state
    assert state.get("files", "c") == {**START.get("files", "a"), "name": "c"}
    assert state.get("files", "a") == START.get("files", "a")
    state.check_keys(DYNAMICS)


def test_what_is_taken_set_and_appended_comes_after_what_is_copied():
    state = run("copy_as", **{"from": "a", "to": "c", "owner": "bo"}).state
    assert state.get("files", "c") == {
        **START.get("files", "a"),
        "name": "c",
        "owner": "bo",
        "copies": 0,
        "seen": ["a"],
    }


def test_what_becomes_like_another_keeps_what_that_has_not():
    assert run("overwrite", **{"from": "a", "to": "b"}).state.get("files", "b") == {
        **START.get("files", "a"),
        "name": "b",
        "mode": "r",
    }


def test_a_key_of_several_parts_is_not_copied():
    state = run("copy_row", **{"table": "t", "from": 1, "id": 2}).state
    assert state.get("rows", '["t", "2"]') == {"table": {"name": "t"}, "id": 2, "value": 5}
    state.check_keys(DYNAMICS)


def test_other_entities_can_be_made_like_one():
    state = run("back_up", name="a").state
    assert state.get("files", "a.bak") == {**START.get("files", "a"), "name": "a.bak"}
    state = run("split", of="box", ids=["p", "q"]).state
    assert [state.get("boxes", key) for key in "pq"] == [{"id": "p", "size": 3}, {"id": "q", "size": 3}]


def test_where_there_is_nothing_to_be_like_nothing_is_copied():
    assert run("copy", **{"from": "none", "to": "c"}).state.get("files", "c") == {"name": "c"}
    assert run("overwrite", **{"from": "none", "to": "b"}).state.get("files", "b") == START.get("files", "b")


def test_a_copy_and_what_it_was_made_from_change_apart():
    state = run("copy", **{"from": "a", "to": "c"}).state
    state = run("overwrite", state, **{"from": "b", "to": "a"}).state
    assert (state.get("files", "a")["text"], state.get("files", "c")["text"]) == ("y", "x")


@pytest.mark.parametrize("source", ["words", 5, ["a"], True])
def test_what_is_no_object_is_refused_and_the_place_is_named(source):
    with pytest.raises(DynamicsError, match=r"tools\.from_words\.like: an object is needed"):
        run("from_words", **{"from": source, "to": "c"})


def test_a_copy_of_something_endlessly_deep_or_large_is_refused():
    deep = 0
    for _ in range(90):
        deep = [deep]
    for found in ({"deep": deep}, {"large": [0] * 200_000}):
        with pytest.raises(DynamicsError, match="too large, or nested too deeply"):
            run("copy", START.put("files", "x", {"name": "x", **found}), **{"from": "x", "to": "c"})


def test_the_rule_is_read_and_written():
    assert DYNAMICS.tools["copy"].like == "get('files', args.from)"
    assert Dynamics.parse(DYNAMICS.dump()) == DYNAMICS


def needs(name, rules=DYNAMICS, state=START, /, **arguments):
    tool = Tool({"name": name, "inputSchema": {"type": "object"}})
    return [tuple(need) for need in Interpreter(rules).needs(tool, arguments, state)]


NEEDING = Dynamics.parse("""
collections: {books: {key: id}, rows: {key: [table, id]}}
tools:
  read: {effect: read, collection: books, key: args.id}
  row: {effect: update, collection: rows, key: [args.table, args.id]}
  put: {effect: update, collection: books, key: args.id, upsert: true}
  make: {effect: create, collection: books, key: args.id}
  lend:
    effect: compute
    let: {book: "get('books', args.id)", other: "get('books', args.other)", new: "mint('books')"}
    requires: [{that: "book != null", error: No book}, {that: "other == null", error: Taken}]
  broken: {effect: read, collection: books, key: "1 +"}
  open: {effect: opaque}
""")


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("read", {"id": 7}, [("books", "7", 7)]),
        ("read", {}, []),
        ("read", {"id": None}, []),
        ("row", {"table": "t", "id": 2}, [("rows", '["t", "2"]', ["t", 2])]),
        ("row", {"table": "t"}, []),
        ("put", {"id": 7}, []),
        ("make", {"id": 7}, []),
        ("lend", {"id": 7, "other": 8}, [("books", "7", 7)]),
        ("lend", {"id": "x", "other": 8}, [("books", "x", "x")]),
        ("lend", {"other": 8}, []),
        ("broken", {"id": 7}, []),
        ("open", {"id": 7}, []),
        ("nobody", {"id": 7}, []),
    ],
)
def test_what_a_call_needs_is_what_it_names_and_cannot_do_without(name, arguments, expected):
    assert needs(name, NEEDING, State.start(dynamics=NEEDING), **arguments) == expected
