import json

import pytest
from click.testing import CliRunner
from guarded_desk import READS, action, desk

from envace_sdk.cli.main import cli
from envace_sdk.errors import LedgerError, PolicyError, Refused, UnknownToolError
from envace_sdk.guard import Score
from envace_sdk.tools.model import ToolResult

POLICY = """
rules:
  - {name: reads, when: "risk.level == 'low'", then: commit}
  - {name: quick, tools: cancel_order, then: commit}
"""


def invoke(*words):
    return CliRunner().invoke(cli, ["guard", *map(str, words)])


@pytest.fixture
def policy_file(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


def test_check_shows_what_the_policy_says_of_a_sample_of_every_tool(policy_file):
    found = json.loads(invoke("check", policy_file, "--tools", "retail", "--json").output)
    verdicts = {sample["tool"]: sample["verdict"] for sample in found["samples"]}
    assert verdicts["get_order"] == "commit"
    assert verdicts["place_order"] == "ask"
    (cancel,) = [sample for sample in found["samples"] if sample["tool"] == "cancel_order"]
    assert cancel["verdict"] == "ask"
    assert "does not bound order_id, reason" in cancel["reasons"][0]


def test_check_judges_one_call(policy_file):
    arguments = '{"order_id": "TT-26-04102"}'
    result = invoke("check", policy_file, "--tools", "retail", "--call", "get_order", arguments)
    assert result.exit_code == 0
    assert "commit" in result.output


def test_check_says_of_what_is_not_there_what_the_guard_would_say(policy_file):
    words = ("--tools", "retail", "--call", "get_order", '{"order_id": "TT-26-99999"}', "--json")
    [sample] = json.loads(invoke("check", policy_file, *words).output)["samples"]
    assert sample["prediction"]["status"] == "unknown"


def test_check_says_which_rules_are_likely_to_be_mistakes(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text("rules: [{then: ask, tools: [delete_*, '*']}, {then: block, name: last}]")
    result = invoke("check", path, "--tools", "retail")
    assert result.exit_code == 1
    assert "rule 1: no tool of retail matches 'delete_*'" in result.output
    assert "rule 2 (last): never reached" in result.output


def test_check_names_the_file_and_the_rule_of_a_mistake(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text("rules: [{then: ask}, {name: odd, then: commit, when: 'args.'}]")
    result = invoke("check", path, "--tools", "retail")
    assert isinstance(result.exception, PolicyError)
    assert str(result.exception).startswith(f"{path}: rule 2 (odd): when: ")


def test_check_refuses_a_tool_that_does_not_exist(policy_file):
    result = invoke("check", policy_file, "--tools", "retail", "--tool", "launch")
    assert isinstance(result.exception, UnknownToolError)


@pytest.fixture
def shop(tmp_path):
    made = desk(tmp_path, READS)
    for number in range(1, 25):
        if number == 22:
            made.answer = ToolResult.text("permission denied", is_error=True)
        made.run(action("get_order", {"order_id": f"O-{number}"}))
    made.decide(action())
    return made


def test_report_shows_accuracy_calibration_and_verdicts_of_each_tool(shop, tmp_path):
    found = json.loads(invoke("report", "--ledger", tmp_path / "ledger.db", "--json").output)
    tools = {tool["tool"]: tool for tool in found["tools"]}
    assert tools["get_order"]["calls"] == 24
    assert tools["get_order"]["accuracy"] == pytest.approx(21 / 24)
    assert tools["get_order"]["recent_accuracy"] == pytest.approx(17 / 20)
    assert tools["get_order"]["calibration"][0]["calls"] == 24
    assert tools["get_order"]["calibration_error"] == pytest.approx(3 / 24)
    assert tools["get_order"]["differences"] == {"status permission_error instead of success": 3}
    assert tools["refund_order"]["verdicts"] == {"ask": 1}


def test_report_prints_a_table_and_one_tool_with_its_calibration(shop, tmp_path):
    result = invoke("report", "--ledger", tmp_path / "ledger.db", "--tool", "get_order")
    assert "88%" in result.output
    assert "0.9 to 1.0" in result.output
    assert "3 x status permission_error instead of success" in result.output


def test_report_ends_with_1_when_a_tool_has_become_worse(tmp_path):
    made = desk(tmp_path, READS)
    for number in range(50):
        look, right = action("get_order", {"order_id": "O-1"}, call_id=str(number)), number < 40
        made.guard.journal.scored(look, look.identity, Score("success", "success" if right else "conflict", right))
    result = invoke("report", "--ledger", tmp_path / "ledger.db")
    assert result.exit_code == 1
    assert "worse than before: get_order" in result.output


def test_report_names_a_tool_that_the_ledger_does_not_know(shop, tmp_path):
    result = invoke("report", "--ledger", tmp_path / "ledger.db", "--tool", "launch")
    assert isinstance(result.exception, LedgerError)
    assert "'launch'" in str(result.exception)


def test_report_does_not_make_a_ledger_that_is_not_there(tmp_path):
    result = invoke("report", "--ledger", tmp_path / "none.db")
    assert isinstance(result.exception, LedgerError)
    assert not (tmp_path / "none.db").exists()


def test_a_stop_in_the_terminal_stops_a_running_guard(tmp_path):
    made = desk(tmp_path, READS)
    book = tmp_path / "ledger.db"
    assert invoke("stop", "--ledger", book, "--by", "ann", "--reason", "incident 7").exit_code == 0
    assert "incident 7 (ann)" in invoke("status", "--ledger", book).output
    with pytest.raises(Refused, match="incident 7"):
        made.run(action("get_order", {"order_id": "O-1"}))
    assert invoke("go-on", "--ledger", book, "--by", "ann").exit_code == 0
    assert json.loads(invoke("status", "--ledger", book, "--json").output)["mode"] == "off"
    made.run(action("get_order", {"order_id": "O-1"}))
