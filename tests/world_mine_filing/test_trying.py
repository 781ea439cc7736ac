from envace_sdk.tools import Toolset
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.mine.account import account_of
from envace_sdk.world.mine.trying import try_rules

TOOLS = Toolset.from_definitions(
    [
        {"name": name, "inputSchema": {"type": "object"}}
        for name in ("get_lamp", "light", "add_lamp", "list_lamps", "log_in", "who", "sum")
    ],
    name="lamps",
)
DYNAMICS = Dynamics.parse("""
collections:
  lamps: {key: id, noun: lamp, mint: "L{n}"}
  session: {key: id}
tools:
  get_lamp: {effect: read, collection: lamps, key: args.id}
  light:
    effect: update
    collection: lamps
    key: args.id
    requires:
      - that: entity != null
        error: "no {args.id}"
      - that: "!default(entity.lit, false)"
        error: "{args.id} is lit"
    set: {lit: true, by: "'ana'"}
    returns: {text: done}
  add_lamp: {effect: create, collection: lamps, take: [room], set: {lit: false}}
  list_lamps: {effect: search, collection: lamps, returns: {wrap: lamps}}
  log_in:
    effect: compute
    also: [{effect: update, collection: session, key: "'session'", upsert: true, set: {user: args.user}}]
    returns: {value: "true"}
  who: {effect: compute, returns: {object: {user: session.user}}}
  sum: {effect: compute, returns: {object: {sum: args.a + args.b}}}
""")


def tried(*calls, start=(), dynamics=DYNAMICS):
    """The trials of calls of one episode; a call is a tool, its arguments, its answer; an error is an exception."""
    fixtures = []
    for position, (name, arguments, answer) in enumerate(calls):
        if isinstance(answer, Exception):
            result = ToolResult.text(str(answer), is_error=True)
        else:
            result = ToolResult.text(answer) if isinstance(answer, str) else ToolResult.json(answer, structured=True)
        fixtures.append(Fixture(ToolCall(name, arguments), result, "e", position))
    return try_rules(TOOLS, dynamics, {"lamps": list(start)}, fixtures)


def counts(tallies):
    return {name: (tally.right, tally.wrong) for name, tally in tallies.items()}


def test_each_requirement_is_tried_where_it_refuses():
    light = tried(
        ("light", {"id": "a"}, "done"),
        ("light", {"id": "a"}, ValueError("a is lit")),
        ("light", {"id": "a"}, ValueError("a is broken")),
        ("light", {"id": "b"}, ValueError("no b")),
        start=[{"id": "a"}],
    )["light"]
    assert counts(light.requirements) == {0: (1, 0), 1: (1, 1)}
    assert (light.calls, light.errors, light.decided, light.right) == (4, 3, 4, 3)
    first = light.requirements[1].first
    assert (first.episode, first.position, first.recorded, first.given) == ("e", 2, "a is broken", "a is lit")


def test_a_change_is_tried_by_the_answers_that_show_the_field_later():
    trials = tried(
        ("light", {"id": "a"}, "done"),
        ("get_lamp", {"id": "a"}, {"id": "a", "lit": True, "by": "ben"}),
        ("get_lamp", {"id": "a"}, {"id": "a", "lit": True, "by": "ben"}),
        start=[{"id": "a"}],
    )
    assert counts(trials["light"].fields) == {"set.lit": (1, 0), "set.by": (0, 1)}
    first = trials["light"].fields["set.by"].first
    assert (first.position, first.recorded, first.given) == (0, "ben", "ana")
    assert first.note == "as get_lamp showed at call 2"
    # The second look finds what the first has shown: one wrong rule does not spoil all that follows.
    assert counts(trials["get_lamp"].answer) == {"id": (2, 0), "lit": (2, 0), "by": (1, 1)}


def test_lists_and_the_session_show_fields_too():
    trials = tried(
        ("light", {"id": "a"}, "done"),
        ("list_lamps", {}, {"lamps": [{"id": "a", "lit": True, "by": "ana"}]}),
        ("log_in", {"user": "cleo"}, True),
        ("who", {}, {"user": "cleo"}),
        start=[{"id": "a"}],
    )
    assert counts(trials["light"].fields) == {"set.lit": (1, 0), "set.by": (1, 0)}
    assert counts(trials["log_in"].fields) == {"also[0].set.user": (1, 0)}
    assert all(trial.right == trial.calls for trial in trials.values())


def test_what_a_call_made_has_the_recorded_key_whatever_the_world_began_with():
    add = tried(
        ("add_lamp", {"room": "hall"}, {"id": "L7", "room": "hall", "lit": False}),
        ("light", {"id": "L7"}, "done"),
        start=[{"id": "L7", "room": "attic"}],
    )
    assert add["add_lamp"].right == 1
    assert counts(add["add_lamp"].fields) == {"take.room": (1, 0), "set.lit": (1, 0)}
    assert add["light"].right == 1


def test_errors_that_no_requirement_gives_are_kept_apart():
    light = tried(("light", {"id": "a"}, ValueError("too dark")), start=[{"id": "a"}])["light"]
    assert (light.passed, light.right, light.unforeseen[0].recorded) == (1, 0, "too dark")


def test_an_expression_that_cannot_be_computed_is_a_wrong_answer_and_no_crash():
    trial = tried(("sum", {"a": 1}, {"sum": 1}), ("sum", {"a": 1, "b": 2}, {"sum": 3}))["sum"]
    assert (trial.decided, trial.right, len(trial.broken)) == (2, 1, 1)
    assert "args.b" in trial.broken[0].note


def test_leaves_that_are_never_right_count_against_a_rule_only_as_far_as_they_go():
    calls = [
        ("add_lamp", {"room": "x"}, {"id": f"K{n}", "room": "x", "lit": False, "at": n, "n": 1}) for n in range(20)
    ]
    trial = tried(*calls)["add_lamp"]
    assert trial.unexplained == ["at", "n"]
    assert trial.right == 20
    assert 0.5 < trial.confidence < 0.65
    assert tried(*[("light", {"id": "a"}, f"done {n}") for n in range(5)], start=[{"id": "a"}])["light"].right == 0


def test_confidence_is_cautious_where_calls_are_few():
    few = tried(("log_in", {"user": "a"}, True), ("log_in", {"user": "b"}, True))["log_in"]
    many = tried(*[("log_in", {"user": str(n)}, True) for n in range(300)])["log_in"]
    assert few.confidence == 0.75
    assert many.confidence == 0.99


def test_the_account_names_each_part_with_what_speaks_for_it_and_against_it():
    trials = tried(
        ("light", {"id": "a"}, "done"),
        ("get_lamp", {"id": "a"}, {"id": "a", "lit": True, "by": "ben"}),
        ("light", {"id": "a"}, ValueError("a is lit")),
        ("light", {"id": "b"}, ValueError("too dark")),
        ("light", {"id": "c"}, "done"),
        start=[{"id": "a"}, {"id": "b"}],
    )
    text = account_of("light", DYNAMICS.tools["light"], trials["light"], None)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[:2] == ["light: update of lamps by args.id", "4 recorded calls, 2 errors"]
    assert "0 right 1 wrong entity != null else no {args.id}" in lines
    assert "1 right 0 wrong !default(entity.lit, false) else {args.id} is lit" in lines
    assert "1 right 0 wrong set.lit = true" in lines
    assert "0 right 1 wrong set.by = 'ana'" in lines
    said = 'wrong in episode \'e\' at call 1: recorded "ben", the rule gives "ana" (as get_lamp showed at call 2)'
    assert said in lines
    assert 'first in episode \'e\' at call 4, with {"id": "b"}' in lines
    assert account_of("who", DYNAMICS.tools["who"], None, None) == "who: no call of it is recorded\n"
