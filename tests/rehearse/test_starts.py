"""A world is laid out as the recorded session began that it is most like."""

import json

import pytest
from cost import cost
from hypothesis import given, settings
from hypothesis import strategies as st
from notes_toolset import TEXT, Session, observed, tool

from envace_sdk.rehearse import Environment
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

RULES = """
collections:
  files: {key: name}
  tickets: {key: id, mint: "{int}"}
tools:
  cat: {effect: read, collection: files, key: args.name, returns: {fields: [name, text]}}
  put: {effect: create, collection: files, key: args.name, take: [text]}
  edit: {effect: update, collection: files, key: args.name, take: [text]}
  rm: {effect: delete, collection: files, key: args.name}
  ls: {effect: search, collection: files, returns: {wrap: files}}
  open: {effect: create, collection: tickets, take: [title]}
"""
NAME = {"name": TEXT}
TOOLS = [
    tool("cat", NAME, ["name"]),
    tool("put", {**NAME, "text": TEXT}, ["name", "text"]),
    tool("edit", {**NAME, "text": TEXT}, ["name", "text"]),
    tool("rm", NAME, ["name"]),
    tool("ls"),
    tool("open", {"title": TEXT}, ["title"]),
]
MISSING = "File '{}' not found"


def desk(precedents, *, start=None, rules=RULES, tools=TOOLS):
    dynamics = Dynamics.parse(rules)
    environment = Environment(
        Toolset.from_definitions(tools, name="desk"),
        dynamics=dynamics,
        precedents=precedents,
        start=None if start is None else State.start(dynamics=dynamics, collections=start),
    )
    return Session(environment, environment.world())


def shown(name, text):
    return {"name": name, "text": text}


def episode(name, *steps):
    """A recorded session: (tool, arguments, answer), a text being an error."""
    return [
        observed(what, arguments, answer, name, at, is_error=isinstance(answer, str))
        for at, (what, arguments, answer) in enumerate(steps)
    ]


def cat(name, text=None):
    return "cat", {"name": name}, MISSING.format(name) if text is None else shown(name, text)


def houses(sessions=12, kinds=4):
    """Sessions of a few kinds: each kind begins with files of its own, and a plan in words of its own."""
    return [
        fixture
        for number in range(sessions)
        for fixture in episode(
            f"session {number}",
            cat(f"diary_of_{number % kinds}.txt", f"dear diary {number % kinds}"),
            cat(f"bills_of_{number % kinds}.txt", f"{number % kinds} pounds"),
            cat("plan.txt", f"plan {number % kinds}"),
            ("open", {"title": f"leak {number}"}, {"id": 100 * (number % kinds + 1), "title": f"leak {number}"}),
        )
    ]


def files(session):
    return {key: document.get("text") for key, document in session.world.state.collection("files").items()}


def test_what_a_call_names_is_there_if_a_recorded_session_began_with_it():
    house = desk(houses())
    assert house.value("cat", name="diary_of_2.txt") == shown("diary_of_2.txt", "dear diary 2")


def test_whoever_names_what_few_had_has_what_they_had_besides_and_no_more():
    house = desk(houses())
    house("cat", name="diary_of_2.txt")
    assert files(house) == {"diary_of_2.txt": "dear diary 2", "bills_of_2.txt": "2 pounds", "plan.txt": "plan 2"}


def test_a_writing_call_tells_where_it_is_too():
    house = desk(houses())
    house.value("edit", name="bills_of_3.txt", text="paid")
    assert files(house) == {"bills_of_3.txt": "paid", "diary_of_3.txt": "dear diary 3", "plan.txt": "plan 3"}


def test_a_call_that_few_made_tells_as_much_as_what_it_names():
    house = desk(houses(kinds=12))
    house("open", title="leak 7")
    assert files(house)["diary_of_7.txt"] == "dear diary 7"


def test_numbers_go_on_from_where_those_sessions_counted():
    house = desk(houses())
    house("cat", name="diary_of_2.txt")
    assert [house.value("open", title=title)["id"] for title in ("drip", "crack")] == [300, 301]


def test_what_this_world_counted_already_it_goes_on_counting():
    house = desk(houses())
    first = house.value("open", title="drip")["id"]
    house("cat", name="diary_of_2.txt")
    assert house.value("open", title="crack")["id"] == first + 1


def test_what_all_sessions_have_tells_nothing():
    house = desk(houses())
    house("cat", name="plan.txt")
    assert files(house) == {"plan.txt": None}


def test_what_most_sessions_had_brings_nothing_else():
    usual = [step for n in range(9) for step in episode(f"usual {n}", cat("diary.txt", "x"), cat("bills_x.txt", "y"))]
    house = desk([*usual, *houses(3, kinds=3)])
    assert house.value("cat", name="diary.txt") == shown("diary.txt", "x")
    assert files(house) == {"diary.txt": "x"}


def test_what_nobody_had_is_missing():
    house = desk(houses())
    assert house("cat", name="nobody_had_this.txt").result.is_error
    assert files(house) == {}


def test_what_is_named_like_things_that_were_there_is_there():
    house = desk(houses())
    assert house.value("cat", name="diary_of_9.txt") == {"name": "diary_of_9.txt"}
    assert files(house) == {"diary_of_9.txt": None}


def test_what_is_named_like_things_that_were_named_in_vain_is_not():
    gone = episode("other", cat("diary_of_x.txt"), cat("diary_of_y.txt"))
    assert desk([*houses(), *gone])("cat", name="diary_of_9.txt").result.is_error
    assert not desk([*houses(kinds=8), *gone])("cat", name="diary_of_9.txt").result.is_error
    assert desk([*houses(kinds=8), *gone])("cat", name="diary_of_x.txt").result.is_error


def test_what_was_taken_away_here_is_not_there_again():
    house = desk(houses())
    house("cat", name="diary_of_9.txt")
    house.value("rm", name="diary_of_9.txt")
    assert house("cat", name="diary_of_9.txt").result.is_error


def test_what_more_sessions_missed_than_had_is_missing():
    gone = [fixture for n in range(5) for fixture in episode(f"other {n}", cat("diary_of_2.txt"))]
    assert desk([*houses(), *gone])("cat", name="diary_of_2.txt").result.is_error
    assert not desk([*houses(), *gone[:2]])("cat", name="diary_of_2.txt").result.is_error


def test_what_was_said_to_be_missing_stays_so_though_the_session_turns_out_to_be_one_that_had_it():
    missing = [fixture for n in range(5) for fixture in episode(f"other {n}", cat("bills_of_2.txt"))]
    house = desk([*houses(), *missing])
    assert house("cat", name="bills_of_2.txt").result.is_error
    house("cat", name="diary_of_2.txt")
    assert "plan.txt" in files(house)
    assert house("cat", name="bills_of_2.txt").result.is_error
    assert "bills_of_2.txt" not in files(house)


def test_what_was_done_here_stays_done():
    house = desk(houses())
    house.value("put", name="plan.txt", text="mine")
    house.value("put", name="bills_of_1.txt", text="mine too")
    house.value("rm", name="bills_of_1.txt")
    house("cat", name="diary_of_1.txt")
    assert files(house) == {"plan.txt": "mine", "diary_of_1.txt": "dear diary 1"}


def test_what_the_start_has_is_as_those_sessions_had_it_unless_something_happened_to_it():
    start = {"files": [{"name": "plan.txt", "text": "usual", "mode": "r"}]}
    house = desk(houses(), start=start)
    house("cat", name="diary_of_1.txt")
    assert house.world.state.get("files", "plan.txt") == {"name": "plan.txt", "text": "plan 1", "mode": "r"}
    house = desk(houses(), start=start)
    house.value("edit", name="plan.txt", text="changed")
    house("cat", name="diary_of_1.txt")
    assert house.world.state.get("files", "plan.txt")["text"] == "changed"


def test_what_a_session_made_itself_it_did_not_begin_with():
    made = [
        fixture
        for n in range(8)
        for fixture in episode(
            f"maker {n}",
            ("put", shown(f"made_by_{n}.txt", "new"), shown(f"made_by_{n}.txt", "new")),
            cat(f"made_by_{n}.txt", "new"),
            ("put", shown("all.txt", f"{n}"), shown("all.txt", f"{n}")),
        )
    ]
    house = desk([*made, *houses()])
    assert house("cat", name="made_by_3.txt").result.is_error
    assert house("cat", name="all.txt").result.is_error


def test_few_sessions_or_a_common_start_lay_out_nothing():
    same = [fixture for n in range(6) for fixture in episode(f"s{n}", cat("plan_b.txt"))]
    for precedents, name in ((houses(3), "diary_of_2.txt"), (same, "plan_b.txt"), ((), "plan_b.txt")):
        house = desk(precedents)
        before = house.world.state.collections
        house("cat", name=name)
        assert house.world.state.collections == before
        assert "rehearse.starts" not in house.world.state.history


def test_declined_calls_show_that_something_is_missing():
    declines = "requires: [{that: entity != null, error: 'No {args.name}', status: success}]"
    declining = RULES.replace("key: args.name, returns", f"key: args.name, {declines}, returns")
    no = [observed("cat", {"name": "lost_file.txt"}, "No lost_file.txt", f"other {n}", 0) for n in range(6)]
    house = desk([*houses(), *no], rules=declining)
    assert house.value("cat", name="lost_file.txt") == "No lost_file.txt"
    assert files(house) == {}


def test_calls_and_recordings_in_any_order_give_the_same_bytes():
    def play(precedents):
        house = desk(precedents)
        for name in ("plan.txt", "bills_of_1.txt", "none.txt", "diary_of_2.txt", "diary_of_1.txt"):
            house("cat", name=name)
        house("open", title="leak 2")
        house("ls")
        return json.dumps(house.world.state.to_json())

    recorded = houses()
    assert play(recorded) == play(recorded)
    by_episode = sorted(recorded, key=lambda fixture: (fixture.episode, -fixture.position), reverse=True)
    kept = [json.loads(play(some))["collections"] for some in (recorded, by_episode)]
    assert kept[0] == kept[1]


def test_forks_snapshots_and_other_worlds_each_have_their_own_start():
    house = desk(houses())
    fork = house.fork()
    house("cat", name="diary_of_2.txt")
    fork("cat", name="diary_of_3.txt")
    assert files(house)["plan.txt"] == "plan 2"
    assert files(fork)["plan.txt"] == "plan 3"
    other = Session(house.environment, house.environment.world("other"))
    assert files(other) == {}
    other.world.commit(State.from_json(json.loads(json.dumps(house.world.state.to_json()))))
    assert other.world.state == house.world.state
    assert other.value("cat", name="bills_of_2.txt")["text"] == "2 pounds"


def test_what_two_kinds_of_sessions_had_leads_to_neither_until_more_is_known():
    shared = [
        fixture
        for n in range(12)
        for fixture in episode(f"s{n}", cat(f"pair_{n // 2}.txt", f"pair {n // 2}"), cat("note.txt", f"note {n}"))
    ]
    house = desk(shared)
    assert house.value("cat", name="pair_2.txt")["text"] == "pair 2"
    assert "text" not in house.world.state.get("files", "note.txt")


@pytest.mark.parametrize(
    "held", ["[" * 100_000, "5", "{}", "[[1], null]", '"a"', "null", "", "x", json.dumps(["m"] * 9999)]
)
def test_a_snapshot_that_holds_something_else_in_their_place_is_no_matter(held):
    house = desk(houses())
    state = house.world.state
    house.world.commit(state.replace(history=state.history.set("rehearse.starts", held)))
    assert house.value("cat", name="diary_of_2.txt")["text"] == "dear diary 2"
    assert len(json.loads(house.world.state.history["rehearse.starts"])) <= 60


def test_a_rule_that_is_wrong_keeps_no_other_tool_from_answering():
    rules = RULES + "  bad: {effect: read, collection: files, key: '1 +'}\n"
    bad = [fixture for n in range(6) for fixture in episode(f"session {n}", ("bad", {}, {"ok": n}))]
    house = desk([*houses(), *bad], rules=rules, tools=[*TOOLS, tool("bad")])
    assert house.value("cat", name="diary_of_2.txt")["text"] == "dear diary 2"


def test_numbers_stay_numbers_and_dotted_keys_lie_where_they_belong():
    rules = """
    collections: {books: {key: id}, pages: {key: meta.number}}
    tools:
      lend: {effect: compute, let: {book: "get('books', args.id)"}, requires: [{that: book != null, error: none}],
             returns: {object: {lent: book.id}}}
      turn: {effect: read, collection: pages, key: args.number, returns: {fields: [text]}}
    """
    tools = [
        tool("lend", {"id": {"type": "integer"}}, ["id"]),
        tool("turn", {"number": {"type": "integer"}}, ["number"]),
    ]
    recorded = [
        fixture
        for n in range(6)
        for fixture in episode(
            f"s{n}", ("lend", {"id": 100 + n}, {"lent": 100 + n}), ("turn", {"number": 500 + n}, {"text": f"t{n}"})
        )
    ]
    house = desk(recorded, rules=rules, tools=tools)
    assert house.value("lend", id=103) == {"lent": 103}
    assert house.world.state.get("pages", "503") == {"meta": {"number": 503}, "text": "t3"}
    assert house("turn", number=599).result.value() == {}
    assert house.world.state.get("pages", "599") == {"meta": {"number": 599}}
    house.world.state.check_keys(house.environment.dynamics)


def test_a_key_in_two_forms_is_still_a_key():
    forms = [
        fixture
        for n, key in enumerate([7, "7", 7, "7"])
        for fixture in episode(f"s{n}", ("cat", {"name": key}, {"name": key, "text": "x"}))
    ]
    house = desk(forms, tools=[tool("cat", {"name": {}}, ["name"]), *TOOLS[1:]])
    house("cat", name=7)
    house.world.state.check_keys(house.environment.dynamics)
    assert house.world.state.get("files", "7")["text"] == "x"


def test_a_count_beyond_all_numbers_is_not_gone_on_with():
    huge = [
        fixture
        for n in range(6)
        for fixture in episode(
            f"s{n}", cat(f"diary_of_{n}.txt", "x"), ("open", {"title": "t"}, {"id": 10**400 + n, "title": "t"})
        )
    ]
    house = desk(huge)
    house("cat", name="diary_of_2.txt")
    assert house.world.state.counters.get("tickets", 0) < 2**53


def test_no_more_sessions_are_looked_at_than_fit_and_those_whole():
    many = [cat for n in range(2100) for cat in episode(f"s{n}", cat_of(n, 0), cat_of(n, 1))]
    house = desk(many)
    house("cat", name="file_1999_0.txt")
    assert set(files(house)) == {"file_1999_0.txt", "file_1999_1.txt"}
    assert house("cat", name="file_2050_0.txt").result.is_error or files(house).get("file_2050_1.txt") is None


def cat_of(number, at):
    return cat(f"file_{number}_{at}.txt", f"text {number} {at}")


def test_time_grows_with_the_sessions_and_later_calls_take_little_of_it():
    def first(sessions):
        house = desk([step for n in range(sessions) for step in episode(f"s{n}", *(cat_of(n, at) for at in range(4)))])
        return house, cost(lambda: house("cat", name="file_7_0.txt"))

    (_, small), (house, large) = first(400), first(1600)
    assert large < 10 * small
    assert cost(lambda: house("cat", name="file_8_1.txt")) < large / 10


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["a.txt", "b_2.txt", "", "/", "null"]),
    lambda part: (
        st.lists(part, max_size=3) | st.dictionaries(st.sampled_from(["name", "text", "id", "files"]), part, max_size=3)
    ),
    max_leaves=8,
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from([t["name"] for t in TOOLS]),
        st.dictionaries(st.sampled_from(["name", "text", "title"]), ANYTHING, max_size=3),
        ANYTHING,
    ),
    min_size=1,
    max_size=5,
)
OPEN = [tool(t["name"], {}) for t in TOOLS]


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=4, max_size=7), STEPS)
def test_whatever_was_recorded_worlds_stay_whole(sessions, played):
    recorded = [step for number, steps in enumerate(sessions) for step in episode(f"s{number}", *steps)]
    house = desk(recorded, tools=OPEN)
    for name, arguments, _ in [*(step for steps in sessions for step in steps), *played]:
        house(name, **{f"{key}": value for key, value in arguments.items() if key != "self"})
    state = house.world.state
    state.check_keys(house.environment.dynamics)
    assert State.from_json(json.loads(json.dumps(state.to_json()))) == state
