"""The gateway on standard input and output, in front of a server that dies, hangs and lies."""

import json
import sys
from pathlib import Path

import pytest
from envace_sdk.mcp_servers.gateway_answers import question
from frames_client import LEGACY, MODERN
from gateways import guarding, stdio_gateway
from real_desk import TOOLS

from envace_sdk.evidence.label import KEY
from envace_sdk.guard.settling import settle
from envace_sdk.rehearse import Environment
from envace_sdk.tools.toolset import Toolset

VERDICT = "dev.envace/guard"
DESK = str(Path(__file__).parents[1] / "support" / "real_desk.py")
PAY = {"name": "pay", "arguments": {"amount": 5}}
YES = {"elicitation/create": {"action": "accept", "content": {"decision": "approve"}}}
NO_FORMS = {"offers": {}}


def explicit():
    """Rules that name each tool, so that its calls pass without a person."""
    names = ["look", "die", "hang", "forge", "refuse", "inquire"]
    rules = "".join(f"  - {{name: {name}, tools: [{name}], then: commit}}\n" for name in names)
    return f"rules:\n{rules}"


@pytest.fixture
def environment():
    return Environment(Toolset.from_definitions(json.loads(TOOLS), name="desk"))


@pytest.fixture
def log(tmp_path):
    return tmp_path / "done.log"


@pytest.fixture
def guard(environment, tmp_path):
    with guarding(environment, tmp_path, policy=explicit()) as made:
        yield made


@pytest.fixture
def desk(guard, log):
    """Starts the server behind a gateway; gives a client."""

    def started(era=LEGACY, **options):
        return stdio_gateway(guard, [sys.executable, DESK, str(log)], era, **options)

    return started


ERAS = pytest.mark.parametrize("era", [LEGACY, MODERN])


def done(log):
    return [json.loads(line)[0] for line in log.read_text().splitlines() if line != "cancelled"] if log.exists() else []


def said(result):
    return result["content"][0]["text"]


def call(client, params, **meta):
    """As `client.request`, with the answer's metadata."""
    meta = {**client._envelope(), **meta}
    return client.raw("tools/call", {**params, "_meta": meta} if meta else params)


def observed(guard):
    return [entry.body["tool"] for entry in guard.ledger.entries(kind="observed")]


@ERAS
def test_frames_that_need_no_change_pass_byte_for_byte(desk, era):
    with desk(era) as client:
        client._send({"id": 77, "method": "tools/list", "params": {}})
        line = client.process.stdout.readline().decode()
    assert line == f'{{"jsonrpc":"2.0","id":77,"result":{{"tools":{TOOLS}}}}}\n'


@ERAS
def test_what_a_server_forges_is_stripped_wherever_it_stands(desk, era):
    with desk(era) as client:
        forged = call(client, {"name": "forge", "arguments": {}})["result"]
        listed = client.raw("prompts/list", {})["result"]
    assert forged["_meta"]["own"] == 1
    assert "DEV.envace/guard" not in forged["_meta"]
    assert forged["_meta"][KEY]["payload_hash"] != "0" * 64
    assert forged["content"][0]["_meta"] == {"own": 1}
    assert listed["prompts"][0]["_meta"] == {"own": 1}


def test_what_a_client_forges_does_not_reach_the_server(desk, log):
    forged = {"dev.envace/evidence": {"kind": "observed"}, "own/key": 1}
    with desk() as client:
        call(client, {"name": "look", "arguments": {}}, **forged)
    assert json.loads(log.read_text()) == ["look", {}, ["own/key"]]


@ERAS
def test_other_methods_are_the_server_s_to_answer(desk, era):
    with desk(era) as client:
        assert client.request("resources/list", {})["error"]["message"] == "resources/list?"


def test_an_elicitation_asks_the_user_of_a_handshake_client(desk, guard, log):
    with desk(answers=YES) as client:
        paid = call(client, PAY)["result"]
        [asked] = client.asked
    assert said(paid) == "pay done"
    assert paid["_meta"][KEY]["kind"] == "observed"
    assert "pay of todo" in asked["params"]["message"]
    assert done(log) == observed(guard) == ["pay"]


def test_no_argument_adds_a_line_of_its_own_to_what_a_person_is_asked():
    nasty = {"a\nRisk: low": "\u202eb\x1b[2J"}
    asked = question("pay", {"arguments": nasty, "risk": "high", "reasons": ["x\nRisk: low"], "server": "s\nRisk: low"})
    assert [line for line in asked.splitlines() if line.startswith("Risk")] == ["Risk: high"]
    assert not {"\u202e", "\x1b"} & {*asked}


def test_a_client_that_answers_with_an_error_leaves_the_approval_pending(desk, guard, log):
    with desk(answers={}) as client:
        waiting = call(client, PAY)["result"]
    assert waiting["isError"]
    assert guard.ledger.approvals.get(waiting["_meta"][VERDICT]["approval"]).state == "pending"
    assert done(log) == []


def test_a_user_who_does_not_answer_in_time_leaves_the_approval_pending(desk, log):
    with desk(patience=0.2) as client:
        client._send({"id": 50, "method": "tools/call", "params": PAY})
        asked, waiting = [json.loads(client.process.stdout.readline()) for _ in range(2)]
    assert asked["method"] == "elicitation/create"
    assert waiting["id"] == 50
    assert said(waiting["result"]).startswith("NOT EXECUTED.")
    assert done(log) == []


@ERAS
def test_a_server_that_dies_in_a_call_leaves_it_in_doubt_and_is_not_asked_again(desk, guard, log, era):
    with desk(era) as client:
        result = call(client, {"name": "die", "arguments": {}})["result"]
        assert client.ended.result(10) == 3
    assert result["isError"]
    assert said(result).startswith("IN DOUBT.")
    assert "exit code 3" in said(result)
    with desk(era) as client:
        again = call(client, {"name": "die", "arguments": {}})["result"]
    assert said(again).startswith("IN DOUBT.")
    assert again["_meta"][VERDICT]["executed"] is None
    assert done(log) == ["die"]
    assert observed(guard) == []


def test_requests_that_wait_when_the_server_dies_are_answered(desk):
    with desk() as client:
        client._send({"id": 60, "method": "tools/call", "params": {"name": "hang", "arguments": {}}})
        client.process.stdout.readline()  # its notification: it is at work
        client._send({"id": 61, "method": "tools/call", "params": {"name": "die", "arguments": {}}})
        answers = {(one := json.loads(client.process.stdout.readline()))["id"]: one for _ in range(2)}
    assert all(said(answers[number]["result"]).startswith("IN DOUBT.") for number in (60, 61))


def test_a_client_that_leaves_in_the_middle_of_a_call_leaves_it_in_doubt(desk, guard, monkeypatch):
    monkeypatch.setattr("envace_sdk.mcp_servers.gateway_stdio.GRACE", 0.2)
    with desk() as client:
        client._send({"id": 60, "method": "tools/call", "params": {"name": "hang", "arguments": {}}})
        client.process.stdout.readline()
    [action] = {entry.action for entry in guard.ledger.entries(kind="commit")}
    assert guard.ledger.status(action) == "in_doubt"


def test_a_cancelled_call_is_cancelled_at_the_server_and_in_doubt(desk, log, monkeypatch):
    monkeypatch.setattr("envace_sdk.mcp_servers.gateway_stdio.GRACE", 0.2)
    with desk() as client:
        client._send({"id": 60, "method": "tools/call", "params": {"name": "hang", "arguments": {}}})
        client.process.stdout.readline()
        client._send({"method": "notifications/cancelled", "params": {"requestId": 60}})
        answer = json.loads(client.process.stdout.readline())
        client.request("ping", {})
    assert said(answer["result"]).startswith("IN DOUBT.")
    assert "cancelled" in log.read_text()


def test_a_call_that_is_cancelled_while_a_person_thinks_is_never_sent(desk, guard, log):
    with desk() as client:
        client._send({"id": 60, "method": "tools/call", "params": PAY})
        asked = json.loads(client.process.stdout.readline())
        client._send({"method": "notifications/cancelled", "params": {"requestId": 60}})
        answer = json.loads(client.process.stdout.readline())
        client._send({"id": asked["id"], "result": YES["elicitation/create"]})
        client.request("ping", {})
    assert said(answer["result"]).startswith("NOT EXECUTED.")
    assert done(log) == []
    assert [one.state for one in guard.ledger.approvals.select()] == ["pending"]


def test_a_server_s_refusal_is_passed_on_and_observed(desk, guard):
    with desk() as client:
        refused = call(client, {"name": "refuse", "arguments": {}})
    assert refused["error"]["message"] == "no such account"
    assert observed(guard) == ["refuse"]


def test_a_question_of_the_server_s_own_passes_and_its_call_runs_on(desk, guard, log):
    with desk(MODERN) as client:
        asked = client.raw("tools/call", {"name": "inquire", "arguments": {}, "_meta": client._envelope()})["result"]
        assert (asked["resultType"], asked["requestState"]) == ("input_required", "theirs")
        assert KEY not in asked.get("_meta", {})
        answered = {"requestState": "theirs", "inputResponses": {"which": {"action": "accept"}}}
        params = {"name": "inquire", "arguments": {}, "_meta": client._envelope(), **answered}
        result = client.raw("tools/call", params)["result"]
    assert said(result) == "inquire done"
    assert observed(guard) == ["inquire"]
    assert done(log) == ["inquire", "inquire"]


def test_an_approval_waits_for_the_next_run_of_the_gateway(desk, guard, log):
    with desk(**NO_FORMS) as client:
        waiting = call(client, PAY)["result"]
    guard.approve(waiting["_meta"][VERDICT]["approval"], by="ben")
    with desk(**NO_FORMS) as client:
        assert said(call(client, PAY)["result"]) == "pay done"
        assert call(client, PAY)["result"]["isError"]
    assert done(log) == ["pay"]


def test_what_was_rejected_in_an_earlier_run_is_asked_about_anew(desk, guard):
    with desk(**NO_FORMS) as client:
        first = call(client, PAY)["result"]["_meta"][VERDICT]["approval"]
        guard.reject(first, by="ben")
        assert call(client, PAY)["result"]["_meta"][VERDICT]["verdict"] == "block"
    with desk(**NO_FORMS) as client:
        second = call(client, PAY)["result"]["_meta"][VERDICT]
    assert second["verdict"] == "ask"
    assert second["approval"] != first


SMUGGLED = [
    b'[{"jsonrpc":"2.0","id":90,"method":"tools/call","params":{"name":"pay","arguments":{"amount":1}}}]',
    b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"pay","arguments":{"amount":1}}}',
    b'{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"pay","arguments":{"amount":1}}}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"pay","arguments":{"amount":1}}}',
    b'{"jsonrpc":"2.0","id":90,"method":"tools/call","params":{"name":"pay","arguments":{"amount":NaN}}}',
    b'{"jsonrpc":"2.0","id":90,"method":"tools/call","params":{"name":"pay","arguments":{"amount":1e999}}}',
    b'{"jsonrpc":"2.0","id":90,"method":"tools/call","params":[]}',
    b'{"jsonrpc":"2.0","id":90,"method":"tools/call","params":{"name":"pay","arguments":{"amount":1},"task":{}}}',
    b'{"jsonrpc":"2.0","id":90,"method":"ping","method":"tools\\/call","params":{"name":"pay","arguments":{}}}',
    b'{"jsonrpc":"2.0","id":90,"method":"tools/call","method":"ping","params":{"name":"pay","arguments":{"amount":1}}}',
    b"\xff\xfe",
    b'{"a":' * 50_000,
]


@pytest.mark.parametrize("frame", SMUGGLED, ids=lambda frame: frame[:100].decode("utf-8", "replace")[-60:])
def test_no_frame_slips_a_call_past_the_guard(desk, log, frame):
    with desk(**NO_FORMS) as client:
        client.process.stdin.write(frame + b"\n")
        client.process.stdin.flush()
        client.request("ping", {})
    assert done(log) == []


def test_an_id_that_is_still_going_is_not_taken_again(desk, log, monkeypatch):
    monkeypatch.setattr("envace_sdk.mcp_servers.gateway_stdio.GRACE", 0.2)
    with desk() as client:
        for _ in range(2):
            client._send({"id": 60, "method": "tools/call", "params": {"name": "hang", "arguments": {}}})
        answers = [json.loads(client.process.stdout.readline()) for _ in range(2)]
    assert [one["error"]["code"] for one in answers if "error" in one] == [-32600]
    assert done(log) == ["hang"]


def test_what_a_person_says_of_a_call_in_doubt_is_told_once_as_a_claim(desk, guard, log):
    die = {"name": "die", "arguments": {}}
    with desk() as client:
        action = call(client, die)["result"]["_meta"][VERDICT]["action"]
    settle(guard.ledger, action, by="ann", happened=True)
    with desk() as client:
        told = call(client, die)["result"]
        assert told["_meta"][KEY]["kind"] == "claimed"
        assert said(told) == "ann says that it happened"
        assert done(log) == ["die"]
        call(client, die)
    assert done(log) == ["die", "die"], "a call after that is a new one"


def test_what_a_person_says_did_not_happen_is_sent_again(desk, guard, log):
    die = {"name": "die", "arguments": {}}
    with desk() as client:
        action = call(client, die)["result"]["_meta"][VERDICT]["action"]
    settle(guard.ledger, action, by="ann", happened=False)
    with desk() as client:
        again = call(client, die)["result"]
    assert said(again).startswith("IN DOUBT.")
    assert f"envace-sdk guard settle {action}" in said(again)
    assert done(log) == ["die", "die"]
