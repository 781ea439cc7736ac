"""Which calls a plan strikes, on the notes toolset."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notes_toolset import DYNAMICS

from envace_sdk.errors import FaultError
from envace_sdk.faults import FaultPlan, Schedule
from envace_sdk.faults.schedule import forget
from envace_sdk.tools.model import ToolCall
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.state import State

RULES = Dynamics.parse(DYNAMICS)
READ = ToolCall("read_note", {"note_id": "N-1"})


def schedule(*faults, **plan):
    return Schedule(FaultPlan.from_document({"faults": list(faults), **plan}), RULES)


def play(faults, calls, state=None, *, writes=False):
    """The kinds that strike, call by call, None where none does; and the state afterwards."""
    state = State.start(dynamics=RULES) if state is None else state
    struck = []
    for call in calls:
        strike = faults.strike(call, state, writes=writes)
        struck.append(strike.fault.kind if strike.fault else None)
        state = strike.state
    return struck, state


def struck(faults, calls, **more):
    return "".join("x" if kind else "." for kind in play(faults, calls, **more)[0])


@pytest.mark.parametrize(
    ("fault", "pattern"),
    [
        ({}, "xxxxxxxx"),
        ({"every": 3}, "..x..x.."),
        ({"every": 3, "skip": 1}, "...x..x."),
        ({"skip": 5}, ".....xxx"),
        ({"limit": 2}, "xx......"),
        ({"every": 4, "in_a_row": 2}, "...xx..x"),
        ({"every": 2, "in_a_row": 3, "limit": 4}, ".xxx.x.."),
        ({"probability": 0}, "........"),
        ({"probability": 1}, "xxxxxxxx"),
    ],
)
def test_triggers_choose_among_the_matching_calls(fault, pattern):
    assert struck(schedule({"kind": "error", **fault}), [READ] * 8) == pattern


def test_tools_and_conditions_choose_which_calls_match():
    calls = [READ, ToolCall("add_note", {"title": "A"}), ToolCall("read_note", {"note_id": "N-2"})]
    assert struck(schedule({"kind": "error", "tools": "read_*"}), calls) == "x.x"
    assert struck(schedule({"kind": "error", "tools": ["add_note", "nothing"]}), calls) == ".x."
    condition = {"kind": "error", "tools": "read_*", "when": "args.note_id == 'N-2'"}
    assert struck(schedule(condition), calls) == "..x"
    assert struck(schedule({"kind": "error", "when": "tool == 'add_note'"}), calls) == ".x."
    assert struck(schedule({"kind": "error", "when": "size(world.notes) > 0"}), calls) == "..."


def test_reads_and_writes_are_told_apart():
    for kind in ("reads", "writes"):
        faults = schedule({"kind": "error", "calls": kind})
        assert struck(faults, [READ], writes=True) == ("x" if kind == "writes" else ".")
        assert struck(faults, [READ], writes=False) == ("x" if kind == "reads" else ".")


def test_the_first_due_fault_strikes_and_the_others_count_all_the_same():
    faults = schedule({"kind": "not_found", "every": 2}, {"kind": "error", "every": 3})
    kinds, state = play(faults, [READ] * 6)
    assert kinds == [None, "not_found", "error", "not_found", None, "not_found"]
    assert faults.counts(state) == [{"seen": 6, "given": 3}, {"seen": 6, "given": 1}]


@given(st.integers(), st.integers(0, 30), st.floats(0, 1))
@settings(max_examples=40, deadline=None)
def test_a_state_taken_at_any_moment_goes_on_with_the_same_faults(seed, cut, probability):
    faults = schedule({"kind": "error", "probability": probability, "in_a_row": 2}, {"kind": "not_found", "every": 4})
    start = State.start(dynamics=RULES, seed=seed)
    whole, end = play(faults, [READ] * 30, start)
    _, middle = play(faults, [READ] * cut, start)
    saved = State.from_json(json.loads(json.dumps(middle.to_json())))
    rest, other_end = play(faults, [READ] * (30 - cut), saved)
    assert rest == whole[cut:]
    assert other_end == end


def test_chance_follows_the_worlds_seed_unless_the_plan_has_its_own():
    fault = {"kind": "error", "probability": 0.5}

    def pattern(world, **plan):
        return struck(schedule(fault, **plan), [READ] * 60, state=State.start(dynamics=RULES, seed=world))

    assert pattern(1) == pattern(1)
    assert pattern(1) != pattern(2)
    assert pattern(1, seed=9) == pattern(2, seed=9)
    assert 15 < pattern(1).count("x") < 45


def test_counting_leaves_version_clock_and_collections_as_they_were():
    start = State.start(dynamics=RULES)
    _, state = play(schedule({"kind": "error"}), [READ] * 3, start)
    assert state.counters
    assert state.replace(counters=start.counters) == start
    assert forget(state) == start
    assert forget(start) is start


def test_texts_are_templates_over_the_call():
    text = "{tool} {args.note_id}: call {nth}, {now}, come back in {retry_after} s"
    faults = schedule({"kind": "rate_limit", "retry_after": 2.5, "text": text})
    strike = faults.strike(READ, State.start(dynamics=RULES), writes=False)
    assert strike.text == "read_note N-1: call 1, 2026-01-01T09:00:00Z, come back in 2.5 s"


def test_delays_are_drawn_within_their_bounds_and_reproducibly():
    faults = schedule({"kind": "latency", "delay": [0.5, 2]})
    state, delays = State.start(dynamics=RULES), []
    for _ in range(20):
        strike = faults.strike(READ, state, writes=False)
        delays.append(strike.delay)
        assert faults.strike(READ, state, writes=False).delay == strike.delay
        state = strike.state
    assert all(0.5 <= delay <= 2 for delay in delays)
    assert len(set(delays)) == 20


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ({"when": "args.nothing > 1"}, r"faults\[0\].when: .*nothing"),
        ({"when": "args.note_id"}, r"faults\[0\].when: .*must be true or false"),
        ({"text": "{args.nothing}"}, r"faults\[0\].text: .*nothing"),
    ],
)
def test_what_cannot_be_computed_is_named(fault, says):
    faults = schedule({"kind": "error", **fault}, name="mine")
    with pytest.raises(FaultError, match=f"'mine': {says}"):
        faults.strike(READ, State.start(dynamics=RULES), writes=False)
