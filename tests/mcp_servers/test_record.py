"""`envace-sdk record` over both transports, its modes, and `--verify`."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from frames_client import LEGACY, MODERN, frames_client

from envace_sdk.recordings import read_recording

SERVER = [sys.executable, str(Path(__file__).parents[1] / "support" / "echo_frames.py")]


def ask(client, text):
    return client.request("tools/call", {"name": "echo", "arguments": {"text": text}})["result"]["content"][0]["text"]


def count(client):
    return client.request("tools/call", {"name": "count", "arguments": {}})["result"]["content"][0]["text"]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "recordings" / "echo.jsonl"


@pytest.fixture
def record(command, file):
    """Starts a recorder before the echo server; gives a client of it."""

    def started(*options, era=LEGACY, env=None):
        return frames_client([*command, "record", "-o", str(file), *options, "--", *SERVER], era, env=env)

    return started


@pytest.fixture
def twin(command, file):
    def started(*options, era=LEGACY):
        return frames_client([*command, "serve", "--tools", str(file), *options], era)

    return started


def test_a_session_is_recorded_and_its_twin_answers_the_same_in_both_eras(record, twin, file):
    with record() as client:
        assert [tool["name"] for tool in client.request("tools/list", {})["result"]["tools"]] == ["echo", "count"]
        assert ask(client, "hé 🚀") == "hé 🚀"
        assert [count(client), count(client)] == ["1", "2"]
    [session] = read_recording(file).sessions
    assert (session.era, session.transport, session.server) == (LEGACY, "stdio", {"name": "echo", "version": "1"})
    for era in (LEGACY, MODERN):
        with twin(era=era) as client:
            assert ask(client, "hé 🚀") == "hé 🚀"
            assert [count(client), count(client)] == ["1", "2"]
    with twin() as client:
        assert client.server["serverInfo"] == {"name": "echo", "version": "1"}


def test_a_later_session_is_added_and_counts(record, twin, file):
    with record() as client:
        client.request("tools/list", {})
        count(client)
    with record() as client:
        [count(client) for _ in range(3)]
    recording = read_recording(file)
    assert len(recording.sessions) == 2
    with twin() as client:
        assert [count(client) for _ in range(3)] == ["1", "2", "3"]


def test_new_answers_what_is_recorded_and_asks_the_server_the_rest(record, file):
    with record() as client:
        ask(client, "one")
    with record("--mode", "new") as client:
        assert ask(client, "one") == "one"
        assert ask(client, "two") == "two"
    calls = [e.params["arguments"] for e in read_recording(file).exchanges if e.method == "tools/call"]
    assert calls == [{"text": "one"}, {"text": "two"}]


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_once_only_replays_when_there_is_a_recording_and_a_miss_explains_itself(record, file, era):
    with record("--mode", "once") as client:
        client.request("tools/list", {})
        ask(client, "one")
    before = file.read_bytes()
    with record("--mode", "once", era=era) as client:
        assert ask(client, "one") == "one"
        missed = client.request("tools/call", {"name": "echo", "arguments": {"text": "two"}})["error"]
    assert "closest is call 1 of recording" in missed["message"]
    assert 'arguments.text is "two", recorded "one"' in missed["message"]
    assert file.read_bytes() == before


def test_none_needs_no_server(record, command, file):
    with record() as client:
        client.request("tools/list", {})
        ask(client, "one")
    with frames_client([*command, "record", "-o", str(file), "--mode", "none"], LEGACY) as client:
        assert ask(client, "one") == "one"


def test_what_was_missed_stands_in_the_evidence_of_the_rehearsed_answer(record, twin):
    with record() as client:
        client.request("tools/list", {})
        ask(client, "one")
    with twin() as client:
        raw = client.raw("tools/call", {"name": "echo", "arguments": {"text": "two"}})
    evidence = raw["result"]["_meta"]["dev.envace/evidence"]
    assert evidence["layer"] != "fixture"
    assert 'recorded "one"' in evidence["reason"]


def test_an_ignored_argument_does_not_tell_calls_apart(record, twin):
    with record() as client:
        client.request("tools/list", {})
        client.request("tools/call", {"name": "echo", "arguments": {"text": "one", "times": 1}})
    with twin("--recorded-only", "--ignore", "echo:times") as client:
        answer = client.request("tools/call", {"name": "echo", "arguments": {"text": "one", "times": 2}})
    assert answer["result"]["content"][0]["text"] == "one"


def test_secrets_do_not_reach_the_file(record, file):
    secret = "ghp_" + "a1B2" * 9
    with record() as client:
        assert ask(client, secret) == secret
    assert secret not in file.read_text()


def test_the_server_inherits_the_environment_and_its_exit_code_is_passed_on(command, file):
    code = "import os, sys; sys.exit(int(os.environ['LEAVE_WITH']))"
    words = [*command, "record", "-o", str(file), "--env", "LEAVE_WITH=7", "--", sys.executable, "-c", code]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as process:
        assert process.wait(60) == 7


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--mode", "onece"], 2, "'onece' is no record mode; there are: none, new, once, all"),
        (["--redact-pattern", "("], 3, "no regular expression"),
        (["--ignore", "a..b"], 3, "expected a path"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_started(cli, file, options, code, says):
    done = cli("record", "-o", file, *options, "--", "no-such-command-anywhere")
    assert done.code == code
    assert says in done.err
    assert not file.exists()


def test_a_command_that_is_not_there_is_named(cli, file):
    done = cli("record", "-o", file, "--", "no-such-command-anywhere")
    assert (done.code, done.err) == (3, "error: command not found: no-such-command-anywhere\n")


def test_verify_says_what_is_answered_otherwise_now(cli, record, file):
    with record() as client:
        client.request("tools/list", {})
        ask(client, "one")
        count(client)
    assert cli("record", "-o", file, "--verify", "--", *SERVER).code == 0
    text = file.read_text().replace('"text":"1"', '"text":"11"').replace("Counts.", "Counts up.")
    file.write_text(text)
    done = cli("record", "-o", file, "--verify", "--format", "json", "--", *SERVER)
    report = json.loads(done.out)
    assert done.code == 1
    assert report["answers"][0]["request"] == "count"
    assert report["answers"][0]["differences"] == ['result.content[0].text is "1", recorded "11"']
    assert [(change["tool"], change["breaking"]) for change in report["catalogue"]] == [("count", False)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_recorder_and_the_server_cleanly(command, file, tmp_path, number):
    farewell = tmp_path / "farewell"
    words = [*command, "record", "-o", str(file), "--", *SERVER, str(farewell)]
    with frames_client(words, LEGACY) as client:
        assert ask(client, "one") == "one"
        client.process.send_signal(number)
        assert client.process.stdout.read() == b""
        assert client.process.wait(20) == 0
    assert farewell.exists()
    assert len(read_recording(file).exchanges) == 1


def test_long_frames_pass_both_ways_at_once(record, file):
    with record() as client:
        text = "long ü" * 400_000
        assert ask(client, text) == text
    assert read_recording(file).exchanges[0].result["content"][0]["text"] == text


def test_what_is_no_frame_passes_and_is_left_out(command, file):
    code = (
        "import sys; sys.stdout.write('hello\\n'); sys.stdout.flush(); sys.stdout.write(sys.stdin.readline().upper())"
    )
    words = [*command, "record", "-o", str(file), "--", sys.executable, "-c", code]
    done = subprocess.run(words, input=b"not json\nmore", capture_output=True, timeout=60)
    assert done.stdout == b"hello\nNOT JSON\n"
    assert read_recording(file).exchanges == ()
