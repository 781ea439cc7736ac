"""`envace-sdk serve` as a client starts it: a process of its own."""

import contextlib
import json
import re
import signal
import subprocess
import sys

import httpx2
import pytest

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def _call(number, name, **arguments):
    params = {"name": name, "arguments": arguments, "_meta": ENVELOPE}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class _Served:
    def __init__(self, process):
        self.process = process

    def ask(self, frame):
        self.process.stdin.write(json.dumps(frame).encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def end(self):
        """Close its input; give its exit code, what it still wrote, and its log."""
        out, log = self.process.communicate(timeout=30)
        return self.process.returncode, out, log.decode()


@pytest.fixture
def serving(command, runtime):
    @contextlib.contextmanager
    def start(*arguments, command=command):
        words = [*command, "serve", *map(str, arguments)]
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        with subprocess.Popen(words, **pipes) as process:
            try:
                yield _Served(process)
            finally:
                process.kill()

    return start


def test_nothing_but_frames_is_written_and_the_end_of_input_ends_the_server(folder, serving):
    noisy = (
        "import os, sys, warnings\n"
        "import envace_sdk.rehearse.environment as e\n"
        "load = e.Environment.load.__func__\n"
        "def noisy(cls, *a, **k):\n"
        "    print('a print'); os.write(1, b'a write\\n'); os.system('echo a child'); warnings.warn('a warning')\n"
        "    return load(cls, *a, **k)\n"
        "e.Environment.load = classmethod(noisy)\n"
        "from envace_sdk.cli.main import main; main()\n"
    )
    with serving("--tools", folder, "--world", "mine", command=[sys.executable, "-c", noisy]) as served:
        answer = json.loads(served.ask(_call(1, "list_items")))
        assert answer["result"]["_meta"]["dev.envace/evidence"]["world"] == "mine"
        code, rest, log = served.end()
        assert (code, rest) == (0, b"")
        for said in ("a print", "a write", "a child", "a warning"):
            assert said in log


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_signal_ends_the_server_cleanly(folder, serving, number):
    with serving("--tools", folder) as served:
        served.ask(_call(1, "list_items"))
        served.process.send_signal(number)
        assert served.process.wait(timeout=10) == 0
        assert served.process.stdout.read() == b""
        assert served.process.stderr.read() == b""


def test_the_http_server_says_where_it_is_and_ends_on_a_signal(command, folder, runtime):
    words = [*command, "serve", "--http", "127.0.0.1:0", "--tools", str(folder)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        try:
            announced = process.stderr.readline()
            url = re.fullmatch(r"serving todo at (http://127.0.0.1:\d+)/todo/mcp\n", announced)
            assert httpx2.get(f"{url[1]}/health").json() == {"status": "ok"}
        finally:
            process.terminate()
        assert process.wait(timeout=10) == 0
        assert process.stderr.read() == ""


@pytest.mark.slow
def test_an_open_event_stream_does_not_hold_the_end_up(command, folder, runtime):
    words = [*command, "serve", "--http", "127.0.0.1:0", "--tools", str(folder)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        url = process.stderr.readline().split()[-1]
        headers = {"accept": "application/json, text/event-stream"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        with httpx2.Client(headers=headers) as client:
            hello = client.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
            session = {"mcp-session-id": hello.headers["mcp-session-id"]}
            with client.stream("GET", url, headers=session) as stream:
                assert stream.status_code == 200
                process.terminate()
                assert process.wait(timeout=15) == 0


@pytest.mark.slow
def test_frames_in_a_file_are_all_answered(command, folder, tmp_path, runtime):
    frames = [_call(number, "add_item", title=str(number)) for number in range(20)]
    (tmp_path / "frames.jsonl").write_text("\n".join(map(json.dumps, frames)))
    with (tmp_path / "frames.jsonl").open() as source, (tmp_path / "answers.jsonl").open("w") as target:
        words = [*command, "serve", "--tools", str(folder)]
        subprocess.run(words, stdin=source, stdout=target, check=True, timeout=60)
    answers = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(20))
    assert all("result" in answer for answer in answers)


@pytest.mark.slow
def test_equal_seeds_and_calls_give_equal_bytes_in_different_processes(folder, serving):
    (folder / "dynamics.yaml").unlink()
    calls = [_call(1, "add_item", title="Milk"), _call(2, "list_items"), _call(3, "item_titles")]

    def run(seed):
        with serving("--tools", folder, "--seed", seed) as served:
            return [served.ask(call) for call in calls]

    assert run(4) == run(4)


@pytest.mark.slow
def test_worlds_in_a_store_are_there_after_a_restart(folder, tmp_path, serving):
    store = f"sqlite:///{tmp_path / 'worlds.db'}"
    with serving("--tools", folder, "--store", store) as served:
        served.ask(_call(1, "add_item", title="Milk"))
        assert served.end()[0] == 0
    with serving("--tools", folder, "--store", store) as served:
        listed = json.loads(served.ask(_call(1, "list_items")))
        assert json.loads(listed["result"]["content"][0]["text"])["items"][0]["title"] == "Milk"


@pytest.mark.slow
def test_a_toolset_that_cannot_be_read_ends_with_the_reason_and_no_traceback(tmp_path, serving):
    with serving("--tools", tmp_path / "nothing.json") as served:
        code, out, log = served.end()
        assert (code, out) == (3, b"")
        assert "nothing.json" in log
        assert "Traceback" not in log


@pytest.mark.slow
def test_a_catalogue_without_a_tool_is_told_in_the_log(tmp_path, serving):
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "tools.json").write_text('{"tools": []}')
    with serving("--tools", tmp_path / "bare") as served:
        code, _, log = served.end()
        assert code == 0
        assert "bare has no tool to call" in log


@pytest.mark.slow
def test_quarantined_tools_are_named_in_the_log(folder, serving):
    definitions = json.loads((folder / "tools.json").read_text())
    definitions["tools"].append({"name": "odd", "inputSchema": {}})
    (folder / "tools.json").write_text(json.dumps(definitions))
    with serving("--tools", folder) as served:
        served.ask(_call(1, "list_items"))
        assert "odd" in served.end()[2]
