import json

import pytest
from studios import app, ask, browser, form_token, post, state_of

from envace_sdk.ledger import Ledger


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "k")
    return tmp_path / "ledger.db"


def test_the_queue_tells_of_a_ledger_that_is_not_there_yet_and_shows_it_once_it_is(path):
    client = browser(app(path))
    assert "There is no ledger at" in client.get("/approvals").text
    assert not path.exists()
    asked = ask(path)
    assert asked.id in client.get("/approvals/list").text


def test_the_queue_tells_what_waits_from_what_is_closed(path):
    waiting, rejected, stale = ask(path), ask(path, action="b"), ask(path, action="c")
    with Ledger.open(path) as ledger:
        ledger.approvals.decide(rejected.id, "reject", by="eve")
        ledger.approvals.outdate(stale.id, "an equal call was executed")
    page = browser(app(path)).get("/approvals").text
    open_, _, closed = page.partition("<h2>Closed</h2>")
    assert "1 waits for you" in open_
    assert waiting.id in open_
    assert rejected.id in closed
    assert stale.id in closed
    assert "an equal call was executed" in closed


def test_an_approval_shows_call_change_risk_and_reasons(path):
    asked = ask(path, world="w1")
    page = browser(app(path)).get(f"/approvals/{asked.id}").text
    for said in ("orders/A", "&#34;refunded&#34;", "refunds/R-1", "holds/H", "dynamics", "0.93"):
        assert said in page, said
    for said in ("high risk", "writes money", "cannot be taken back", "on behalf of bob"):
        assert said in page, said


@pytest.mark.parametrize(("answer", "state"), [("approve", "approved"), ("reject", "rejected")])
def test_an_answer_is_written_in_the_name_of_who_started_the_studio(path, answer, state):
    asked = ask(path)
    client = browser(app(path))
    answered = post(client, f"/approvals/{asked.id}/{answer}", f"/approvals/{asked.id}", comment="seen the invoice")
    assert (answered.status_code, answered.headers["location"]) == (303, f"/approvals/{asked.id}")
    with Ledger.open(path) as ledger:
        found = ledger.approvals.get(asked.id)
        [entry] = [e for e in ledger.entries(asked.run) if e.kind == "approval_decided"]
        assert ledger.payload(entry) == {"comment": "seen the invoice"}
    assert found.state == state
    assert [(d.by, d.via) for d in found.decisions] == [("ann", "studio")]


def test_an_edit_becomes_an_approval_of_its_own(path):
    asked = ask(path)
    client = browser(app(path))
    made = post(
        client, f"/approvals/{asked.id}/edit", f"/approvals/{asked.id}", arguments='{"order": "A", "amount": 3}'
    )
    assert made.status_code == 303
    assert state_of(path, asked.id) == "edited"
    new = made.headers["location"].removeprefix("/approvals/")
    with Ledger.open(path) as ledger:
        assert ledger.approvals.get(new).arguments == {"order": "A", "amount": 3}
    page = client.get(f"/approvals/{new}").text
    assert "has not been rehearsed yet" in page
    assert "Expected to end in" not in page


@pytest.mark.parametrize(
    "typed", ["", "[]", '{"a": NaN}', "{", '{"a": ' + "[" * 100 + "]" * 100 + "}", '{"a": ' * 12_000]
)
def test_an_edit_that_is_no_object_is_handed_back_as_it_was_typed(path, typed):
    asked = ask(path)
    client = browser(app(path))
    answer = post(client, f"/approvals/{asked.id}/edit", f"/approvals/{asked.id}", arguments=typed)
    assert answer.status_code == 400
    assert "The arguments cannot be read" in answer.text
    assert typed.replace('"', "&#34;") in answer.text
    assert state_of(path, asked.id) == "pending"


def test_an_edit_to_the_same_arguments_says_why_it_is_refused(path):
    asked = ask(path)
    answer = post(
        browser(app(path)), f"/approvals/{asked.id}/edit", f"/approvals/{asked.id}",
        arguments='{"amount": 5, "order": "A"}',
    )  # fmt: skip
    assert answer.status_code == 409
    assert "for just these arguments" in answer.text


def test_what_was_answered_elsewhere_cannot_be_answered_again(path):
    asked = ask(path)
    client = browser(app(path))
    token = form_token(client, f"/approvals/{asked.id}")
    with Ledger.open(path) as ledger:
        ledger.approvals.decide(asked.id, "reject", by="eve")
    answer = client.post(f"/approvals/{asked.id}/approve", data={"form_token": token})
    assert answer.status_code == 409
    assert "was rejected" in answer.text
    assert state_of(path, asked.id) == "rejected"


def test_what_is_approved_can_be_taken_back_until_it_is_used(path):
    asked = ask(path)
    client = browser(app(path))
    post(client, f"/approvals/{asked.id}/approve", f"/approvals/{asked.id}")
    page = client.get(f"/approvals/{asked.id}").text
    assert "Approve once" not in page
    assert "Take it back" in page
    post(client, f"/approvals/{asked.id}/reject", f"/approvals/{asked.id}")
    assert state_of(path, asked.id) == "rejected"


def test_who_lacks_the_role_is_told_so(path):
    asked = ask(path, roles=["finance"])
    client = browser(app(path, approvers={"ann": ["support"]}))
    answer = post(client, f"/approvals/{asked.id}/approve", f"/approvals/{asked.id}")
    assert answer.status_code == 409
    assert "which ann does not have" in answer.text


def test_a_page_is_told_once_an_approval_has_moved_on(path):
    asked = ask(path)
    client = browser(app(path))
    state = f"/approvals/{asked.id}/state?known=pending.0"
    assert "hx-redirect" not in client.get(state).headers
    with Ledger.open(path) as ledger:
        ledger.approvals.decide(asked.id, "approve", by="eve")
    assert client.get(state).headers["hx-redirect"] == f"/approvals/{asked.id}"


def test_an_unknown_approval_is_not_found(path):
    ask(path)
    answer = browser(app(path)).get("/approvals/ap_nothing")
    assert answer.status_code == 404
    assert "There is no approval" in answer.text


def test_arguments_that_were_erased_are_neither_shown_nor_edited(path):
    asked = ask(path)
    with Ledger.open(path) as ledger:
        ledger.erase(run=asked.run, by="ann")
    page = browser(app(path)).get(f"/approvals/{asked.id}").text
    assert "Its arguments were erased" in page
    assert "Edit the arguments" not in page


@pytest.mark.parametrize(
    "details",
    [
        None,
        [],
        {"prediction": 3},
        {"prediction": {"status": "success", "layer": [], "confidence": "high"}},
        {"risk": "high"},
        {"risk": {"reasons": 7}},
    ],
)
def test_details_of_any_form_are_shown_as_far_as_they_can_be(path, details):
    asked = ask(path, details=details, change=[{"kind": 3, "fields": []}, 7, {"fields": {"a": {}, "b": 4}}])
    assert browser(app(path)).get(f"/approvals/{asked.id}").status_code == 200


def test_characters_that_turn_text_around_are_spelled_out(path):
    asked = ask(path, arguments={"to": "ann\u202egnp.exe", "lone": "\ud800"}, tool="send\u202e")
    page = browser(app(path)).get(f"/approvals/{asked.id}").text
    assert "\u202e" not in page
    assert "ann\\u202egnp.exe" in page
    typed = page.partition('class="code">')[2].partition("</textarea>")[0].replace("&#34;", '"')
    assert json.loads(typed) == {"to": "ann\u202egnp.exe", "lone": "\ud800"}
