"""Function specs for OpenAI's APIs and the executor, with the shapes that those APIs send."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from notes_toolset import DYNAMICS, TOOLS, tool
from pydantic import BaseModel

from envace_sdk.errors import DisconnectedError, ToolsetError
from envace_sdk.inprocess import RehearsedTools
from envace_sdk.rehearse import Environment
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics


@pytest.fixture
def tools():
    environment = Environment(Toolset.from_definitions(TOOLS, name="notes"), dynamics=Dynamics.parse(DYNAMICS))
    return RehearsedTools.load(environment)


def chat_call(name, arguments, identifier="call_1"):
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": arguments}}


def response_call(name, arguments, identifier="call_1"):
    return {"type": "function_call", "id": "fc_1", "call_id": identifier, "name": name, "arguments": arguments}


def test_specs_have_the_form_of_their_api(tools):
    chat, responses = tools.openai().specs[0], tools.openai("responses").specs[0]
    schema = TOOLS[0]["inputSchema"]
    assert chat == {"type": "function", "function": {"name": "add_note", "parameters": schema}}
    assert responses == {"type": "function", "name": "add_note", "parameters": schema, "strict": False}
    with pytest.raises(ToolsetError, match="'chat' or 'responses'"):
        tools.openai("completions")


def test_a_chat_call_is_answered_with_a_tool_message(tools):
    functions = tools.openai()
    message = functions.execute_sync(chat_call("add_note", '{"title": "Milk"}'))
    assert (message["role"], message["tool_call_id"]) == ("tool", "call_1")
    assert json.loads(message["content"])["title"] == "Milk"


def test_a_responses_call_is_answered_with_an_output_item(tools):
    item = asyncio.run(tools.openai("responses").execute(response_call("add_note", '{"title": "Milk"}')))
    assert (item["type"], item["call_id"]) == ("function_call_output", "call_1")
    assert json.loads(item["output"])["note_id"] == "N-1"


def test_all_calls_of_a_message_or_response_are_answered_in_order(tools):
    calls = [chat_call("add_note", '{"title": "A"}', "a"), chat_call("read_note", '{"note_id": "N-1"}', "b")]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    for shape in (message, {"choices": [{"message": message}]}, calls):
        assert [one["tool_call_id"] for one in tools.openai().execute_all_sync(shape)] == ["a", "b"]
    assert tools.openai().execute_all_sync({"role": "assistant", "content": "Done"}) == []
    output = [{"type": "reasoning", "summary": []}, response_call("list_notes", "{}")]
    for shape in (output, {"output": output}):
        (item,) = tools.openai("responses").execute_all_sync(shape)
        assert json.loads(item["output"])["total"] == 3


def test_objects_of_a_client_library_are_calls_too(tools):
    class Function(BaseModel):
        name: str
        arguments: str

    class ToolCall(BaseModel):
        id: str
        function: Function
        type: str = "function"

    call = ToolCall(id="x", function=Function(name="list_notes", arguments=""))
    assert json.loads(tools.openai().execute_sync(call)["content"])["total"] == 0
    with pytest.raises(ToolsetError, match="SimpleNamespace"):
        tools.openai().execute_sync(SimpleNamespace())
    with pytest.raises(ToolsetError, match="function call"):
        tools.openai().execute_sync({"id": "x", "type": "custom"})


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("nothing", "{}", "Error: there is no function 'nothing'"),
        ("add_note", "{title", "Error: the arguments of add_note are not JSON"),
        ("add_note", "[]", "Error: the arguments of add_note are not a JSON object"),
        ("add_note", "{}", "Invalid arguments for add_note"),
        ("read_note", '{"note_id": "N-9"}', "Note 'N-9' not found"),
    ],
)
def test_what_a_model_does_wrong_is_told_to_it(tools, name, arguments, says):
    assert tools.openai().execute_sync(chat_call(name, arguments))["content"].startswith(says)


def test_names_that_openai_refuses_are_replaced_and_found_again():
    names = ["notes.add", "notes/add", "notes_add", "x" * 70, "x" * 71]
    environment = Environment(Toolset.from_definitions([tool(name) for name in names], name="t"), dynamics=Dynamics())
    tools = RehearsedTools.load(environment)
    functions = tools.openai()
    given = [spec["function"]["name"] for spec in functions.specs]
    assert given[:3] == ["notes_add", "notes_add_2", "notes_add_3"]
    assert len(set(given)) == 5
    assert all(len(name) <= 64 for name in given)
    for name in given:
        functions.execute_sync(chat_call(name, "{}"))
    assert [call.call.name for call in tools.calls] == names


def test_a_lost_answer_is_an_exception(tools):
    tools.switch_faults({"faults": [{"kind": "disconnect"}]})
    with pytest.raises(DisconnectedError):
        tools.openai().execute_sync(chat_call("list_notes", "{}"))
