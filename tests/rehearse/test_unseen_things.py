"""What a rule says of things that the world has not seen, and the real one may have: as recordings bear it out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notes_toolset import TEXT, Session, observed, tool

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics

RULES = """
collections: {files: {key: name, open: true}}
tools:
  move:
    effect: update
    collection: files
    key: args.to
    upsert: true
    let: {source: "get('files', args.name)"}
    requires: [{that: source != null, error: "no file {args.name}", status: not_found}]
    like: source
    also: [{effect: delete, collection: files, key: args.name, when: source != null}]
    returns: {object: {moved: args.name}}
    confidence: 0.5
  read: {effect: read, collection: files, key: args.name, returns: {fields: [name]}, confidence: 0.5}
"""
TOOLS = [tool("move", {"name": TEXT, "to": TEXT}, ["name", "to"]), tool("read", {"name": TEXT}, ["name"])]


def shelf(precedents=()):
    environment = Environment(
        Toolset.from_definitions(TOOLS, name="shelf"), dynamics=Dynamics.parse(RULES), precedents=list(precedents)
    )
    return Session(environment, environment.world())


def moves(succeed, fail):
    """Sessions that each move one file that was never heard of."""
    for n in range(succeed + fail):
        name, is_error = f"file{n}.txt", n >= succeed
        answer = f"no file {name}" if is_error else {"moved": name}
        yield observed("move", {"name": name, "to": f"new{n}.txt"}, answer, f"e{n}", 0, is_error=is_error)


def test_where_such_calls_mostly_succeeded_the_rule_does_not_refuse_them():
    rehearsal = shelf(moves(8, 1))("move", name="plan.txt", to="old.txt")
    assert rehearsal.layer == "precedent"
    assert rehearsal.result.value() == {"moved": "plan.txt"}


@pytest.mark.parametrize("recorded", [list(moves(2, 6)), []], ids=["mostly refused", "nothing recorded"])
def test_where_they_were_mostly_refused_or_nothing_tells_it_does(recorded):
    rehearsal = shelf(recorded)("move", name="plan.txt", to="old.txt")
    assert (rehearsal.layer, rehearsal.result.first_text) == ("dynamics", "no file plan.txt")


def test_what_succeeded_so_was_there_and_is_followed():
    session = shelf(moves(8, 1))
    session("move", name="plan.txt", to="old.txt")
    rehearsal = session("move", name="plan.txt", to="older.txt")
    assert (rehearsal.layer, rehearsal.result.first_text) == ("dynamics", "no file plan.txt")
    assert session("move", name="old.txt", to="older.txt").layer == "dynamics"


def test_what_is_known_to_be_gone_is_refused_whatever_was_recorded():
    session = shelf(moves(8, 1))
    before = session.world.state.put("files", "a.txt", {"name": "a.txt"}).remove("files", "a.txt")
    session.world.commit(before)
    assert session("move", name="a.txt", to="b.txt").result.first_text == "no file a.txt"


@given(st.text(min_size=1, max_size=8), st.text(min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_what_a_call_that_really_succeeded_needed_was_there_before(name, to):
    session = shelf()
    call, answer = ToolCall("move", {"name": name, "to": to}), ToolResult.json({"moved": name}, structured=False)
    state = session.environment.observe(session.world.state, call, answer)
    assert state.get("files", name) is None
    assert state.collection("files").was_removed(name)
    assert (state.get("files", to) is None) is (name == to)
