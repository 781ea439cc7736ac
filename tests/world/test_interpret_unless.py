"""`unless`: a call that is only tried is answered as it would be, and leaves the world as it was."""

from random import Random

import pytest

from envace_sdk.tools.model import Tool
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.state import State

RULES = """
format: 1
collections: {orders: {key: order_id, mint: "O-{n}"}, notes: {key: id}}
tools:
  create: {effect: create, collection: orders, take: [customer], unless: "default(args.dry_run, false)"}
  change: {effect: update, collection: orders, key: args.order_id, take: [customer],
           unless: "default(args.dry_run, false)",
           also: [{effect: create, collection: notes, set: {id: "'n'"}}]}
  drop: {effect: delete, collection: orders, key: args.order_id, unless: "entity.customer == 'amy'"}
"""


@pytest.fixture
def run():
    dynamics = Dynamics.parse(RULES)
    interpreter = Interpreter(dynamics)
    start = State.start(dynamics=dynamics, collections={"orders": [{"order_id": "O-7", "customer": "amy"}]})

    def call(name, state=start, /, **arguments):
        return interpreter.run(Tool({"name": name, "inputSchema": {"type": "object"}}), arguments, state, Random(1))

    return start, call


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("create", {"customer": "bo", "dry_run": True}),
        ("change", {"order_id": "O-7", "customer": "bo", "dry_run": True}),
        ("drop", {"order_id": "O-7"}),
    ],
)
def test_what_is_only_tried_changes_nothing(name, arguments, run):
    start, call = run
    tried = call(name, **arguments)
    assert tried.error is None
    assert tried.state is start
    assert (tried.writes, tried.minted, tried.entities) == (frozenset(), frozenset(), ())


def test_it_is_answered_as_it_would_be(run):
    _, call = run
    tried, done = call("create", customer="bo", dry_run=True), call("create", customer="bo")
    assert tried.value == done.value
    assert done.writes
    changed = call("change", order_id="O-7", customer="bo", dry_run=True)
    assert changed.value["customer"] == "bo"


def test_what_would_fail_fails_when_it_is_only_tried(run):
    _, call = run
    assert call("change", order_id="O-8", customer="bo", dry_run=True).outcome == "not_found"
