"""`envace-sdk gateway` as its users start it: in processes of its own, that can be killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import httpx
import mcp.types as t
import pytest
from frames_client import LEGACY, MODERN, frames_client
from mcp import Client, StdioServerParameters
from public_servers import SERVERS, command_of

from envace_sdk.evidence.label import KEY
from envace_sdk.ledger import Ledger

VERDICT = "dev.envace/guard"
DESK = [sys.executable, str(Path(__file__).parents[1] / "support" / "real_desk.py")]


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "ledger.db"


@contextlib.contextmanager
def listening(words, **options):
    """A command that serves over HTTP; gives the URL that it names."""
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, **options)
    try:
        line = next(line for line in process.stderr if " at http" in line)
        yield line.rpartition(" at ")[2].strip()
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.mark.slow
@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_a_gateway_that_is_killed_between_commit_and_observation_never_runs_the_call_again(
    command, ledger, tmp_path, era
):
    policy, log = tmp_path / "policy.yaml", tmp_path / "done.log"
    policy.write_text("rules: [{tools: hang, then: commit}]")
    gateway = [*command, "gateway", "--policy", str(policy), "--ledger", str(ledger), "--", *DESK, str(log)]
    hang = {"name": "hang", "arguments": {}}
    with frames_client(gateway, era) as client:
        client._send({"id": 60, "method": "tools/call", "params": {**hang, "_meta": client._envelope()}})
        assert json.loads(client.process.stdout.readline())["params"]["data"] == "hanging"
        client.process.send_signal(signal.SIGKILL)
        client.process.wait(30)
    with frames_client(gateway, era) as client:
        result = client.raw("tools/call", {**hang, "_meta": client._envelope()})["result"]
    assert result["content"][0]["text"].startswith("IN DOUBT.")
    assert KEY not in result["_meta"]
    assert len(log.read_text().splitlines()) == 1
    with Ledger.open(ledger) as book:
        assert book.status(result["_meta"][VERDICT]["action"]) == "in_doubt"


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_shipped_toolset_behind_a_gateway_on_standard_input_and_output(command, ledger, mode, cli):
    asked = []

    async def elicit(_context, params):
        asked.append(params.message)
        return t.ElicitResult(action="accept", content={"decision": "approve"})

    words = ["gateway", "--tools", "retail", "--ledger", str(ledger), "--", *command, "serve", "--tools", "retail"]
    server = StdioServerParameters(command=command[0], args=[*command[1:], *words], env=dict(os.environ))
    cancel = {"order_id": "TT-26-04102", "reason": "changed_mind"}
    with anyio.fail_after(60):
        async with Client(server, mode=mode, elicitation_callback=elicit) as client:
            assert "cancel_order" in [tool.name for tool in (await client.list_tools()).tools]
            order = await client.call_tool("get_order", {"order_id": "TT-26-04102"})
            assert (order.meta[KEY]["kind"], asked) == ("claimed", []), "a rehearsal is never said to be observed"
            assert order.meta[KEY]["text"].startswith("retail (rehearsed)")
            cancelled = await client.call_tool("cancel_order", cancel)
    assert cancelled.meta[KEY]["kind"] == "claimed"
    assert "cancel_order of retail" in asked[0]
    shown = cli("ledger", "verify", "--ledger", ledger)
    assert shown.code in (0, None), shown.err


@pytest.mark.slow
@pytest.mark.anyio
async def test_a_pending_approval_is_given_from_a_terminal_and_serves_the_next_call(command, ledger, folder, cli):
    with listening([*command, "serve", "--tools", str(folder), "--http", "127.0.0.1:0"]) as upstream:
        words = ["gateway", "--tools", str(folder), "--ledger", str(ledger), "--http", "127.0.0.1:0"]
        with listening([*command, *words, "--upstream", upstream]) as url, anyio.fail_after(60):
            async with Client(url) as client:
                waiting = await client.call_tool("add_item", {"title": "Milk"})
                approval = waiting.meta[VERDICT]["approval"]
                assert f"envace-sdk approvals approve {approval} --ledger {ledger}" in waiting.content[0].text
                assert cli("approvals", "approve", approval, "--ledger", ledger).code in (0, None)
                made = await client.call_tool("add_item", {"title": "Milk"})
    assert made.structured_content["title"] == "Milk"
    assert made.meta[KEY]["kind"] == "claimed"


@pytest.mark.slow
def test_the_api_on_the_command_line(command, ledger):
    words = [*command, "gateway", "--api", "127.0.0.1:0", "--tools", "retail", "--ledger", str(ledger)]
    environment = {**os.environ, "ENVACE_GATEWAY_TOKEN": "secret"}
    with listening(words, env=environment) as url:
        body = {"tool": "get_order", "arguments": {"order_id": "TT-26-04102"}}
        decided = httpx.post(f"{url}/decide", json=body, headers={"authorization": "Bearer secret"}).json()
        assert httpx.post(f"{url}/decide", json=body).status_code == 401
    assert (decided["verdict"], decided["prediction"]["status"]) == ("commit", "success")


@pytest.mark.slow
@pytest.mark.node
@pytest.mark.anyio
async def test_the_public_file_server_writes_nothing_before_a_person_has_approved(command, ledger, tmp_path, mode, cli):
    [server] = [one for one in SERVERS if one["package"].endswith("/server-filesystem")]
    files = tmp_path / "files"
    files.mkdir()
    behind, env = command_of(server, files)
    words = [*command[1:], "gateway", "--ledger", str(ledger), "--", *behind]
    gateway = StdioServerParameters(command=command[0], args=words, env={**os.environ, **env})
    write = ("write_file", {"path": str(files / "a.txt"), "content": "hello"})
    with anyio.fail_after(120):
        async with Client(gateway, mode=mode) as client:
            waiting = await client.call_tool(*write)
            assert not (files / "a.txt").exists()
            cli("approvals", "approve", waiting.meta[VERDICT]["approval"], "--ledger", ledger)
            written = await client.call_tool(*write)
    assert written.meta[KEY]["kind"] == "observed"
    assert (files / "a.txt").read_text() == "hello"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--"], "give a command"),
        (["--upstream", "http://127.0.0.1:9/mcp", "--", "x"], "not both"),
        (["--api", "127.0.0.1:0", "--", "x"], "no server"),
        (["--api", "127.0.0.1:0"], "ENVACE_GATEWAY_TOKEN"),
        (["--api", "0.0.0.0:0", "--api-token", "t"], "--allow-remote"),
        (["--upstream", "http://127.0.0.1:9/mcp", "--http", "0.0.0.0:0"], "--allow-remote"),
        (["--webhook", "https://example.com", "--", "x"], "--webhook-secret"),
    ],
)
def test_options_that_do_not_fit_are_told(cli, words, said, monkeypatch):
    monkeypatch.delenv("ENVACE_GATEWAY_TOKEN", raising=False)
    told = cli("gateway", *words)
    assert told.code == 2
    assert said in told.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "no-such-command-anywhere"], "no-such-command-anywhere"),
        (["--tools", "no-such-toolset", "--", sys.executable], "no-such-toolset"),
        (["--api", "127.0.0.1:0", "--api-token", "t"], "--tools"),
    ],
)
def test_what_cannot_be_started_is_told_in_one_line(cli, words, said, ledger):
    told = cli("gateway", "--ledger", ledger, *words)
    assert told.code == 3
    assert said in told.err
    assert "Traceback" not in told.err


def test_a_wrong_policy_is_told_before_anything_is_started(cli, tmp_path, ledger):
    policy, log = tmp_path / "policy.yaml", tmp_path / "done.log"
    policy.write_text("rules: [{then: perhaps}]")
    told = cli("gateway", "--policy", policy, "--ledger", ledger, "--", *DESK, log)
    assert told.code == 3
    assert "policy.yaml" in told.err
    assert not ledger.exists()
