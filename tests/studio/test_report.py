"""What is in a report, and what is not."""

import asyncio
import json
import re
import sqlite3
from dataclasses import asdict

import pytest
from furnished_studio import examined, furnish, trained, worlds
from guarded_desk import action, desk

from envace_sdk.errors import EnvaceError, LedgerError, StoreError, TrainingError
from envace_sdk.studio.reported import Given, make

ROOM = 2**23


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "k")


def report(*runs, most=ROOM, **given):
    return asyncio.run(make(Given(tuple(map(str, runs)), **given), None, most=most))


def sections(html):
    return re.findall(r'<section class="page" id="p\d+">(.*?)\n</section>', html, re.DOTALL)


def headings(html):
    return [re.sub(r"<[^>]+>", "", one).strip() for one in re.findall(r"<h2[^>]*>(.*?)</h2>", html, re.DOTALL)]


def anchors_lead_somewhere(html):
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', html)) <= set(ids)


def test_a_training_run_is_its_curves_and_its_trajectories(tmp_path):
    made = report(trained(tmp_path))
    assert headings(made.html)[:3] == [
        "Training: pooled/seed-0, role-wise/seed-0",
        "pooled/seed-0: step 30",
        "role-wise/seed-0: step 30",
    ]
    assert "Reward by role" in made.html
    assert "layer dynamics" in made.html
    anchors_lead_somewhere(made.html)


def test_every_step_of_which_trajectories_were_kept_is_there_once(tmp_path):
    run = trained(tmp_path) / "pooled" / "seed-0"
    for step in ("000010", "000020"):
        (run / "samples" / f"{step}.jsonl").write_text((run / "samples" / "000030.jsonl").read_text())
    assert headings(report(run).html)[1:] == ["seed-0: step 30", "seed-0: step 20", "seed-0: step 10"]


def test_a_run_of_the_ledger_is_its_turns_and_its_approvals_and_nothing_of_other_runs(tmp_path):
    ids = furnish(tmp_path)
    made = report("thread-8", ledger=str(tmp_path / "ledger.db"))
    assert headings(made.html)[0] == "thread-8"
    assert ids["stale"] in made.html
    assert ids["pending"] not in made.html
    assert "thread-7" not in made.html
    anchors_lead_somewhere(made.html)


def test_a_rehearsal_stands_beside_what_was_observed(tmp_path):
    furnish(tmp_path)
    html = report("main", ledger=str(tmp_path / "ledger.db")).html
    assert "<ins>  &#34;refunded&#34;: 7,</ins>" in html
    for evidence in ("rehearsed", "observed", "claimed"):
        assert f'class="pill evidence-{evidence}">{evidence}<' in html
        assert f'class="shape shape-{evidence}"' in html


def test_a_whole_ledger_is_its_runs_approvals_and_worst_predictions_linked_to_each_other(tmp_path):
    furnish(tmp_path)
    made = report(tmp_path / "ledger.db")
    assert headings(made.html)[:3] == ["Runs", "Approvals", "Fidelity and calibration"]
    assert "refunded became 7, 20 was expected" in made.html
    link = re.search(r'<a href="#([^"]+)">Side by side', made.html)[1]
    turn = made.html.partition(f'id="{link}"')[2].partition("</li>")[0]
    assert "otherwise than predicted" in turn
    anchors_lead_somewhere(made.html)


def test_a_long_run_is_there_page_after_page(tmp_path):
    made = desk(tmp_path)
    made.run(action("get_order", {"order_id": "O-1"}))
    for number in range(450):
        made.ledger.append("main", "note", {"n": number})
    made.ledger.close()
    found = report("main", ledger=str(tmp_path / "ledger.db"))
    assert found.pages == 3
    assert found.html.count('<li class="turn ') == 454
    anchors_lead_somewhere(found.html)


@pytest.mark.parametrize("name", ["a/b?c&d", "ünï ☂", "x" * 500, "\ud800"])
def test_a_run_of_any_name_is_reported(tmp_path, name):
    made = desk(tmp_path)
    made.ledger.append(name, "note", {"n": 1})
    made.ledger.close()
    assert report(name, ledger=str(tmp_path / "ledger.db")).pages == 1
    assert report(tmp_path / "ledger.db").html.count('<li class="turn ') == 1


def test_a_store_is_its_worlds_and_what_changed_in_them(tmp_path):
    made = report(worlds(tmp_path))
    assert headings(made.html)[0] == "retail"
    assert "orders/TT-26-04124" in made.html
    assert 'class="pill effect-create">create<' in made.html
    anchors_lead_somewhere(made.html)


def test_a_fidelity_result_is_its_scores_and_worst_answers(tmp_path):
    told = examined().report
    result = {"toolset": "retail", "episodes": 1, "calls": told.overall.calls, "loops": {"closed": [asdict(told)]}}
    (tmp_path / "fidelity.json").write_text(json.dumps(result))
    made = report(tmp_path / "fidelity.json")
    assert headings(made.html)[:2] == ["Fidelity and calibration", "Worst answers of retail"]
    assert '<svg class="calibration"' in made.html
    assert "<del>" in made.html
    assert "Predictions of the guard" not in made.html
    anchors_lead_somewhere(made.html)


def test_the_same_makes_the_same_bytes(tmp_path):
    runs = trained(tmp_path)
    assert report(runs).html == report(runs).html


def test_what_there_is_no_room_for_is_named_and_the_file_stays_small(tmp_path):
    url = worlds(tmp_path)
    made = report(url, most=200_000)
    assert made.left_out
    assert len(made.html.encode()) < 220_000
    assert f"{len(made.left_out)} pages are left out" in made.html
    assert made.left_out[0] in made.html.replace("&amp;", "&")
    anchors_lead_somewhere(made.html)
    assert report(url).left_out == []


def test_nothing_in_it_asks_for_anything(tmp_path):
    furnish(tmp_path)
    for html in (report(tmp_path / "ledger.db").html, report(worlds(tmp_path)).html, report(trained(tmp_path)).html):
        for word in ("<form", "<input", "<button", "<script", "data-hx", "src=", "url(", "@import", "/static/"):
            assert word not in html, word


def test_a_tampered_run_is_shown_as_such(tmp_path):
    furnish(tmp_path)
    with sqlite3.connect(tmp_path / "ledger.db") as connection:
        for (name,) in connection.execute("select name from sqlite_master where type = 'trigger'").fetchall():
            connection.execute(f'drop trigger "{name}"')
        connection.execute("update ledger_entries set kind = 'note' where kind = 'approval_requested'")
    connection.close()
    made = report("thread-8", ledger=str(tmp_path / "ledger.db"))
    assert made.problems == ["/runs/view?name=thread-8"]
    assert 'role="alert"' in made.html


def test_the_own_ledger_of_the_user_is_no_part_of_what_is_no_ledger(tmp_path, monkeypatch):
    monkeypatch.setattr("envace_sdk.studio.ledgers.default_path", lambda: tmp_path / "ledger.db")
    furnish(tmp_path)
    told = examined().report
    result = {"toolset": "retail", "episodes": 1, "calls": 1, "loops": {"closed": [asdict(told)]}}
    (tmp_path / "fidelity.json").write_text(json.dumps(result))
    assert "refund_order" not in report(tmp_path / "fidelity.json").html


def test_what_is_not_there_is_named_with_what_is(tmp_path):
    furnish(tmp_path)
    with pytest.raises(LedgerError, match=r"'thread-9' is no file or folder, and no run of the ledger.*'thread-7'"):
        report("thread-9", ledger=str(tmp_path / "ledger.db"))
    with pytest.raises(LedgerError, match="which is not there"):
        report("thread-9", ledger=str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "empty").mkdir()
    with pytest.raises(TrainingError, match=r"empty: .*metrics\.jsonl"):
        report(tmp_path / "empty")


def test_a_database_of_something_else_is_left_as_it_is(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("create table things (id integer)")
    connection.close()
    before = (tmp_path / "other.db").read_bytes()
    with pytest.raises(StoreError, match="its tables are missing"):
        report(tmp_path / "other.db")
    assert (tmp_path / "other.db").read_bytes() == before


def test_worlds_of_an_unknown_toolset_ask_for_it(tmp_path):
    url = worlds(tmp_path)
    with pytest.raises(StoreError, match=r"'retail'.*--tools"):
        report(url, tools=((None, "banking"),))


@pytest.mark.parametrize("content", [b"", b"not json", b"{}", b"SQLite format 3\0 broken", b"\xff\xfe"])
def test_files_of_other_kinds_are_refused(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(EnvaceError):
        report(tmp_path / "file")
