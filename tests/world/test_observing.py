"""What a world takes in of calls that were really answered."""

from random import Random

import pytest

from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.observing import Observer
from envace_sdk.world.state import State

RULES = Dynamics.parse("""
collections:
  session: {key: id, noun: session}
  files: {key: path, noun: file, open: true}
tools:
  enter:
    effect: read
    collection: files
    key: joinpath(session.place, args.folder)
    also:
      - {effect: update, collection: session, key: "'session'", set: {place: "joinpath(session.place, args.folder)"}}
    returns: {value: "null"}
  list:
    effect: search
    collection: files
    where: dirname(entity.path) == session.place
    returns: {object: {names: "items.map(item, basename(item.path))"}, item_key: "joinpath(session.place, item)"}
  show: {effect: read, collection: files, key: "joinpath(session.place, args.name)", returns: {fields: [content]}}
  edit:
    effect: update
    collection: files
    key: joinpath(session.place, args.name)
    set: {content: "entity.content.replace(args.old, args.new)"}
    returns: {object: {said: entity.never_known}}
    confidence: 0.9
""")


@pytest.fixture
def world():
    return World()


def tool_named(name):
    return Tool({"name": name, "inputSchema": {"type": "object"}})


class World:
    def __init__(self):
        start = {"session": [{"id": "session", "place": "/home"}]}
        self.state = State.start(dynamics=RULES, collections=start)
        self.interpreter = Interpreter(RULES)

    def observe(self, tool, value, /, **arguments):
        observer = Observer(self.interpreter)
        self.state = observer.after(tool_named(tool), arguments, value, self.state, Random(1))

    def ask(self, tool, /, **arguments):
        return self.interpreter.run(tool_named(tool), arguments, self.state, Random(1))

    def file(self, path):
        return self.state.get("files", path)


def test_the_items_of_an_observed_list_are_there(world):
    world.observe("list", {"names": ["a.txt", "docs"]})
    assert world.file("/home/a.txt") == {"path": "/home/a.txt"}
    assert world.ask("list").value == {"names": ["a.txt", "docs"]}


def test_what_an_answer_shows_of_the_entity_that_a_call_names_is_known(world):
    world.observe("show", {"content": "tea"}, name="a.txt")
    assert world.file("/home/a.txt") == {"path": "/home/a.txt", "content": "tea"}
    assert world.ask("show", name="a.txt").value == {"content": "tea"}


def test_a_change_happens_although_the_rule_cannot_tell_what_is_answered(world):
    world.observe("show", {"content": "green tea"}, name="a.txt")
    assert world.ask("edit", name="a.txt", old="green", new="black") is None
    world.observe("edit", {"said": "done"}, name="a.txt", old="green", new="black")
    assert world.file("/home/a.txt")["content"] == "black tea"


def test_a_call_that_succeeded_has_its_effect_although_nothing_was_known_of_what_it_names(world):
    assert world.ask("enter", folder="docs") is None
    world.observe("enter", None, folder="docs")
    assert world.state.get("session", "session")["place"] == "/home/docs"


@pytest.mark.parametrize("value", [None, 7, "text", [], {}, {"names": 3}, {"names": [None, {"a": 1}, [1]]}])
def test_answers_of_any_shape_are_taken_in(world, value):
    for name in ("list", "show", "edit", "enter"):
        world.observe(name, value, name="x", folder="y", old="a", new="b")
