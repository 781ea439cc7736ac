"""The guard over HTTP, as an API gateway of somebody's own asks it."""

import httpx
import pytest
from envace_sdk.mcp_servers.address import Address, Names
from envace_sdk.mcp_servers.gateway_api import build_api
from gateways import guarding
from guarded_desk import REFUND, environment
from openapi_pydantic import OpenAPI
from served import serving

from envace_sdk.errors import StoreError

LOOK = {"tool": "get_order", "arguments": {"order_id": "O-1"}}
PAY = {"tool": "refund_order", "arguments": REFUND}
READS = "rules: [{name: reads, when: \"risk.level == 'low'\", then: commit}]"
ORDER = {"order_id": "O-1", "total": 50, "refunded": 0, "note": ""}


@pytest.fixture
def guard(tmp_path):
    with guarding(environment(), tmp_path, policy=READS) as made:
        yield made


@pytest.fixture
def api(guard):
    app = build_api(guard, server="shop", token="secret", names=Names(Address("127.0.0.1", 0)))
    with serving(app) as base, httpx.Client(base_url=base, headers={"authorization": "Bearer secret"}) as client:
        yield client


def post(api, path, body):
    response = api.post(f"/v1/{path}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_a_call_that_may_run_gets_a_permit_and_its_outcome_is_observed_and_scored(api, guard):
    decided = post(api, "decide", LOOK)
    assert decided["verdict"] == "commit"
    assert (decided["risk"], decided["prediction"]["status"]) == ("low", "success")
    assert guard.ledger.status(decided["action"]) == "in_doubt", "the right to execute it is taken"
    told = post(api, "observe", {"permit": decided["permit"], "result": ORDER})
    assert (told["status"], told["score"]["right"]) == ("observed", True)
    assert told["evidence"]["kind"] == "observed"
    assert guard.ledger.status(decided["action"]) == "observed"


def test_a_permit_is_used_once(api):
    permit = post(api, "decide", LOOK)["permit"]
    post(api, "observe", {"permit": permit, "result": {}})
    again = api.post("/v1/observe", json={"permit": permit, "result": {}})
    assert again.status_code == 404
    assert "no such permit" in again.json()["error"]


def test_a_risky_call_waits_for_a_person_and_gets_a_permit_once(api, guard):
    asked = post(api, "decide", PAY)
    assert (asked["verdict"], asked["permit"]) == ("ask", None)
    assert asked["prediction"]["status"] == "success"
    where = api.get(f"/v1/approvals/{asked['approval']}").json()
    assert (where["state"], where["tool"], where["arguments"]) == ("pending", "refund_order", REFUND)
    guard.approve(asked["approval"], by="ann")
    other = post(api, "decide", {**PAY, "arguments": {**REFUND, "amount": 21}})
    assert other["verdict"] == "ask"
    permitted = post(api, "decide", PAY)
    assert permitted["permit"]
    post(api, "observe", {"permit": permitted["permit"], "result": {}})
    assert api.get(f"/v1/approvals/{asked['approval']}").json()["state"] == "used"
    assert post(api, "decide", PAY)["permit"] is None


def test_judging_alone_takes_no_right(api, guard):
    judged = post(api, "decide", {**LOOK, "begin": False})
    assert (judged["verdict"], judged["permit"]) == ("commit", None)
    assert guard.ledger.status(judged["action"]) == "decided"


def test_a_call_with_an_id_is_one_action_however_often_it_comes(api):
    first = post(api, "decide", {**LOOK, "call_id": "c-1"})
    assert post(api, "decide", {**LOOK, "call_id": "c-1"})["verdict"] == "in_doubt"
    post(api, "observe", {"permit": first["permit"], "result": ORDER})
    done = post(api, "decide", {**LOOK, "call_id": "c-1"})
    assert (done["verdict"], done["permit"]) == ("done", None)
    assert done["result"]["structuredContent"] == ORDER
    assert post(api, "decide", {**LOOK, "call_id": "c-2"})["permit"]


@pytest.mark.parametrize(
    ("told", "status"), [({"not_executed": "no connection"}, "not_started"), ({"lost": "timeout"}, "in_doubt")]
)
def test_what_was_not_executed_can_be_again_and_what_is_lost_cannot(api, guard, told, status):
    guard.approve(post(api, "decide", PAY)["approval"], by="ann")
    permit = post(api, "decide", PAY)["permit"]
    assert post(api, "observe", {"permit": permit, **told})["status"] == status
    again = post(api, "decide", PAY)
    assert (again["verdict"], bool(again["permit"])) == (
        ("commit", True) if status == "not_started" else ("in_doubt", False)
    )


def test_an_error_of_the_tool_is_observed_as_one(api, guard):
    permit = post(api, "decide", LOOK)["permit"]
    told = post(api, "observe", {"permit": permit, "error": "no such order"})
    assert told["score"]["right"] is False
    [entry] = guard.ledger.entries(kind="observed")
    assert entry.body["status"] != "success"


def test_arguments_that_the_tool_forbids_are_sent_back(api):
    refused = post(api, "decide", {**PAY, "arguments": {"order_id": 5}})
    assert refused["verdict"] == "revise"
    assert refused["reasons"]


def test_when_the_ledger_fails_there_is_no_permit(api, guard, monkeypatch):
    def broken(*_args, **_kwargs):
        raise StoreError("the disk is full")

    monkeypatch.setattr(guard.ledger, "commit", broken)
    failed = api.post("/v1/decide", json=LOOK)
    assert failed.status_code == 503
    assert "nothing may be executed" in failed.json()["error"]


@pytest.mark.parametrize("path", ["/v1/decide", "/v1/observe"])
@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic secret"}])
def test_nobody_is_answered_without_the_token(api, path, headers):
    assert httpx.post(f"{api.base_url}{path}", json=LOOK, headers=headers).status_code == 401
    assert httpx.get(f"{api.base_url}/v1/approvals/x", headers=headers).status_code == 401


def test_a_web_page_elsewhere_is_not_answered(api):
    assert api.post("/v1/decide", json=LOOK, headers={"host": "evil.example"}).status_code == 421
    assert api.post("/v1/decide", json=LOOK, headers={"origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("decide", {}, "tool"),
        ("decide", {**LOOK, "argument": {}}, "argument"),
        ("decide", [], "request"),
        ("observe", {"permit": "p"}, "just one"),
        ("observe", {"permit": "p", "result": 1, "lost": "x"}, "just one"),
        ("observe", {"permit": "p", "lost": None}, "lost"),
    ],
)
def test_a_wrong_request_says_what_is_wrong(api, path, body, said):
    response = api.post(f"/v1/{path}", json=body)
    assert response.status_code == 400
    assert said in response.json()["error"]


def test_text_that_is_no_json_is_refused(api):
    for text in ("{", "NaN", '{"a":' * 50_000):
        assert api.post("/v1/decide", content=text).status_code == 400


def test_an_approval_that_is_not_there_is_not_found(api):
    assert api.get("/v1/approvals/ap_none").status_code == 404


def test_the_document_describes_the_api(api):
    described = httpx.get(f"{api.base_url}/openapi.json").json()
    OpenAPI.model_validate(described)
    assert {*described["paths"]} == {"/v1/decide", "/v1/observe", "/v1/approvals/{id}"}
    fields = described["components"]["schemas"]["Decided"]["properties"]
    assert {*post(api, "decide", LOOK)} == {*fields}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"order_id": "O-1", "amount": 5, "amount": 5000}', "twice"),
        ('{"order_id": "O-1", "amount": NaN}', "no NaN"),
        ('{"order_id": "O-1", "amount": 1e999}', "too large"),
        ('{"order_id": "\\ud800", "amount": 5}', "surrogate"),
        ("{" * 500, "not JSON"),
    ],
)
def test_a_call_that_two_readers_may_take_for_different_ones_is_not_judged(api, guard, arguments, why):
    response = api.post("/v1/decide", content=f'{{"tool": "refund_order", "arguments": {arguments}}}')
    assert response.status_code == 400
    assert why in response.json()["error"]
    assert list(guard.ledger.entries()) == []


def test_a_result_that_says_that_it_is_rehearsed_is_a_claim(api, guard):
    said = {"layer": "dynamics", "confidence": 1, "outcome": "success", "world": "w", "version": 1, "toolset": "t"}
    result = {"content": [], "_meta": {"dev.envace/evidence": {"kind": "rehearsed", **said}}}
    for _ in range(2):
        permit = post(api, "decide", LOOK)["permit"]
        told = post(api, "observe", {"permit": permit, "result": result})
        assert (told["evidence"]["kind"], told["score"]) == ("claimed", None)
