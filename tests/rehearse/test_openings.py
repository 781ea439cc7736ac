"""What a session holds unseen when it begins is told from the calls made first, and then stays so."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notes_toolset import TEXT, Session, observed, tool

from envace_sdk.rehearse import Environment
from envace_sdk.rehearse.beginnings import Begun, consulted
from envace_sdk.rehearse.openings import Openings
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

RULES = """
collections:
  session: {key: id, noun: session}
  cards: {key: id, mint: "{int}"}
tools:
  add:
    effect: create
    collection: cards
    requires: [{that: "default(session.member, false)", error: members only, status: permission_error}]
    take: [title]
    returns: {fields: [id, title]}
  join:
    effect: compute
    also:
      - effect: update
        collection: session
        key: "'session'"
        upsert: true
        set: {member: "args.code != '' ? true : default(session.member, false)"}
    returns: {object: {joined: args.code != ''}}
  am_member: {effect: compute, returns: {object: {member: session.member}}}
"""
TOOLS = [tool("add", {"title": TEXT}, ["title"]), tool("join", {"code": TEXT}, ["code"]), tool("am_member")]
USUAL = ("milk and bread", "broken lamp", "new paint")


def desk(precedents):
    dynamics = Dynamics.parse(RULES)
    environment = Environment(
        Toolset.from_definitions(TOOLS, name="desk"),
        dynamics=dynamics,
        precedents=list(precedents),
        start=State.start(dynamics=dynamics, collections={"session": [{"id": "session", "member": False}]}),
    )
    return Session(environment, environment.world())


def recorded(members=8, others=10, unknown=0):
    """Members name what nobody else does; others, and members later on, what everybody does."""
    for n in range(members):
        for at, title in enumerate((f"private matter {n}", USUAL[n % 3])):
            yield observed("add", {"title": title}, {"id": 10 * n + at, "title": title}, f"member {n}", at)
    for n in range(others):
        for at in range(2):
            title = USUAL[(n + at) % 3]
            yield observed("add", {"title": title}, "members only", f"other {n}", at, is_error=True)
    for n in range(unknown):
        yield observed("join", {"code": "abcd"}, {"joined": True}, f"unknown {n}", 0)
        title = f"special matter {n}"
        yield observed("add", {"title": title}, {"id": 1, "title": title}, f"unknown {n}", 1)


def member(session):
    """Whether the world says so, whatever layer answered the calls before."""
    return session.value("am_member")["member"]


def after(precedents, **arguments):
    session = desk(precedents)
    session("add", **arguments)
    return member(session)


def test_who_names_what_is_seldom_named_is_where_such_things_are_named():
    assert after(recorded(), title="roof of the shed") is True


def test_who_names_what_everybody_names_is_where_most_were():
    assert after(recorded(), title="broken lamp") is False


def test_what_was_shown_of_the_session_stays_so():
    session = desk(recorded())
    assert member(session) is False
    session("add", title="roof of the shed")
    assert member(session) is False


def test_what_a_call_only_keeps_as_it_is_shows_nothing():
    session = desk(recorded())
    session("join", code="")
    session("add", title="roof of the shed")
    assert member(session) is True


def test_sessions_of_which_nothing_tells_how_they_began_do_not_count():
    assert after(recorded(members=2, others=3, unknown=30), title="broken lamp") is False


@pytest.mark.parametrize(("members", "others"), [(0, 10), (8, 0)], ids=["all outside", "all inside"])
def test_where_all_began_alike_they_begin_so(members, others):
    assert after(recorded(members, others), title="broken lamp") is (members > 0)


def test_what_was_really_seen_is_not_told_otherwise():
    session = desk(recorded())
    fixture = observed("am_member", {}, {"member": False})
    session.world.commit(session.environment.observe(session.world.state, fixture.call, fixture.result))
    session("add", title="roof of the shed")
    assert member(session) is False


@pytest.mark.parametrize(("name", "members"), [("add", {"member"}), ("join", set()), ("am_member", {"member"})])
def test_an_answer_hangs_on_what_its_rule_asks_and_shows(name, members):
    assert consulted(Dynamics.parse(RULES).tools[name]) == members


def test_of_a_tool_without_a_rule_nothing_is_known():
    assert consulted(None) == frozenset()


CALLS = st.builds(
    ToolCall, st.sampled_from(["a", "b"]), st.dictionaries(st.sampled_from("xy"), st.text(max_size=6) | st.integers())
)
HELD = st.none() | st.dictionaries(st.sampled_from("pq"), st.booleans(), max_size=2)


@given(st.lists(st.tuples(HELD, st.lists(CALLS, max_size=4)), max_size=8), st.lists(CALLS, max_size=5), st.randoms())
@settings(max_examples=100, deadline=None)
def test_a_session_begins_as_one_that_was_seen_whatever_the_order_of_what_it_named(sessions, calls, random):
    openings = Openings(
        {str(n): Begun(session=held, calls=made, opening=made) for n, (held, made) in enumerate(sessions)}
    )
    marks = [mark for call in calls for mark in openings.marks(call)]
    likely = openings.likeliest(marks)
    assert likely in [*(held for held, _ in sessions if held is not None), {}]
    random.shuffle(marks)
    assert openings.likeliest(marks) == likely
