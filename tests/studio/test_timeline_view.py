import re

import pytest
from guarded_desk import READS, action, desk
from studios import app, browser

from envace_sdk.tools.model import ToolResult

ANY_REFUND = {
    "name": "any refund",
    "tools": "refund_order",
    "arguments": {
        "order_id": {"type": "string", "maxLength": 9},
        "amount": {"type": "number", "minimum": 0, "maximum": 9999},
    },
    "then": "commit",
}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "k")


def page(tmp_path, run="main", **more):
    given = {"name": run, **more}
    return browser(app(tmp_path / "ledger.db")).get("/runs/view", params=given).text


def turns(text):
    """Role, word of evidence and shape of each turn."""
    found = []
    for turn in text.split('<li class="turn ')[1:]:
        role = re.search(r'class="role">(\w+)<', turn)[1]
        evidence = re.search(r'class="pill evidence-\w+">(\w+)<', turn)
        shape = re.search(r'class="shape shape-(\w+)"', turn)[1]
        found.append((role, evidence and evidence[1], shape))
    return found


def test_runs_are_listed_without_the_accounts_of_the_guard(tmp_path):
    made = desk(tmp_path)
    made.run(action("get_order", {"order_id": "O-1"}))
    text = browser(app(tmp_path / "ledger.db")).get("/runs").text
    assert ">main</a>" in text
    assert "scores/" not in text


def test_each_turn_says_its_role_and_its_kind_of_evidence_in_a_word_and_a_shape(tmp_path):
    made = desk(tmp_path)
    made.run(action("get_order", {"order_id": "O-1"}))
    made.ledger.append("main", "claimed", {"unsupported": 1}, payload={"text": "I have refunded it."})
    assert turns(page(tmp_path)) == [
        ("rehearse", "rehearsed", "rehearsed"),
        ("judge", None, "judged"),
        ("act", None, "act"),
        ("observe", "observed", "observed"),
        ("act", "claimed", "claimed"),
    ]


def test_an_outcome_that_somebody_told_of_is_a_claim(tmp_path):
    made = desk(tmp_path)
    body = {"tool": "get_order", "status": "success", "claimed_by": "ann"}
    made.ledger.observed("main", "a", body, payload={"result": {"content": []}}, outside=True)
    assert turns(page(tmp_path)) == [("observe", "claimed", "claimed")]


def test_the_layer_of_a_prediction_is_shown(tmp_path):
    desk(tmp_path).run(action("get_order", {"order_id": "O-1"}))
    assert re.search(r"from the layer</span> dynamics", page(tmp_path))


def test_what_came_otherwise_stands_beside_the_rehearsal_with_the_difference_marked(tmp_path):
    made = desk(tmp_path, READS, ANY_REFUND)
    made.answer = ToolResult.json({"order_id": "O-1", "total": 50, "refunded": 7, "note": ""}, structured=True)
    made.run(action())
    text = page(tmp_path)
    assert "otherwise than predicted" in text
    pair = text.partition('<div class="pair">')[2].partition("</details>")[0]
    assert re.findall(r"<del>(.*?)</del>", pair) == ["  &#34;refunded&#34;: 20,"]
    assert re.findall(r"<ins>(.*?)</ins>", pair) == ["  &#34;refunded&#34;: 7,"]


def test_another_status_than_predicted_is_marked(tmp_path):
    made = desk(tmp_path, READS, ANY_REFUND)
    made.answer = ToolResult.text("not allowed here: permission denied", is_error=True)
    made.run(action())
    pair = page(tmp_path).partition('<div class="pair">')[2]
    assert "<del>success</del>" in pair


def test_what_came_as_predicted_says_so(tmp_path):
    desk(tmp_path).run(action("get_order", {"order_id": "O-1"}))
    text = page(tmp_path)
    assert "as predicted" in text
    assert "<del>" not in text


def test_what_was_erased_is_said_to_be(tmp_path):
    made = desk(tmp_path)
    made.run(action("get_order", {"order_id": "O-1"}))
    made.ledger.erase(run="main", by="ann")
    text = page(tmp_path)
    assert "What it held was erased" in text
    assert "O-1" not in text


def test_a_long_run_is_shown_a_page_at_a_time(tmp_path):
    made = desk(tmp_path)
    for number in range(205):
        made.ledger.append("main", "note", {"n": number})
    first = page(tmp_path)
    assert len(turns(first)) == 200
    assert "/runs/view?name=main&amp;after=200" in first
    assert len(turns(page(tmp_path, after=200))) == 5


def test_a_page_learns_of_turns_that_were_added_since(tmp_path):
    made = desk(tmp_path)
    made.ledger.append("main", "note", {})
    client = browser(app(tmp_path / "ledger.db"))
    news = re.search(r'data-hx-get="(/runs/news[^"]+)"', client.get("/runs/view?name=main").text)[1]
    news = news.replace("&amp;", "&")
    assert not client.get(news).text.strip()
    made.ledger.append("main", "note", {})
    assert "1 new turn" in client.get(news).text


@pytest.mark.parametrize("name", ["a/b?c&d", "ünï ☂", "x" * 500, "", "\ud800"])
def test_a_run_of_any_name_is_found_through_its_link(tmp_path, name):
    made = desk(tmp_path)
    made.ledger.append(name, "note", {})
    client = browser(app(tmp_path / "ledger.db"))
    link = re.search(r'<a href="(/runs/view[^"]*)"', client.get("/runs").text)[1]
    assert client.get(link.replace("&amp;", "&")).status_code == 200


@pytest.mark.parametrize("after", ["-1", "x", "9" * 30, "²", "999"])
def test_a_page_that_is_none_does_no_harm(tmp_path, after):
    desk(tmp_path).ledger.append("main", "note", {})
    assert browser(app(tmp_path / "ledger.db")).get(f"/runs/view?name=main&after={after}").status_code == 200


def test_a_run_that_is_not_there_is_not_found(tmp_path):
    desk(tmp_path).ledger.append("main", "note", {})
    assert browser(app(tmp_path / "ledger.db")).get("/runs/view?name=other").status_code == 404
