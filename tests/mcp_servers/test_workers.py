"""`envace-sdk serve --workers`: real processes, a real PostgreSQL."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx2
import pytest
from mcp import Client

COMMAND = [sys.executable, "-c", "from envace_sdk.cli.main import main; main()"]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PATIENCE = 60


class Served:
    """A running server."""

    def __init__(self, process, log):
        self.process, self.log = process, log
        self.base = self._announced()

    def _announced(self):
        def found():
            assert self.process.poll() is None, self.log.read_text()
            return re.search(r"at (http://127.0.0.1:\d+)/", self.log.read_text())

        return eventually(found)[1]

    def call(self, tool, world="w", **arguments):
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": tool,
        }
        params = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        # A connection of its own, so that any worker may get it.
        return httpx2.post(f"{self.base}/todo/worlds/{world}/mcp", json=body, headers=headers, timeout=PATIENCE).json()

    def add(self, title, world="w"):
        return self.call("add_item", world, title=title)["result"]["structuredContent"]["item_id"]

    def metric(self, name):
        text = httpx2.get(f"{self.base}/metrics", timeout=PATIENCE).text
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name))

    def workers(self):
        pid = self.process.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)


def eventually(what, patience=PATIENCE):
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def serve(folder, tmp_path, runtime, postgresql_database):
    """Starts servers, and ends those that still run."""
    url = postgresql_database("template1")
    started = []

    def start(*more):
        log = tmp_path / f"log-{len(started)}"
        words = ["serve", "--tools", str(folder), "--http", "127.0.0.1:0", "--store", url, "--migrate", *more]
        with log.open("wb") as written:
            process = subprocess.Popen([*COMMAND, *words], stderr=written, env=dict(os.environ))
        started.append(process)
        return Served(process, log)

    yield start
    for process in started:
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            process.kill()
            process.wait()


@pytest.mark.slow
def test_workers_serve_the_same_worlds_restart_and_end_in_order(serve):
    server = serve("--workers", "2", "--control-token", "secret")
    assert [server.add(f"item {n}") for n in range(8)] == [f"I-{n}" for n in range(1, 9)]
    assert server.metric("envace_calls_total") == 8
    assert httpx2.get(f"{server.base}/readyz", timeout=PATIENCE).json() == {"status": "ok"}

    victim = server.workers()[0]
    os.kill(victim, signal.SIGKILL)
    eventually(lambda: len(server.workers()) == 2 and victim not in server.workers())
    assert server.add("after a death") == "I-9"
    assert eventually(lambda: server.metric("envace_worker_restarts_total")) == 1
    assert server.metric("envace_calls_total") == 9, "what a dead worker counted is not forgotten"

    reset = httpx2.post(
        f"{server.base}/control/reset",
        json={"world": "w"},
        headers={"authorization": "Bearer secret"},
        timeout=PATIENCE,
    )
    assert reset.json()["ok"], reset.text

    def found():
        words = [*COMMAND, "world", "show", "w"]
        return subprocess.run(words, capture_output=True, timeout=PATIENCE).returncode == 0

    eventually(found)
    assert server.add("after a reset") == "I-1"

    workers = server.workers()
    assert server.end() == 0
    assert not any(map(running, workers))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_call_in_flight_is_answered_and_kept_when_the_server_is_told_to_end(serve, number, folder, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("faults:\n  - {kind: latency, tools: add_item, delay: 2}\n")
    server = serve("--workers", "2", "--grace", "20", "--faults", str(plan))
    answers = []
    calling = threading.Thread(target=lambda: answers.append(server.call("add_item", title="Milk")))
    calling.start()
    eventually(lambda: server.metric("envace_calls_total"))
    assert server.end(number) == 0
    calling.join(PATIENCE)
    assert answers[0]["result"]["structuredContent"]["item_id"] == "I-1"

    again = serve("--workers", "1")
    assert again.call("get_item", item_id="I-1")["result"]["structuredContent"]["title"] == "Milk"


@pytest.mark.slow
@pytest.mark.anyio
async def test_clients_of_either_era_find_any_worker(serve, mode):
    server = serve("--workers", "2")
    for n in range(1, 4):
        async with Client(f"{server.base}/todo/worlds/{mode}/mcp", mode=mode) as client:
            assert "add_item" in {tool.name for tool in (await client.list_tools()).tools}
            for m in range(3):
                result = await client.call_tool("add_item", {"title": f"{n} {m}"})
                assert result.structured_content["item_id"] == f"I-{(n - 1) * 3 + m + 1}"


@pytest.mark.slow
def test_workers_end_when_their_supervisor_is_killed(serve):
    server = serve("--workers", "2")
    server.add("Milk")
    workers = server.workers()
    server.process.kill()
    server.process.wait()
    eventually(lambda: not any(map(running, workers)))


@pytest.mark.slow
def test_workers_that_keep_dying_end_the_server_with_an_error():
    script = (
        "import os\n"
        "from envace_sdk.mcp_servers.supervisor import Supervisor\n"
        "Supervisor(lambda number, lifeline: os._exit(3), 1, 1.0).run()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert ended.returncode != 0
    assert "worker 0 ended with exit code 3" in ended.stderr
    assert "the workers die as soon as they are started" in ended.stderr


@pytest.mark.slow
def test_more_stored_worlds_than_allowed_are_an_error_that_says_so(serve):
    server = serve("--workers", "2", "--max-worlds", "2")
    server.add("Milk", "a")
    server.add("Milk", "b")
    refused = [server.call("add_item", "c", title="Milk") for _ in range(4)]
    for text in map(json.dumps, refused):  # whichever worker was asked
        assert "of at most 2" in text, text
        assert "--max-worlds" in text, text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--http", "0", "--workers", "2"], "--workers needs --store postgresql://"),
        (["--http", "0", "--workers", "2", "--store", "sqlite:///w.db"], "cannot share worlds kept there"),
        (["--workers", "2", "--store", "postgresql://localhost/x"], "--workers needs --http"),
    ],
)
def test_workers_without_what_they_need_are_an_error_that_says_what_to_do(cli, folder, words, says):
    run = cli("serve", "--tools", str(folder), *words)
    assert run.code == 2
    assert says in " ".join(run.err.split())


def test_a_database_that_is_not_there_is_an_error_at_the_start(cli, folder, tmp_path):
    url = f"postgresql://nobody@/nothing?host={tmp_path}"
    run = cli("serve", "--tools", str(folder), "--http", "127.0.0.1:0", "--workers", "2", "--store", url)
    assert run.code == 3
    assert "cannot be used" in run.err
