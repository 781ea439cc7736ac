"""The public conformance suite passes against a twin exactly as it does against the original."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml
from conformance_suite import REVISIONS, everything_server, run_suite

pytestmark = [pytest.mark.slow, pytest.mark.node, pytest.mark.timeout(900)]

FAILURES = yaml.safe_load((Path(__file__).parent / "data" / "conformance_failures.yml").read_text(encoding="utf-8"))
PASSED = {"2025-11-25": 84, "2026-07-28": 169}
"""Checks that the original passes."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(words, *, url=None, cwd=None):
    """A server's process; gives its URL: the one given once it answers, else the one it prints."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [cwd, os.environ.get("PYTHONPATH")]))}
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=env, cwd=cwd)
    found = threading.Event()
    printed = []

    def read():
        for line in process.stderr:
            printed.append(line)
            if "http" in line:
                found.set()
        found.set()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        if url is None:
            assert found.wait(60)
            url = re.search(r"at (http\S+)", "".join(printed)).group(1)
        _await(url, process)
        yield url
    finally:
        process.terminate()
        process.wait(30)
        reader.join()
        process.stderr.close()


def _await(url, process):
    deadline = time.monotonic() + 60
    host, port = re.search(r"//([^:/]+):(\d+)", url).groups()
    while True:
        try:
            socket.create_connection((host, int(port)), 1).close()
            return
        except OSError:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Checks by scenario, of the original through the recorder, and of its twin."""
    folder = tmp_path_factory.mktemp("conformance")
    file = folder / "everything.jsonl"
    command = [sys.executable, "-c", "from envace_sdk.cli.main import main; main()"]
    upstream = f"http://127.0.0.1:{free_port()}/mcp"
    server = [sys.executable, "-m", "mcp_everything_server", "--port", upstream.split(":")[2].split("/")[0]]
    record = [*command, "record", "-o", str(file), "--upstream", upstream, "--http", "127.0.0.1:0"]
    found = {}
    with running(server, url=upstream, cwd=str(everything_server())), running(record) as url:
        for revision in REVISIONS:
            found["recorder", revision] = run_suite(url, revision, folder / f"recorder-{revision}")
    with running([*command, "serve", "--tools", str(file), "--http", "127.0.0.1:0"]) as url:
        for revision in REVISIONS:
            found["twin", revision] = run_suite(url, revision, folder / f"twin-{revision}")
    return found


@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize("served", ["recorder", "twin"])
def test_the_frozen_scenarios_pass_as_they_do_against_the_original(results, served, revision):
    scenarios = results[served, revision]
    failing = sorted(name for name, (_, failed) in scenarios.items() if failed)
    assert failing == FAILURES[revision]
    assert sum(passed for passed, _ in scenarios.values()) == PASSED[revision]
