"""Public servers from npm and PyPI, recorded in the eras they speak and served back in both: every answer as it was."""

import json
import subprocess
from pathlib import Path

import pytest
from frames_client import LEGACY, MODERN, frames_client
from public_servers import SERVERS, command_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SESSIONS = json.loads((Path(__file__).parent / "data" / "public_sessions.json").read_text(encoding="utf-8"))
SPEAK_BOTH = {"mcp-server-git", "mcp-server-time"}


def play(client, requests):
    return [client.request(method, params) for method, params in requests]


@pytest.mark.parametrize("recorded_in", [LEGACY, MODERN])
@pytest.mark.parametrize(
    "server",
    [
        pytest.param(server, id=server["package"], marks=[pytest.mark.node] if server["registry"] == "npm" else [])
        for server in SERVERS
        if server["package"] in SESSIONS
    ],
)
def test_a_scripted_session_comes_back_as_it_was_in_both_eras(server, recorded_in, tmp_path, command):
    if recorded_in == MODERN and server["package"] not in SPEAK_BOTH:
        pytest.skip("speaks the handshake era only")
    folder = tmp_path / "data"
    folder.mkdir()
    if server["package"] == "mcp-server-git":
        git = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.com"]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    requests = json.loads(json.dumps(SESSIONS[server["package"]]).replace("{folder}", str(folder)))
    words, env = command_of(server, folder)
    file = tmp_path / "recording.jsonl"
    with frames_client([*command, "record", "-o", str(file), "--", *words], recorded_in, env=env) as client:
        client.request("tools/list", {})
        real = play(client, requests)
    assert any("result" in answer for answer in real)
    for era in (LEGACY, MODERN):
        with frames_client([*command, "serve", "--tools", str(file)], era) as client:
            for request, answer, recorded in zip(requests, play(client, requests), real, strict=True):
                assert json.dumps(answer) == json.dumps(recorded), (era, request)
