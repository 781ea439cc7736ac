"""The recorder is killed under traffic: what the client was answered is in the file, and the file opens."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from envace_sdk.recordings import read_recording

SERVER = Path(__file__).parents[1] / "support" / "echo_frames.py"
KILLS = int(os.environ.get("ENVACE_KILLS", "20"))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def _send(process, number, method, params):
    frame = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(frame).encode() + b"\n")


def _traffic(process, random):
    """Sends requests without waiting for answers, short and long ones, until the pipe breaks."""
    try:
        for number in range(2, 10_000):
            times = random.choice([1, 1, 10, 1_000, 20_000])
            _send(process, number, "tools/call", {"name": "echo", "arguments": {"text": f"{number} ", "times": times}})
            process.stdin.flush()
    except (BrokenPipeError, ValueError):
        return


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_kill_at_any_moment_loses_no_finished_call(seed, tmp_path, command):
    chance = random.Random(seed)
    file, farewell = tmp_path / "recording.jsonl", tmp_path / "farewell"
    words = [*command, "record", "-o", str(file), "--", sys.executable, str(SERVER), str(farewell)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "0"}}
    _send(process, 1, "initialize", client)
    process.stdin.flush()
    answered = {}
    received = [process.stdout.readline()]
    traffic = threading.Thread(target=_traffic, args=(process, chance))
    traffic.start()
    killer = threading.Timer(chance.uniform(0.0, 0.08), os.kill, (process.pid, signal.SIGKILL))
    killer.start()
    received += process.stdout.readlines()  # ends: the client sees the pipe close
    killer.join()
    process.wait()
    traffic.join()
    process.stdout.close()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    for line in received:
        if line.endswith(b"\n"):
            message = json.loads(line)
            answered[message["id"]] = message["result"]
    recording = read_recording(file)
    results = [exchange.result for exchange in recording.exchanges]
    calls = [answered[number] for number in sorted(answered) if number > 1]
    assert results[: len(calls)] == calls
    deadline = time.monotonic() + 10
    while not farewell.exists():  # the server saw its input end, and left by itself
        assert time.monotonic() < deadline
        time.sleep(0.01)
    # A recorder that comes after it adds to the same file.
    again = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    _send(again, 1, "initialize", client)
    _send(again, 2, "tools/call", {"name": "count", "arguments": {}})
    again.communicate(timeout=60)
    after = read_recording(file)
    assert not after.torn
    assert [exchange.result for exchange in after.exchanges[:-1]] == results
    assert after.exchanges[-1].params["name"] == "count"
