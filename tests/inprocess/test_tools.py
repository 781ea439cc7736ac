"""Rehearsed tools as plain functions, on the notes toolset."""

import asyncio
import inspect
import threading

import pytest
from notes_toolset import DYNAMICS, TOOLS

from envace_sdk.errors import FaultError, TimedOutError, ToolCallError, UnknownToolError
from envace_sdk.evidence import KEY
from envace_sdk.inprocess import RehearsedTools
from envace_sdk.rehearse import Environment
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics


@pytest.fixture(scope="module")
def environment():
    return Environment(Toolset.from_definitions(TOOLS, name="notes"), dynamics=Dynamics.parse(DYNAMICS))


@pytest.fixture
def tools(environment):
    return RehearsedTools.load(environment)


def test_a_tool_is_an_async_function_of_its_arguments(tools):
    async def scenario():
        note = await tools["add_note"](title="Milk")
        return note, await tools["read_note"](note_id=note["note_id"])

    note, again = asyncio.run(scenario())
    assert note["title"] == "Milk"
    assert again == note


def test_a_tool_is_a_blocking_function_also_where_a_loop_is_running(tools):
    add = tools.sync("add_note")
    assert add(title="Milk")["note_id"] == "N-1"

    async def scenario():
        return add(title="Bread")

    assert asyncio.run(scenario())["note_id"] == "N-2"


def test_functions_look_like_their_tools(tools):
    retitle = tools["retitle_note"]
    assert retitle.__name__ == "retitle_note"
    assert inspect.iscoroutinefunction(retitle)
    parameters = inspect.signature(retitle).parameters
    assert list(parameters) == ["note_id", "title", "more"]
    assert parameters["title"].annotation is str
    assert parameters["title"].default is inspect.Parameter.empty
    assert inspect.signature(tools.sync("list_notes")).parameters["title"].default is None
    assert "temperature" in tools["forecast"].__doc__


def test_an_error_result_is_an_exception_with_its_text_and_label(tools):
    with pytest.raises(ToolCallError, match="Note 'N-9' not found") as error:
        tools.sync("read_note")(note_id="N-9")
    assert error.value.tool == "read_note"
    assert error.value.meta[KEY]["outcome"] == "not_found"
    with pytest.raises(ToolCallError, match="Invalid arguments"):
        tools.sync("read_note")()


def test_names_are_those_of_the_toolset(tools):
    assert list(tools) == [tool["name"] for tool in TOOLS]
    assert len(tools) == len(TOOLS)
    assert "add_note" in tools
    with pytest.raises(UnknownToolError):
        tools["nothing"]


def test_faults_are_met_by_functions_and_can_be_switched(environment):
    tools = RehearsedTools.load(environment, faults={"faults": [{"kind": "timeout", "bound": 0.01}]})
    with pytest.raises(TimedOutError):
        tools.sync("add_note")(title="Milk")
    tools.switch_faults("read-only")
    with pytest.raises(ToolCallError, match="may only read"):
        tools.sync("add_note")(title="Milk")
    tools.switch_faults("off")
    assert tools.sync("add_note")(title="Milk")["note_id"] == "N-1"
    with pytest.raises(FaultError):
        tools.switch_faults("no such preset")


def test_what_was_called_is_noted_lost_answers_too(environment):
    tools = RehearsedTools.load(environment, faults={"faults": [{"kind": "disconnect", "every": 2}]})
    tools.sync("add_note")(title="Milk")
    with pytest.raises(ConnectionError):
        tools.sync("read_note")(note_id="N-1")
    assert [(call.call.name, call.rehearsal.fault) for call in tools.calls] == [
        ("add_note", None),
        ("read_note", "disconnect"),
    ]


def test_worlds_are_forked_kept_and_gone_back_to(tools):
    tools.sync("add_note")(title="Milk")
    kept = tools.state
    other = tools.fork("other")
    other.sync("drop_note")(note_id="N-1")
    assert tools.sync("list_notes")()["total"] == 1
    assert [call.call.name for call in other.calls] == ["drop_note"]
    other.restore(kept)
    assert other.sync("list_notes")()["total"] == 1
    tools.reset()
    assert tools.sync("list_notes")()["total"] == 0


def test_the_same_seed_and_calls_give_the_same_answers(environment):
    def answers(seed):
        tools = RehearsedTools.load(environment, seed=seed, faults="flaky")
        return [tools.call_sync("forecast", {"city": city}).result for city in "abc"]

    assert answers(3) == answers(3)
    assert answers(3) != answers(4)


def test_threads_and_loops_may_call_at_the_same_time(tools):
    def work():
        for _ in range(10):
            tools.sync("add_note")(title="x")

    async def gathered():
        await asyncio.gather(*[tools["add_note"](title="y") for _ in range(30)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    asyncio.run(gathered())
    for thread in threads:
        thread.join()
    assert tools.sync("list_notes")()["total"] == 70
    assert len({note["note_id"] for note in tools.state.collection("notes").values()}) == 70


def test_a_toolset_is_loaded_by_its_name():
    assert "get_order" in RehearsedTools.load("retail", seed=2)
