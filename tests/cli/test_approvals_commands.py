import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from envace_sdk.cli.main import cli
from envace_sdk.errors import ApprovalError
from envace_sdk.ledger import Ledger, action_digest

CHANGE = [
    {
        "kind": "updated",
        "collection": "orders",
        "key": "A",
        "fields": {"status": {"before": "open", "after": "re\x1bfunded"}, "note": {"after": 1}},
    },
    {"kind": "created", "collection": "refunds", "key": "R-1", "fields": {"amount": {"after": 5}}},
    {"kind": "deleted", "collection": "holds", "key": "H", "fields": {}},
]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "k")
    return tmp_path / "ledger.db"


@pytest.fixture
def asked(path):
    with Ledger.open(path) as ledger:
        return ledger.approvals.request(
            "thread-7",
            "refund",
            {"order": "A", "amount": 5},
            server="shop",
            risk="high",
            change=CHANGE,
            reasons=["writes money", "cannot be undone"],
            world="w1",
            asked_by="bob",
        )


def run(path, *arguments):
    return CliRunner().invoke(cli, ["approvals", *map(str, arguments), "--ledger", str(path)])


def test_what_waits_is_listed(path, asked):
    assert run(path, "list").stdout == f'{asked.id}  pending  risk high  shop/refund {{"order": "A", "amount": 5}}\n'
    run(path, "reject", asked.id)
    result = run(path, "list")
    assert (result.stdout, result.stderr) == ("", "nothing waits for an answer\n")
    assert json.loads(run(path, "list", "--all", "--format", "json").stdout)[0]["state"] == "rejected"


def test_no_argument_adds_a_line_of_its_own_to_what_a_person_is_shown(path):
    with Ledger.open(path) as ledger:
        nasty = {"order\nrisk      low": "a\n- b", "\u202eto": "\x9b2J"}
        name = ledger.approvals.request("r", "refund", nasty, reasons=["x\ny"]).id
    shown = run(path, "show", name).stdout
    assert "order\\nrisk      low" in shown
    assert not {"\u202e", "\x9b"} & {*shown}
    assert [line for line in shown.splitlines() if line.startswith("risk")] == ["risk      not told"]


def test_an_approval_shows_action_change_risk_and_reasons(path, asked):
    shown = run(path, "show", asked.id).stdout
    for line in (
        "action    shop/refund",
        "          amount = 5",
        "          ~ orders/A",
        '            status: "open" → "re\\u001bfunded"',
        "            note: nothing → 1",
        "          + refunds/R-1",
        "            amount: 5",
        "          - holds/H",
        "risk      high",
        "reason    writes money",
        "          cannot be undone",
    ):
        assert f"\n{line}\n" in shown
    assert "nothing of it has happened" in shown
    assert "on behalf of bob" in shown
    assert "note" not in shown.split("reason")[1]


def test_what_was_carried_out_is_not_said_not_to_have_happened(path, asked):
    run(path, "approve", asked.id)
    with Ledger.open(path) as ledger:
        ledger.approvals.use(asked.id, asked.digest, world=asked.world)
    shown = run(path, "show", asked.id).stdout
    assert "nothing of it has happened" not in shown
    assert "carried out since" in shown


def test_what_was_observed_since_is_told_for_the_world_may_have_moved(path, asked):
    with Ledger.open(path) as ledger:
        ledger.commit("thread-7", "x")
        ledger.observed("thread-7", "x")
    assert "1 action was observed in this run since" in run(path, "show", asked.id).stdout


def test_approving_is_written_with_name_and_place(path, asked):
    result = run(path, "approve", asked.id, "--by", "ann", "--comment", "fine")
    assert result.stdout == f"{asked.id}: approved\n"
    with Ledger.open(path) as ledger:
        (decision,) = ledger.approvals.get(asked.id).decisions
        assert (decision.answer, decision.by) == ("approve", "ann")
        assert decision.via.startswith("terminal of ")
        ledger.commit("thread-7", "a", approval=asked.id, digest=asked.digest, world="w1")
    late = run(path, "reject", asked.id).exception
    assert isinstance(late, ApprovalError)
    assert late.reason == "used"


def test_an_edit_is_a_new_action_that_waits_for_its_own_approval(path, asked):
    result = run(path, "edit", asked.id, '{"order": "A", "amount": 3}', "--format", "json")
    made = json.loads(result.stdout)
    assert (made["state"], made["replaces"], made["arguments"]["amount"]) == ("pending", asked.id, 3)
    assert made["digest"] == action_digest("refund", {"order": "A", "amount": 3}, server="shop")
    shown = run(path, "show", asked.id).stdout
    assert f"edited    into {made['id']}" in shown
    assert "change    not predicted" in run(path, "show", made["id"]).stdout


def test_without_arguments_an_editor_opens(path, asked, monkeypatch):
    monkeypatch.setattr("click.edit", lambda text, extension: text.replace("5", "4"))
    assert "amount = 4" in run(path, "edit", asked.id).stdout
    monkeypatch.setattr("click.edit", lambda text, extension: None)
    assert "nothing was saved" in run(path, "edit", asked.id).stderr


@pytest.mark.parametrize("text", ["{", "[1]"])
def test_edited_arguments_must_be_an_object(path, asked, text):
    result = run(path, "edit", asked.id, text)
    assert result.exit_code == 1
    assert "JSON" in result.stderr


def test_roles_come_from_a_file(path, tmp_path):
    with Ledger.open(path) as ledger:
        asked = ledger.approvals.request("r", "pay", {}, roles=["finance"], needed=2, four_eyes=True, asked_by="bob")
    assert "needs     2 approvals with a role of finance" in run(path, "show", asked.id).stdout
    file = tmp_path / "approvers.yaml"
    file.write_text("ann: [finance]\nbob: [finance]\ncy: []\n")
    for name in ("bob", "cy", "eve"):
        result = run(path, "approve", asked.id, "--approvers", file, "--by", name)
        assert isinstance(result.exception, ApprovalError)
        assert result.exception.reason == "not_allowed"
    result = run(path, "approve", asked.id, "--approvers", file, "--by", "ann")
    assert "1 more must approve" in result.stdout
    file.write_text("- ann\n")
    assert "expected names" in run(path, "approve", asked.id, "--approvers", file).stderr


def test_wait_says_whether_it_was_approved(path, asked):
    assert run(path, "wait", asked.id, "--timeout", "0").exit_code == 1
    run(path, "approve", asked.id)
    result = run(path, "wait", asked.id)
    assert (result.exit_code, result.stdout) == (0, f"{asked.id}: approved\n")


def test_an_unknown_approval_is_an_error(path, asked):
    assert isinstance(run(path, "show", "ap_0").exception, ApprovalError)


def test_how_the_call_is_expected_to_end_is_shown(path):
    details = {
        "prediction": {"status": "not_found", "layer": "dynamics", "confidence": 0.9},
        "risk": {"reasons": ["no rule says what it does"]},
    }
    with Ledger.open(path) as ledger:
        asked = ledger.approvals.request("thread-8", "refund", {}, risk="high", change=[], details=details)
    shown = run(path, "show", asked.id).stdout
    assert "predicted not_found (dynamics, confidence 0.90)" in shown
    assert "risk      high: no rule says what it does" in shown


def test_what_went_stale_is_not_listed_says_why_and_cannot_be_approved(path, asked):
    with Ledger.open(path) as ledger:
        ledger.approvals.outdate(asked.id, "the world has moved")
    listed = run(path, "list")
    assert listed.stdout == ""
    assert "1 expired or went stale before anybody answered: --all" in listed.stderr
    assert run(path, "list", "--all").stdout.rstrip().endswith("(the world has moved)")
    assert (
        "the world has moved: it cannot be approved; let the agent make the call again"
        in run(path, "show", asked.id).stdout
    )
    error = run(path, "approve", asked.id, "--by", "ann").exception
    assert isinstance(error, ApprovalError)
    assert error.reason == "stale"
    assert "let the agent make the call again" in str(error)


def test_what_expired_says_when(path):
    with Ledger.open(path) as ledger:
        past = ledger.approvals.request("r", "refund", {}, expires=datetime(2026, 1, 2, 3, 4, tzinfo=UTC))
    assert "its time was over at 2026-01-02 03:04:00Z" in run(path, "show", past.id).stdout
    assert "(its time was over at 2026-01-02 03:04:00Z)" in run(path, "list", "--all").stdout
