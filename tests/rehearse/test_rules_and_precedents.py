"""Which goes first, the rule of a tool or what was recorded of it; and words made by chance that are told again."""

import json
import re
from random import Random

import pytest
from notes_toolset import TEXT, Session, observed, tool

from envace_sdk.rehearse import Environment
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.state import State

RULES = """
collections: {people: {key: id, open: true, mint: "P-{hex:6}"}}
tools:
  add: {effect: create, collection: people, take: [name], returns: {fields: [id, name]}}
  get: {effect: read, collection: people, key: args.id, returns: {fields: [id, name, city]}, confidence: 0.3}
"""
TOOLS = [tool("add", {"name": TEXT}, ["name"]), tool("get", {"id": TEXT}, ["id"])]


def environment(precedents, *, start=None, rules=RULES, tools=TOOLS):
    dynamics = Dynamics.parse(rules)
    return Environment(
        Toolset.from_definitions(tools, name="people"),
        dynamics=dynamics,
        precedents=precedents,
        start=None if start is None else State.start(dynamics=dynamics, collections=start),
    )


def open_world(*args, **options):
    known = environment(*args, **options)
    return Session(known, known.world())


def person(key, name, city):
    return {"id": key, "name": name, "city": city}


def asked(episodes=8):
    """Sessions in which people are asked for who were never heard of, and once more: then their names are known."""
    return [
        observed("get", {"id": f"p{n}"}, person(f"p{n}", f"name of p{n}", "Turku"), f"e{n}", at)
        for n in range(episodes)
        for at in range(2)
    ]


def test_a_rule_that_knows_enough_goes_before_precedents():
    session = open_world(asked(16), start={"people": [person("x1", "Ann", "Kuopio")]})
    rehearsal = session("get", id="x1")
    assert rehearsal.layer == "dynamics"
    assert rehearsal.result.value() == person("x1", "Ann", "Kuopio")


def test_where_it_lacks_what_every_answer_shows_precedents_go_before_it():
    session = open_world(asked(16), start={"people": [{"id": "x1", "name": "Ann"}]})
    rehearsal = session("get", id="x1")
    assert rehearsal.layer == "precedent"
    assert rehearsal.result.value() == person("x1", "Ann", "Turku")


def replayed(fixtures, *, start=None, rules=RULES):
    known = environment((), start=start, rules=rules)
    return known._observed.replay(fixtures, known.start)


def test_answers_in_full_are_those_with_all_that_every_recorded_success_shows():
    everybody = {"people": [person("x1", "Ann", "Kuopio"), {"id": "x2", "name": "Bo"}]}
    seen = replayed(asked(), start=everybody)
    start = State.start(dynamics=Dynamics.parse(RULES), collections=everybody)
    wanted = [seen.answers(Fixture(ToolCall("get", {"id": key}), ToolResult(())), start) for key in ("x1", "x2", "x3")]
    assert wanted == [True, False, False]


def test_what_some_successes_show_besides_is_not_asked_for():
    short = [observed("get", {"id": f"q{n}"}, {"id": f"q{n}", "name": "n"}, f"s{n}", 0) for n in range(2)]
    seen = replayed([*asked(), *short], start={"people": [{"id": "x2", "name": "Bo"}]})
    start = State.start(dynamics=Dynamics.parse(RULES), collections={"people": [{"id": "x2", "name": "Bo"}]})
    assert seen.answers(Fixture(ToolCall("get", {"id": "x2"}), ToolResult(())), start)


def test_a_rule_is_proven_in_full_by_the_calls_that_it_could_answer_so():
    seen = replayed(asked())
    assert seen.proven("get") == 0.5
    assert seen.proven_in_full("get") == 1.0


def test_few_calls_prove_nothing():
    assert replayed(asked(2)).proven_in_full("get") is None
    assert replayed([]).proven_in_full("get") is None
    assert replayed(asked()).proven_in_full("add") is None


def test_a_name_made_by_chance_does_not_speak_against_a_rule():
    made = [observed("add", {"name": f"n{n}"}, {"id": f"P-{n:06x}", "name": f"n{n}"}, f"e{n}", 0) for n in range(5)]
    assert replayed(made).proven("add") == 1.0
    other = [observed("add", {"name": f"n{n}"}, {"id": f"P-{n:06x}", "name": "x"}, f"e{n}", 0) for n in range(5)]
    assert replayed(other).proven("add") == 0.0


@pytest.mark.parametrize(
    "answer", [None, [], "x", 5, {"id": []}, {"id": {"id": 1}}, {"id": None, "name": 1}, [{"id": 1}]]
)
def test_whatever_a_create_was_answered_it_is_followed(answer):
    made = [observed("add", {"name": f"n{n}"}, answer, f"e{n}", 0) for n in range(5)]
    assert replayed(made).proven("add") == 0.0
    assert open_world(made)("add", name="y").result.is_error is False


JOBS = [
    tool("begin", {"what": TEXT}, ["what"]),
    tool("watch", {}),
    tool("finish", {}),
]
OPAQUE = "tools: {begin: {effect: opaque}, watch: {effect: opaque}, finish: {effect: opaque}}"


def jobs(episodes=10):
    """Sessions in which jobs get tickets by chance, which later answers speak of in the midst of their words."""
    for n in range(episodes):
        random = Random(n)
        tickets = [f"TK-{random.randrange(16**8):08x}" for _ in range(2)]
        steps = [
            ("begin", {"what": f"sweep {n}"}, f"Begun under ticket {tickets[0]}, please keep it."),
            ("begin", {"what": f"paint {n}"}, f"Begun under ticket {tickets[1]}, please keep it."),
            ("watch", {}, f"Two jobs are running: {tickets[0]} waits for {tickets[1]}."),
            ("finish", {}, f"All is done; {tickets[1]} was the last."),
        ]
        for at, (name, arguments, answer) in enumerate(steps):
            yield observed(name, arguments, answer, f"night {n}", at)


def tickets_in(text):
    return re.findall(r"TK-[0-9a-f]{8}", text)


def test_words_that_an_earlier_call_made_by_chance_are_those_of_the_like_call_here():
    session = open_world(list(jobs()), rules=OPAQUE, tools=JOBS)
    recorded = {ticket for fixture in jobs() for ticket in tickets_in(fixture.result.first_text)}
    own = [tickets_in(session("begin", what=what).result.first_text)[0] for what in ("mop", "dust")]
    assert recorded.isdisjoint(own)
    assert len(set(own)) == 2
    assert tickets_in(session("watch").result.first_text) == own
    assert tickets_in(session("finish").result.first_text) == own[1:]


def test_where_there_is_no_like_call_here_the_words_are_not_those_of_another():
    session = open_world(list(jobs()), rules=OPAQUE, tools=JOBS)
    own = tickets_in(session("begin", what="mop").result.first_text)
    told = tickets_in(session("watch").result.first_text)
    assert own[0] in told


def test_the_same_calls_in_the_same_world_are_told_the_same_words():
    def play(seed):
        known = environment(list(jobs()), rules=OPAQUE, tools=JOBS)
        session = Session(known, known.world(seed=seed))
        calls = [("begin", {"what": "mop"}), ("begin", {"what": "dust"}), ("watch", {}), ("finish", {})]
        return json.dumps([session(name, **arguments).result.first_text for name, arguments in calls])

    assert play(1) == play(1) != play(2)


def test_what_a_call_needs_can_be_asked_of_any_state():
    interpreter = Interpreter(Dynamics.parse(RULES))
    [get] = [one for one in Toolset.from_definitions(TOOLS, name="people") if one.name == "get"]
    assert [need.key for need in interpreter.needs(get, {"id": "a"}, State())] == ["a"]
