"""Rehearsed tools as LangChain's, called as an agent calls them."""

import asyncio
import json

import pytest
from envace_sdk.integrations.langchain import langchain_tools
from langchain_core.messages import ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from notes_toolset import DYNAMICS, TOOLS

from envace_sdk.errors import TimedOutError
from envace_sdk.inprocess import RehearsedTools
from envace_sdk.rehearse import Environment
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics


@pytest.fixture
def rehearsed():
    environment = Environment(Toolset.from_definitions(TOOLS, name="notes"), dynamics=Dynamics.parse(DYNAMICS))
    return RehearsedTools.load(environment)


@pytest.fixture
def tools(rehearsed):
    return {tool.name: tool for tool in langchain_tools(rehearsed)}


def call(name, /, **arguments):
    return {"type": "tool_call", "id": "call_1", "name": name, "args": arguments}


def test_a_model_sees_the_schema_of_the_tool(tools):
    function = convert_to_openai_tool(tools["retitle_note"])["function"]
    assert function["name"] == "retitle_note"
    assert set(function["parameters"]["properties"]) == {"note_id", "title"}
    assert set(function["parameters"]["required"]) == {"note_id", "title"}
    assert tools["forecast"].description == "Returns the temperature and wind speed."


def test_a_call_gives_a_tool_message_with_the_label_and_structured_content(tools):
    message = tools["look_at_shelf"].invoke(call("look_at_shelf", name="A"))
    assert isinstance(message, ToolMessage)
    assert (message.status, message.tool_call_id) == ("success", "call_1")
    assert message.artifact["structured_content"] == json.loads(message.content)
    assert message.artifact["evidence"]["kind"] == "rehearsed"


def test_async_calls_change_the_same_world(tools, rehearsed):
    async def scenario():
        await asyncio.gather(*[tools["add_note"].ainvoke(call("add_note", title=str(n))) for n in range(3)])
        return await tools["list_notes"].ainvoke({})

    assert json.loads(asyncio.run(scenario()))["total"] == 3
    assert len(rehearsed.calls) == 4


def test_an_error_result_is_a_message_with_the_status_error(tools):
    message = tools["read_note"].invoke(call("read_note", note_id="N-9"))
    assert (message.status, message.content) == ("error", "Note 'N-9' not found")


def test_arguments_are_judged_by_the_rehearsal_not_by_langchain(tools):
    message = tools["add_note"].invoke(call("add_note", title=7))
    assert message.status == "error"
    assert "expected string" in message.content


def test_a_lost_answer_is_an_exception(tools, rehearsed):
    rehearsed.switch_faults({"faults": [{"kind": "timeout", "bound": 0.01}]})
    with pytest.raises(TimedOutError):
        tools["list_notes"].invoke({})
