"""The stdio transport on pipes, in this process."""

import asyncio
import contextlib
import json
import os
import socket

import pytest
from anyio.from_thread import start_blocking_portal
from envace_sdk.mcp_servers import stdio
from envace_sdk.mcp_servers.exact import Splice
from envace_sdk.mcp_servers.server import RehearsedServer
from envace_sdk.mcp_servers.stdio import Pipes, claim_stdio, serve, serve_in_threads

from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.tools.toolset import Toolset

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": ENVELOPE}}


def call(number, name, **arguments):
    return request(number, "tools/call", name=name, arguments=arguments)


class Peer:
    """The client's ends of the pipes."""

    def __init__(self, writing, reading, served):
        self.requests = os.fdopen(writing, "wb")
        self.answers = os.fdopen(reading, "rb")
        self._served = served

    def send(self, frame):
        self.requests.write((frame if isinstance(frame, bytes) else json.dumps(frame).encode()) + b"\n")
        self.requests.flush()

    def receive(self):
        return json.loads(self.answers.readline())

    def ask(self, frame):
        self.send(frame)
        return self.receive()

    def end(self):
        """Close the server's input, and give what it still writes."""
        self.requests.close()
        self._served.result(timeout=20)
        return self.answers.read()

    def wait(self):
        """Until the server has ended."""
        self._served.result(timeout=20)


@contextlib.contextmanager
def serving(server, *, pipes=os.pipe, by=serve, **options):
    theirs_in, ours_out = pipes()
    ours_in, theirs_out = pipes()

    async def run():
        try:
            await by(server, Pipes(theirs_in, theirs_out), **options)
        finally:
            os.close(theirs_in)
            os.close(theirs_out)

    with start_blocking_portal() as portal:
        served = portal.start_task_soon(run)
        peer = Peer(ours_out, ours_in, served)
        with contextlib.closing(peer.answers), contextlib.suppress(BrokenPipeError):
            yield peer
            peer.requests.close()


def _socket_pair():
    one, two = socket.socketpair()
    return one.detach(), two.detach()


@pytest.mark.parametrize("pipes", [os.pipe, _socket_pair])
def test_a_call_is_answered_and_the_end_of_input_ends_the_server(server, pipes):
    with serving(server, pipes=pipes) as peer:
        made = peer.ask(call(1, "add_item", title="Milk"))
        assert made["result"]["structuredContent"] == {"item_id": "I-1", "title": "Milk", "done": False}
        if pipes is os.pipe:
            assert peer.end() == b""


def test_systems_whose_pipes_cannot_be_waited_on_are_served_too(server):
    with serving(server, by=serve_in_threads) as peer:
        assert "result" in peer.ask(call(1, "list_items"))
        assert peer.end() == b""


def test_a_client_that_hangs_up_ends_the_server(server):
    with serving(server) as peer:
        peer.ask(call(1, "list_items"))
        peer.answers.close()
        peer.send(call(2, "list_items"))
        peer.wait()


def test_a_line_that_is_no_json_is_answered_and_the_next_one_served(server):
    with serving(server) as peer:
        for line in (b"{ not json", b"\xff\xfe", b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}'):
            assert peer.ask(line)["error"]["code"] == -32700
        peer.send(b"\r")  # blank lines are nothing
        assert "result" in peer.ask(call(1, "list_items"))


@pytest.mark.parametrize(
    ("frame", "number"),
    [
        (b'{"id": 7, "method": 5, "jsonrpc": "2.0"}', 7),
        (b'{"jsonrpc": "1.0", "id": "a"}', "a"),
        (b'{"jsonrpc": "1.0", "id": true}', None),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}', None),
        (b'{"jsonrpc": "2.0", "id": null, "method": "tools/list"}', None),
        (b'{"jsonrpc": "2.0", "id": [1], "method": "notifications/initialized"}', None),
        (b"[]", None),
        (b"3", None),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(server, frame, number):
    with serving(server) as peer:
        answer = peer.ask(frame)
        assert answer["error"]["code"] == -32600
        assert answer["id"] == number


@pytest.mark.parametrize("number", [7, "seven"])
@pytest.mark.parametrize(
    "odd", [b'"\\ud800"', b"7" * 5000, b"[" * 5000 + b"]" * 5000, b'{"a":' * 5000 + b"1" + b"}" * 5000]
)
def test_json_that_the_parser_refuses_is_answered_under_the_id_it_has(server, odd, number):
    known = json.dumps(number).encode()
    with serving(server) as peer:
        for line in (
            b'{"id": %b, "params": %b}' % (known, odd),
            b'{"params": {"id": 3, "x": %b}, "id":%b}' % (odd, known),
        ):
            answer = peer.ask(line)
            assert (answer["id"], answer["error"]["code"]) == (number, -32700)
        assert "result" in peer.ask(call(1, "list_items"))


def test_a_request_whose_id_cannot_be_one_is_answered_after_a_handshake_too(server):
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    with serving(server) as peer:
        peer.ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        peer.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        for number in (1.5, None):
            answer = peer.ask({"jsonrpc": "2.0", "id": number, "method": "tools/list"})
            assert (answer["id"], answer["error"]["code"]) == (None, -32600)
        assert "result" in peer.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})


def test_requests_in_flight_are_answered_after_the_end_of_input(server):
    frames = [json.dumps(call(number, "add_item", title=str(number))) for number in range(20)]
    with serving(server) as peer:
        peer.requests.write("\n".join(frames).encode())  # no line break at the end
        answers = [json.loads(line) for line in peer.end().splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(20))
    assert all("result" in answer for answer in answers)


def test_a_subscription_that_is_open_does_not_hold_the_end_up(server, monkeypatch):
    monkeypatch.setattr(stdio, "GRACE", 3600)
    with serving(server) as peer:
        peer.ask(request("s", "subscriptions/listen", notifications={"toolsListChanged": True}))
        peer.end()


def test_a_cancelled_request_does_not_hold_the_end_up(worlds, monkeypatch):
    monkeypatch.setattr(stdio, "GRACE", 3600)
    entered = asyncio.Event()

    async def never(world, call):
        entered.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(worlds, "perform", never)
    with serving(RehearsedServer(worlds)) as peer:
        peer.send(call(1, "list_items"))
        peer.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        assert peer.end() == b""


def test_a_frame_larger_than_a_pipe_goes_both_ways(server):
    title = "x" * 2_000_000
    with serving(server) as peer:
        assert peer.ask(call(1, "add_item", title=title))["result"]["structuredContent"]["title"] == title


def test_a_line_over_the_limit_is_dropped_and_the_next_one_served(server, monkeypatch):
    monkeypatch.setattr(stdio, "FRAME_LIMIT", 100_000)
    with serving(server) as peer:
        peer.send(call(1, "add_item", title="x" * 1_000_000))
        answers = [peer.ask(call(2, "list_items"))]
        while answers[-1].get("id") != 2:
            answers.append(peer.receive())
        assert json.loads(answers[-1]["result"]["content"][0]["text"]) == {"items": []}


def test_exact_serves_the_bytes_of_the_file(tmp_path):
    text = '{"tools": [{"name": "a",  "inputSchema": {"type": "object", "x": [1.0, 1e3]}, "k": "\\u00e9"}, {"b": 1.0}]}'
    (tmp_path / "tools.json").write_text(text)
    server = RehearsedServer(Worlds(Environment(Toolset.load(tmp_path / "tools.json"))), exact=True)
    server.catalogue.splice = Splice()
    with serving(server, splice=server.catalogue.splice) as peer:
        peer.send(request(1, "tools/list"))
        assert text[len('{"tools": ') : -1].replace("}, {", "},{") in peer.answers.readline().decode()


def test_the_frames_of_a_toolset_are_private_to_the_server(capfd):
    """Children inherit neither end, and whatever is printed meanwhile goes to standard error."""
    with claim_stdio() as pipes:
        assert not os.get_inheritable(pipes.reading)
        assert not os.get_inheritable(pipes.writing)
        os.write(1, b"stray\n")
        os.write(pipes.writing, b"frame\n")
        assert os.read(0, 1) == b""
    os.write(1, b"afterwards\n")
    out, err = capfd.readouterr()
    assert out == "frame\nafterwards\n"
    assert err == "stray\n"
