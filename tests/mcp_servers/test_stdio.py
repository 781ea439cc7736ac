"""The stdio server as a process: frames in, frames out, nothing else."""

import contextlib
import json
import signal
import subprocess
import sys

import pytest

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def _request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": ENVELOPE}}


def _call(number, name, **arguments):
    return _request(number, "tools/call", name=name, arguments=arguments)


class _Served:
    def __init__(self, process):
        self.process = process

    def send(self, frame):
        self.process.stdin.write((frame if isinstance(frame, bytes) else json.dumps(frame).encode()) + b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read().decode()
        return json.loads(line)

    def ask(self, frame):
        self.send(frame)
        return self.receive()

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


def test_a_call_is_answered_and_the_end_of_input_ends_the_server(folder, serving):
    with serving("--tools", folder) as served:
        made = served.ask(_call(1, "add_item", title="Milk"))
        assert made["result"]["structuredContent"] == {"item_id": "I-1", "title": "Milk", "done": False}
        code, rest, log = served.end()
        assert (code, rest, log) == (0, b"", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_cleanly(folder, number, serving):
    with serving("--tools", folder) as served:
        served.ask(_call(1, "list_items"))
        served.process.send_signal(number)
        assert served.process.wait(timeout=10) == 0
        assert served.process.stdout.read() == b""
        assert "Traceback" not in served.process.stderr.read().decode()


def test_a_client_that_hangs_up_ends_the_server(folder, serving):
    with serving("--tools", folder) as served:
        served.ask(_call(1, "list_items"))
        served.process.stdout.close()
        served.send(_call(2, "list_items"))
        assert served.process.wait(timeout=10) == 0


def test_what_anything_prints_goes_to_standard_error(folder, tmp_path, serving):
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
    with serving("--tools", folder, command=[sys.executable, "-c", noisy]) as served:
        assert "result" in served.ask(_call(1, "list_items"))
        code, rest, log = served.end()
        assert (code, rest) == (0, b"")
        for said in ("a print", "a write", "a child", "a warning"):
            assert said in log


def test_a_line_that_is_no_json_is_answered_and_the_next_one_served(folder, serving):
    with serving("--tools", folder) as served:
        assert served.ask(b"{ not json")["error"]["code"] == -32700
        assert "result" in served.ask(_call(1, "list_items"))


@pytest.mark.parametrize(
    ("frame", "number"),
    [
        (b'{"id": 7, "method": 5, "jsonrpc": "2.0"}', 7),
        (b"[]", None),
        (b"3", None),
        (b'{"jsonrpc": "1.0", "id": "a"}', "a"),
    ],
)
def test_json_that_is_no_message_is_an_invalid_request(folder, frame, number, serving):
    with serving("--tools", folder) as served:
        answer = served.ask(frame)
        assert answer["error"]["code"] == -32600
        assert answer["id"] == number


def test_frames_in_a_file_are_all_answered(folder, tmp_path, cli):
    frames = [_call(number, "add_item", title=str(number)) for number in range(20)]
    (tmp_path / "frames.jsonl").write_text("\n".join(map(json.dumps, frames)))  # no line break at the end
    with (tmp_path / "frames.jsonl").open() as source, (tmp_path / "answers.jsonl").open("w") as target:
        cli("serve", "--tools", folder, stdin=source, stdout=target, capture_output=False, check=True)
    answers = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(20))
    assert all("result" in answer for answer in answers)


def test_a_frame_larger_than_a_pipe_goes_both_ways(folder, serving):
    title = "x" * 2_000_000
    with serving("--tools", folder) as served:
        made = served.ask(_call(1, "add_item", title=title))
        assert made["result"]["structuredContent"]["title"] == title


def test_exact_serves_the_bytes_of_the_file(folder, serving):
    text = (
        '{"tools": [{"name": "a",  "inputSchema": {"type": "object", "x": [1.0, 1e3]}, "k": "\\u00e9"}, {"bad": 1.50}]}'
    )
    (folder / "tools.json").write_text(text)
    (folder / "dynamics.yaml").unlink()
    with serving("--tools", folder, "--exact") as served:
        served.send(_request(1, "tools/list"))
        line = served.process.stdout.readline().decode()
        assert text[len('{"tools": ') : -1].replace("}, {", "},{") in line


def test_a_named_world_is_in_the_label(folder, serving):
    with serving("--tools", folder, "--world", "mine") as served:
        answer = served.ask(_call(1, "list_items"))
        assert answer["result"]["_meta"]["dev.envace/evidence"]["world"] == "mine"


def test_equal_seeds_and_calls_give_equal_bytes(folder, serving):
    (folder / "dynamics.yaml").unlink()
    calls = [
        _call(1, "add_item", title="Milk"),
        _call(2, "list_items"),
        _call(3, "item_titles"),
        _call(4, "first_item"),
    ]

    def run(*options):
        with serving("--tools", folder, *options) as served:
            answers = []
            for call in calls:
                served.send(call)
                answers.append(served.process.stdout.readline())
            return answers

    assert run("--seed", "4") == run("--seed", "4")


def test_worlds_in_a_store_are_there_after_a_restart(folder, tmp_path, serving):
    store = f"sqlite:///{tmp_path / 'worlds.db'}"
    with serving("--tools", folder, "--store", store) as served:
        served.ask(_call(1, "add_item", title="Milk"))
        assert served.end()[0] == 0
    with serving("--tools", folder, "--store", store) as served:
        listed = served.ask(_call(1, "list_items"))
        assert json.loads(listed["result"]["content"][0]["text"])["items"][0]["title"] == "Milk"


def test_a_toolset_that_cannot_be_read_ends_with_the_reason_and_no_traceback(tmp_path, serving):
    with serving("--tools", tmp_path / "nothing.json") as served:
        code, out, log = served.end()
        assert code == 3
        assert out == b""
        assert "nothing.json" in log
        assert "Traceback" not in log


def test_quarantined_tools_are_named_in_the_log(folder, serving):
    definitions = json.loads((folder / "tools.json").read_text())
    definitions["tools"].append({"name": "odd", "inputSchema": {}})
    (folder / "tools.json").write_text(json.dumps(definitions))
    with serving("--tools", folder) as served:
        names = [tool["name"] for tool in served.ask(_request(1, "tools/list"))["result"]["tools"]]
        assert "odd" not in names
        assert "odd" in served.end()[2]
