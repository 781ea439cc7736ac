import re
from pathlib import Path

import pytest
from furnished_studio import furnish
from studios import app, browser, post

from envace_sdk.rehearse import Environment
from envace_sdk.studio.examined import Examination

RECORDED = Path(__file__).parents[2] / "schemas" / "retail" / "fixtures.jsonl"


@pytest.fixture
def client(tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "k")
    furnish(tmp_path)
    return browser(app(tmp_path / "ledger.db"))


@pytest.fixture(scope="module")
def exam():
    """Rules alone, against what is recorded of the shipped toolset."""
    shipped = Environment.load("retail")
    return Examination(Environment(shipped.toolset, start=shipped.start), [RECORDED])


def test_each_tool_has_its_figures(client):
    page = client.get("/fidelity").text
    row = page.partition("?name=refund_order")[2].partition("</tr>")[0]
    assert re.findall(r'<td class="figure">([^<]*)', row)[:2] == ["1", "0%"]
    assert "?name=get_order" in page


def test_the_worst_cases_of_a_tool_are_one_click_away_and_lead_to_the_turn(client):
    page = client.get("/fidelity/tool?name=refund_order").text
    assert "refunded became 7, 20 was expected" in page
    link = re.search(r'<a href="(/runs/view[^"]+)"', page)[1].replace("&amp;", "&")
    first = client.get(link).text.partition('<li class="turn ')[2].partition('<li class="turn ')[0]
    assert "otherwise than predicted" in first


def test_a_tool_without_a_wrong_prediction_says_so(client):
    assert "every prediction that could be compared came true" in client.get("/fidelity/tool?name=get_order").text


@pytest.mark.parametrize("page", ["/fidelity/tool?name=nothing", "/fidelity/exam"])
def test_what_is_not_there_is_not_found(client, page):
    assert client.get(page).status_code == 404


def test_without_a_ledger_the_page_says_what_is_missing(tmp_path):
    assert "No prediction was scored yet" in browser(app(tmp_path / "ledger.db")).get("/fidelity").text


def test_an_exam_is_held_when_asked_for_and_its_worst_answers_are_one_click_away(tmp_path, exam):
    client = browser(app(tmp_path / "ledger.db", exam=exam))
    assert client.get("/fidelity/exam").headers["location"] == "/fidelity"
    assert post(client, "/fidelity/hold", "/fidelity").status_code == 303
    page = client.get("/fidelity").text
    assert f"over {exam.calls} calls" in page
    tool = re.search(r'"/fidelity/exam\?tool=([^"]+)"', page)[1]
    worst = client.get("/fidelity/exam").text
    assert "<del>" in worst
    assert "Recorded a" in worst
    assert client.get(f"/fidelity/exam?tool={tool}").status_code == 200
