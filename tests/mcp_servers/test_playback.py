"""What is recorded besides answers of tools comes back in both eras, whichever it was recorded in."""

import sys
from pathlib import Path

import asking_server
import mcp.types as t
import pytest
from envace_sdk.mcp_servers.relay_http import build_relay
from envace_sdk.mcp_servers.server import RehearsedServer
from mcp import Client, MCPError
from served import http_server
from web import serving

from envace_sdk.evidence.label import KEY
from envace_sdk.recordings import Writer, read_recording
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.tools.upstream import Target

pytestmark = pytest.mark.anyio

MODES = ["auto", "legacy"]


class Person:
    """Answers what a server asks."""

    def __init__(self, name="Ann", action="accept", words="Good day"):
        self.name, self.action, self.words = name, action, words
        self.asked = []
        self.progress = []

    async def elicit(self, _context, params):
        self.asked.append(params.message)
        return t.ElicitResult(action=self.action, content={"name": self.name} if self.action == "accept" else None)

    async def sample(self, _context, params):
        self.asked.append(params.messages[0].content.text)
        return t.CreateMessageResult(role="assistant", model="m", content=t.TextContent(type="text", text=self.words))

    async def hear(self, progress, total, message):
        self.progress.append((progress, total, message))

    def client(self, target, mode):
        return Client(target, mode=mode, elicitation_callback=self.elicit, sampling_callback=self.sample)


async def use(client, person):
    """All that the server offers, as one value."""
    result = await client.call_tool("greet", {}, progress_callback=person.hear)
    prompt = await client.get_prompt("about", {"topic": "tea"})
    resource = await client.read_resource("memo://a")
    prompts, resources = await client.list_prompts(), await client.list_resources()
    kept = (result, prompt, resource, prompts, resources)
    return [one.model_dump(exclude={"meta", "ttl_ms", "cache_scope", "result_type"}) for one in kept]


async def recorded(file, mode, person):
    """Records a session over HTTP; gives what the client saw."""
    with serving(asking_server.SERVER.streamable_http_app()) as upstream, Writer(file) as writer:
        relay = build_relay(Target(url=f"{upstream}/mcp"), writer.write, names=None)
        with serving(relay) as url:
            async with person.client(f"{url}/mcp", mode) as client:
                await client.list_tools()
                return await use(client, person)


@pytest.fixture(params=MODES)
async def recording(request, tmp_path):
    """A recording in one era, the person in it, and what was seen."""
    file, person = tmp_path / "asking.jsonl", Person()
    seen = await recorded(file, request.param, person)
    return file, person, seen


@pytest.fixture
def twin(recording):
    return RehearsedServer(Worlds(Environment.load(recording[0])))


@pytest.mark.parametrize("mode", MODES)
async def test_the_twin_offers_all_that_the_original_did(recording, twin, mode):
    _, before, seen = recording
    now = Person()
    async with now.client(twin, mode) as client:
        assert await use(client, now) == seen
        assert client.server_info.name == "asking"
        assert client.instructions == "Ask nicely."
    assert now.asked == before.asked == ["Who is it?", "A greeting, please"]
    assert now.progress[: len(before.progress)] == before.progress
    assert before.progress


@pytest.mark.parametrize("mode", MODES)
async def test_over_http_the_twin_asks_in_the_same_way(recording, mode):
    with http_server(Worlds(Environment.load(recording[0]))) as url:
        person = Person()
        async with person.client(f"{url}/mcp", mode) as client:
            assert await use(client, person) == recording[2]


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_answers_otherwise_gets_what_was_recorded_for_who_did_the_same(twin, mode):
    async with Person(name="Bob").client(twin, mode) as client:
        result = await client.call_tool("greet", {})
    assert result.content[0].text == "Good day, Ann!"
    assert result.meta[KEY]["layer"] == "fixture"


@pytest.mark.parametrize("mode", MODES)
async def test_what_was_not_recorded_is_an_error_that_names_the_closest(twin, mode):
    async with Person().client(twin, mode) as client:
        with pytest.raises(MCPError, match=r"arguments.topic is \"milk\", recorded \"tea\""):
            await client.get_prompt("about", {"topic": "milk"})
        with pytest.raises(MCPError, match="Resource not found") as caught:
            await client.read_resource("memo://b")
    assert caught.value.code == (-32602 if mode == "auto" else -32002)
    assert caught.value.data == {"uri": "memo://b"}


async def test_a_state_that_was_never_given_out_is_refused(twin):
    async with Person().client(twin, "auto") as client:
        with pytest.raises(MCPError, match="Invalid request state"):
            await client.session.call_tool("greet", {}, input_responses={}, request_state="forged")


async def test_a_client_that_cannot_be_asked_is_told_what_it_lacks(twin):
    async with Client(twin) as client:
        with pytest.raises(MCPError, match="elicitation"):
            await client.call_tool("greet", {})


async def test_the_file_holds_the_conversation_in_no_eras_form(recording):
    exchanges = [one for one in read_recording(recording[0]).exchanges if one.method == "tools/call"]
    assert all(set(one.params) <= {"name", "arguments"} for one in exchanges)
    assert "jsonrpc" not in recording[0].read_text()


def test_the_example_server_also_runs_on_stdio(command, tmp_path):
    from frames_client import MODERN, frames_client

    server = [sys.executable, str(Path(asking_server.__file__))]
    with frames_client([*command, "record", "-o", str(tmp_path / "r.jsonl"), "--", *server], MODERN) as client:
        first = client.request("tools/call", {"name": "greet", "arguments": {}}, progressToken=1)
    assert first["result"]["resultType"] == "input_required"
    [exchange] = read_recording(tmp_path / "r.jsonl").exchanges
    assert exchange.result["inputRequests"].keys() == {"who"}
    assert [event.params for event in exchange.events] == [{"progress": 1, "total": 2, "message": "asking"}]
