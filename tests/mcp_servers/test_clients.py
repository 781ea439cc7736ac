"""Real clients, as a user would point them at the server."""

import json
import subprocess
from pathlib import Path

import pytest
from served import http_server

from envace_sdk.evidence.label import KEY

pytestmark = pytest.mark.anyio

OLD_CLIENT = Path(__file__).with_name("mcp1_client.py")


async def _story(client, tools):
    """What every client must be able to do; gives what it saw."""
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool["name"] for tool in tools]
    made = await client.call_tool("add_item", {"title": "Milk"})
    assert made.meta[KEY]["layer"] == "dynamics"
    again = await client.call_tool("get_item", {"item_id": made.structured_content["item_id"]})
    assert again.structured_content == made.structured_content
    missing = await client.call_tool("get_item", {"item_id": "I-99"})
    assert missing.is_error
    assert "I-99" in missing.content[0].text
    titles = await client.call_tool("item_titles", {})
    assert json.loads(titles.content[0].text) == ["Milk"]


async def test_the_python_client_in_memory(connect, server, tools):
    async with connect(server) as client:
        await _story(client, tools)


async def test_the_python_client_over_stdio(connect, stdio, folder, tools):
    async with connect(stdio("--tools", folder)) as client:
        await _story(client, tools)


@pytest.mark.parametrize("plain", [False, True])
async def test_the_python_client_over_http(connect, worlds, tools, plain):
    with http_server(worlds, json_response=plain) as base:
        async with connect(f"{base}/todo/mcp") as client:
            await _story(client, tools)


ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])


@pytest.mark.node
@pytest.mark.slow
@ERAS
def test_the_inspector_lists_the_tools_and_finds_no_fault_with_them(inspector, command, folder, era):
    words = [*command, "serve", "--tools", folder]
    finished = inspector(*words, "--method", "tools/list", "--strict", "--protocol-era", era, "--format", "json")
    assert finished.returncode == 0, finished.stderr
    names = [tool["name"] for tool in _result(finished)["tools"]]
    assert names == [tool["name"] for tool in json.loads((folder / "tools.json").read_text())["tools"]]


@pytest.mark.node
@pytest.mark.slow
@ERAS
def test_the_inspector_calls_a_tool_over_http(inspector, worlds, era):
    with http_server(worlds) as base:
        arguments = ["--tool-name", "add_item", "--tool-args-json", '{"title": "Milk"}']
        options = ["--method", "tools/call", *arguments, "--protocol-era", era, "--format", "json"]
        result = _result(inspector(f"{base}/todo/mcp", *options))
        assert result["structuredContent"]["title"] == "Milk"


@pytest.mark.node
@pytest.mark.slow
@ERAS
def test_the_inspector_sees_an_error_result_as_one(inspector, command, folder, era):
    words = [*command, "serve", "--tools", folder]
    arguments = ["--tool-name", "get_item", "--tool-args-json", '{"item_id": "I-99"}']
    finished = inspector(*words, "--method", "tools/call", *arguments, "--protocol-era", era)
    assert finished.returncode == 5, finished.stderr


def _result(finished):
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)["result"]


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_client_of_the_previous_sdk(old_python, command, worlds, folder, transport):
    if transport == "stdio":
        seen = _old_client(old_python, [*command, "serve", "--tools", str(folder)])
    else:
        with http_server(worlds) as base:
            seen = _old_client(old_python, [f"{base}/todo/mcp"])
    assert seen["protocol"] == "2025-11-25"
    assert seen["tools"] == [tool["name"] for tool in json.loads((folder / "tools.json").read_text())["tools"]]
    assert seen["made"] == {"item_id": "I-1", "title": "Milk", "done": False}
    assert seen["again"] == seen["made"]
    assert seen["titles"] == ["Milk"]
    assert seen["missing"] is True
    assert seen["layer"] == "dynamics"


def _old_client(python, target):
    finished = subprocess.run([python, OLD_CLIENT, *target], capture_output=True, text=True, timeout=120)
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)
