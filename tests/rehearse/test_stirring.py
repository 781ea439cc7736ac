"""Tools that recordings show to change what others answer are writes, whatever their rules say."""

from hypothesis import given, settings
from hypothesis import strategies as st
from notes_toolset import TEXT, Session, observed, tool

from envace_sdk.rehearse import Environment
from envace_sdk.rehearse.stirring import stirring
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics

RULES = Dynamics.parse("""
collections: {rows: {key: id}}
tools:
  make: {effect: compute, returns: {text: done}, confidence: 0.6}
  peek: {effect: compute, returns: {text: nothing}, confidence: 0.6}
  list: {effect: compute, confidence: 0.0}
  put: {effect: create, collection: rows, key: args.name, returns: {text: put}}
""")
DEFINITIONS = [
    tool("make", {"name": TEXT}, ["name"]),
    tool("peek", {"name": TEXT}, ["name"]),
    tool("list"),
    tool("put", {"name": TEXT}, ["name"]),
]
TOOLS = {one.name: one for one in Toolset.from_definitions(DEFINITIONS, name="store")}


def episode(name, *steps):
    return [observed(what, arguments, answer, name, at) for at, (what, arguments, answer) in enumerate(steps)]


def sessions(count, steps):
    """So many sessions, of the steps that `steps` gives for the number of each."""
    return [fixture for n in range(count) for fixture in episode(f"e{n}", *steps(n))]


def looked_at(doer, changed, unchanged):
    """Sessions that list, do something and list again, and those in which that made a difference."""
    return sessions(
        changed + unchanged,
        lambda n: [
            ("list", {}, "a, b"),
            (doer, {"name": f"c{n}"}, "done"),
            ("list", {}, "a, b, c" if n < changed else "a, b"),
        ],
    )


def test_what_stood_alone_between_answers_that_differ_changed_them():
    assert stirring(looked_at("make", 3, 4), TOOLS, RULES) == {"make"}


def test_once_or_hardly_ever_is_not_enough():
    assert stirring(looked_at("make", 1, 0), TOOLS, RULES) == frozenset()
    assert stirring(looked_at("make", 2, 40), TOOLS, RULES) == frozenset()


def test_what_is_known_to_write_accounts_for_itself():
    steps = [
        ("list", {}, "a"),
        ("put", {"name": "b"}, "put"),
        ("peek", {"name": "b"}, "nothing"),
        ("list", {}, "a, b"),
    ]
    fixtures = sessions(5, lambda _: steps)
    assert stirring(fixtures, TOOLS, RULES) == frozenset()


def test_a_tool_whose_answers_change_by_themselves_tells_nothing_of_others():
    steps = [
        *[("list", {}, f"it is {at}") for at in range(2)],
        ("peek", {"name": "x"}, "nothing"),
        ("list", {}, "x"),
    ]
    clocks = sessions(4, lambda _: steps)
    assert stirring(clocks, TOOLS, RULES) == frozenset()


def world(fixtures):
    environment = Environment(Toolset.from_definitions(DEFINITIONS, name="store"), dynamics=RULES, precedents=fixtures)
    return Session(environment, environment.world())


def test_what_was_answered_before_such_a_call_is_not_answered_again_after_it():
    session = world(looked_at("make", 8, 0))
    assert session("list").result.first_text == "a, b"
    assert session("list").result.first_text == "a, b"
    session("make", name="c9")
    assert session("list").result.first_text == "a, b, c"


def test_after_one_that_was_seen_to_change_nothing_it_is():
    session = world(looked_at("peek", 0, 8))
    assert session("list").result.first_text == "a, b"
    session("peek", name="c9")
    assert session("list").result.first_text == "a, b"


def test_what_is_not_certain_after_such_calls_claims_less():
    fixtures = sessions(
        16,
        lambda n: [
            ("list", {}, "a, b"),
            *((("make", {"name": f"c{n}"}, "done"), ("list", {}, f"a, b, {'xyz'[n % 3]}{n}")) if n % 4 > 1 else ()),
        ],
    )
    session = world(fixtures)
    before = session("list").confidence
    session("make", name="c9")
    assert session("list").confidence < before


STEPS = st.lists(
    st.tuples(
        st.sampled_from(sorted(TOOLS)), st.fixed_dictionaries({"name": st.sampled_from("ab")}), st.sampled_from("xyz")
    ),
    max_size=12,
)


@given(st.lists(STEPS, max_size=5))
@settings(max_examples=80, deadline=None)
def test_of_any_recordings_only_tools_are_named_that_are_not_known_to_write(sessions):
    fixtures = [fixture for n, steps in enumerate(sessions) for fixture in episode(f"e{n}", *steps)]
    assert stirring(fixtures, TOOLS, RULES) <= {"make", "peek", "list"}
