"""What faults make of calls: step three of the ladder, and what a caller sees of it."""

import asyncio
import json

import pytest
from notes_toolset import DYNAMICS, TOOLS, tool

from envace_sdk.errors import DisconnectedError, FaultError, StoreError, TimedOutError
from envace_sdk.evidence import KEY, read_label
from envace_sdk.faults import FaultPlan
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.store import Store
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics

ADD = ToolCall("add_note", {"title": "Milk"})
SHELF = ToolCall("look_at_shelf", {"name": "A"})


@pytest.fixture(scope="module")
def environment():
    return Environment(Toolset.from_definitions(TOOLS, name="notes"), dynamics=Dynamics.parse(DYNAMICS))


def plan(*faults):
    return FaultPlan.from_document({"name": "rough", "faults": list(faults)})


def worlds_with(environment, *faults, **more):
    return Worlds(environment, faults=environment.schedule(plan(*faults)), **more)


def call(worlds, call=ADD, name="default"):
    return asyncio.run(asyncio.wait_for(worlds.call(name, call), 5))


def titles(worlds, name="default"):
    return [note["title"] for note in worlds.get(name).state.collection("notes").values()]


@pytest.mark.parametrize(
    ("kind", "outcome", "text"),
    [
        ("rate_limit", "rate_limited", "Rate limit exceeded. Try again in 30 seconds."),
        ("permission", "permission_error", "Permission denied: add_note is not allowed."),
        ("not_found", "not_found", "Not found."),
        ("error", "unknown", "Internal error."),
    ],
)
def test_a_refusal_is_an_error_result_that_changes_nothing_and_says_it_was_injected(
    environment, caplog, kind, outcome, text
):
    worlds = worlds_with(environment, {"kind": kind})
    rehearsal = call(worlds)
    assert rehearsal.result.is_error
    assert rehearsal.result.first_text == text
    label = read_label(rehearsal.result.meta)
    assert (label.layer, label.injected, label.fault, label.outcome) == ("fault", True, kind, outcome)
    assert label.reason == f"injected by fault plan 'rough': {kind}"
    assert titles(worlds) == []
    assert label.version == 0
    assert f"add_note: injected by fault plan 'rough': {kind}, at matching call 1" in caplog.text


def test_answers_that_no_fault_strikes_are_those_of_a_world_without_a_plan(environment):
    worlds, plain = worlds_with(environment, {"kind": "error", "every": 3}), Worlds(environment)
    results = []
    for number in range(7):
        mine = ToolCall("add_note", {"title": f"T{number}"})
        rehearsal = call(worlds, mine)
        if rehearsal.fault is None:
            results.append((rehearsal.result, call(plain, mine).result))
    assert len(results) == 5
    assert all(one == other for one, other in results)


def test_invalid_arguments_are_refused_before_any_fault(environment):
    worlds = worlds_with(environment, {"kind": "not_found"})
    assert call(worlds, ToolCall("add_note", {})).layer == "arguments"
    assert not worlds.get().state.counters


def test_latency_is_the_true_answer_after_the_call_has_happened(environment):
    async def scenario():
        worlds = worlds_with(environment, {"kind": "latency", "delay": 3600})
        calling = asyncio.create_task(worlds.call("default", ADD))
        while not titles(worlds):  # noqa: ASYNC110  as a bystander sees it
            await asyncio.sleep(0)
        assert not calling.done()
        assert not worlds.get().lock.locked()
        calling.cancel()
        await asyncio.wait([calling])
        assert titles(worlds) == ["Milk"]

    asyncio.run(scenario())
    rehearsal = call(worlds_with(environment, {"kind": "latency", "delay": 0.01}))
    assert rehearsal.result.value()["title"] == "Milk"
    label = read_label(rehearsal.result.meta)
    assert (label.layer, label.injected, label.fault, label.outcome) == ("dynamics", True, "latency", "success")


def test_errors_can_be_late_too(environment):
    rehearsal = call(worlds_with(environment, {"kind": "error", "delay": 0.01}))
    assert rehearsal.delivery.delay == 0.01
    assert rehearsal.result.is_error


@pytest.mark.parametrize("applied", [False, True])
@pytest.mark.parametrize(
    ("fault", "error"),
    [({"kind": "timeout", "bound": 0.01}, TimedOutError), ({"kind": "disconnect"}, DisconnectedError)],
)
def test_a_lost_answer_is_an_error_with_the_label_and_the_call_happened_or_not(environment, fault, error, applied):
    worlds = worlds_with(environment, {**fault, "applied": applied})
    with pytest.raises(error) as lost:
        call(worlds)
    assert lost.value.meta[KEY]["fault"] == fault["kind"]
    assert lost.value.meta[KEY]["injected"] is True
    assert isinstance(lost.value, TimeoutError | ConnectionError)
    assert titles(worlds) == (["Milk"] if applied else [])
    assert worlds.get().state.version == int(applied)


def test_a_timeout_without_bound_lasts_until_it_is_cancelled(environment):
    async def scenario():
        worlds = worlds_with(environment, {"kind": "timeout"})
        with pytest.raises(TimeoutError) as given_up:
            await asyncio.wait_for(worlds.call("default", ADD), 0.05)
        assert not isinstance(given_up.value, TimedOutError)
        assert titles(worlds) == []

    asyncio.run(scenario())


def test_malformed_results_break_the_output_schema_or_the_protocol(environment):
    worlds = worlds_with(environment, {"kind": "malformed"})
    shelf = call(worlds, SHELF)
    assert shelf.layer == "fault"
    schema = environment.toolset["look_at_shelf"].output_schema
    from envace_sdk.jsonschema import compile_schema

    assert not compile_schema(schema).is_valid(shelf.result.structured)
    added = call(worlds)
    assert isinstance(added.result.wire["content"], dict)
    assert titles(worlds) == ["Milk"]
    cut = call(worlds_with(environment, {"kind": "malformed", "breaks": "json"}))
    with pytest.raises(ValueError):
        json.loads(cut.result.first_text)


def test_read_only_forbids_whatever_may_change_the_world(environment):
    worlds = Worlds(environment, faults=environment.schedule(FaultPlan.from_document(_preset("read-only"))))
    assert call(worlds).outcome == "permission_error"
    assert call(worlds, ToolCall("drop_note", {"note_id": "N-1"})).outcome == "permission_error"
    assert call(worlds, ToolCall("list_notes", {})).outcome == "success"


def _preset(name):
    from envace_sdk.faults import PRESETS

    return PRESETS[name]


def test_forks_snapshots_and_resets_carry_the_counts(environment):
    worlds = worlds_with(environment, {"kind": "error", "every": 3})

    def outcomes(name="default", calls=3):
        return [call(worlds, name=name).fault for _ in range(calls)]

    assert outcomes(calls=2) == [None, None]
    snapshot = worlds.get().snapshot()
    worlds.fork("default", "other")
    assert outcomes("other") == ["error", None, None]
    assert outcomes() == ["error", None, None]
    worlds.get().restore(snapshot)
    assert outcomes() == ["error", None, None]
    worlds.get().reset()
    assert outcomes() == [None, None, "error"]


def test_a_plan_is_switched_on_a_running_world_and_counts_anew(environment):
    worlds = Worlds(environment)

    def switch(*faults, name="default"):
        asyncio.run(worlds.switch_faults(name, plan(*faults) if faults else None))

    assert call(worlds).fault is None
    switch({"kind": "error", "every": 2})
    assert [call(worlds).fault for _ in range(3)] == [None, "error", None]
    switch({"kind": "error", "every": 2})
    assert [call(worlds).fault for _ in range(2)] == [None, "error"]
    worlds.fork("default", "fork")
    assert call(worlds, name="second").fault is None
    switch()
    assert [call(worlds).fault for _ in range(4)] == [None] * 4
    assert not any(name.startswith("faults/") for name in worlds.get().state.counters)
    assert [call(worlds, name="fork").fault for _ in range(2)] == [None, "error"]


def test_a_plan_that_names_no_tool_is_refused(environment):
    with pytest.raises(FaultError, match=r"faults\[1\].tools: no tool matches 'red_note'"):
        environment.schedule(plan({"kind": "error"}, {"kind": "error", "tools": "red_note"}))


def test_a_store_keeps_the_counts(environment, tmp_path):
    url = f"sqlite:///{tmp_path / 'worlds.db'}"
    faults = []
    for _ in range(6):
        with Store.open(url) as store:
            worlds = worlds_with(environment, {"kind": "error", "every": 3}, store=store)
            faults.append(call(worlds).fault)
    assert faults == [None, None, "error"] * 2


def test_a_change_that_cannot_be_saved_has_not_happened_and_is_not_delivered(environment):
    class Full:
        def load(self, toolset, name):
            return None

        def save(self, toolset, world):
            raise StoreError("full")

    worlds = worlds_with(environment, {"kind": "timeout", "applied": True}, store=Full())
    with pytest.raises(StoreError):
        call(worlds)
    assert titles(worlds) == []


@pytest.mark.parametrize("steps", range(6))
def test_a_call_cancelled_at_any_step_has_happened_wholly_or_not_at_all(environment, tmp_path, steps):
    async def scenario(worlds):
        start = worlds.get().state
        calling = asyncio.create_task(worlds.call("default", ADD))
        for _ in range(steps):
            await asyncio.sleep(0)
        calling.cancel()
        await asyncio.wait([calling])
        state = worlds.get().state
        done = len(state.collection("notes")) == 1
        assert (state.version, bool(state.counters)) == (int(done), done)
        assert done or state is start

    asyncio.run(scenario(worlds_with(environment, {"kind": "latency", "delay": 60})))
    with Store.open(f"sqlite:///{tmp_path / 'w.db'}") as store:
        asyncio.run(scenario(worlds_with(environment, {"kind": "latency", "delay": 60}, store=store)))


def test_tools_without_rules_meet_faults_as_well():
    tools = [tool("one"), tool("two")]
    environment = Environment(Toolset.from_definitions(tools, name="t"), dynamics=Dynamics())
    worlds = worlds_with(environment, {"kind": "error", "tools": "two"})
    assert call(worlds, ToolCall("one", {})).fault is None
    assert call(worlds, ToolCall("two", {})).fault == "error"
