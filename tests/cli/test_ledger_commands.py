import hashlib
import json
import sqlite3
import sys
from contextlib import closing

import pytest
from click.testing import CliRunner

from envace_sdk.cli.main import cli, main
from envace_sdk.errors import LedgerError, StoreError
from envace_sdk.evidence import keyed_redactor
from envace_sdk.ledger import Ledger


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "k")
    path = tmp_path / "ledger.db"
    with Ledger.open(path, redact=keyed_redactor(b"k")) as ledger:
        ledger.append("t/1", "rehearsed", {"layer": "dynamics"}, payload={"mail": "ann@example.com"}, action="a1")
        ledger.commit("t/1", "a1")
        ledger.observed("t/1", "a1", payload={"text": "\x1b[2Jgone"})
        ledger.append("t/2", "note", {"n": 1})
    return path


def run(path, *arguments, answer=None):
    command = ["ledger", *map(str, arguments), *([] if path is None else ["--ledger", str(path)])]
    return CliRunner().invoke(cli, command, input=answer)


def test_without_a_run_the_runs_are_listed(path):
    result = run(path, "show")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].startswith("t/1  3 entries  head ")
    assert [r["run"] for r in json.loads(run(path, "show", "--format", "json").stdout)] == ["t/1", "t/2"]


def test_the_entries_of_a_run_are_shown_and_payloads_only_on_demand(path):
    result = run(path, "show", "t/1")
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["run", "#1", "#2", "#3"]
    assert "ann@example.com" not in result.stdout
    result = run(path, "show", "t/1", "--payloads")
    assert 'payload: {"mail": "ann@example.com"}' in result.stdout
    assert "\x1b" not in result.stdout
    found = json.loads(run(path, "show", "--kind", "commit", "--format", "json").stdout)
    assert [entry["action"] for entry in found] == ["a1"]
    assert run(path, "show", "--kind", "nonsense").exit_code == 2
    assert "--limit 10" in run(path, "show", "t/1", "--limit", "1").stderr


def test_verify_says_ok_and_notes_where_runs_end(path, tmp_path):
    result = run(path, "verify", "--note", tmp_path / "heads.json")
    assert (result.exit_code, result.stdout) == (0, f"ok: {path}: 2 runs, 4 entries, 0 erased payloads\n")
    assert run(path, "verify", "--against", tmp_path / "heads.json").exit_code == 0
    (tmp_path / "heads.json").write_text('{"t/1": [9, "x"]}')
    result = run(path, "verify", "--against", tmp_path / "heads.json")
    assert result.exit_code == 1
    assert "tampered t/1: it had 9 entries and has 3" in result.stdout


def test_verify_tells_tampered_from_unverifiable(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER ledger_entries_update")
        connection.execute("UPDATE ledger_entries SET kind = 'note' WHERE seq = 2")
        connection.execute("UPDATE ledger_entries SET format = 'x/9', text = '{}' WHERE seq = 3")
    result = run(path, "verify")
    assert result.exit_code == 1
    assert "tampered t/1 #2: its kind is not what was written" in result.stdout
    assert "unverifiable t/1 #3: its form is 'x/9'" in result.stdout
    said = json.loads(run(path, "verify", "--format", "json").stdout)
    assert (said["ok"], said["ledger"]) == (False, str(path))


def test_exported_lines_can_be_checked_without_the_database(path):
    entries = [json.loads(line) for line in run(path, "export", "t/1", "--payloads").stdout.splitlines()]
    previous = "0" * 64
    for entry in entries:
        assert entry["previous"] == previous
        assert hashlib.sha256(entry["text"].encode()).hexdigest() == entry["digest"]
        previous = entry["digest"]
    assert entries[0]["payload"] == {"mail": "ann@example.com"}


def test_cloudevents_have_what_the_standard_wants(path, tmp_path):
    result = run(path, "export", "--form", "cloudevents", "-o", tmp_path / "trail.jsonl")
    assert result.exit_code == 0
    events = [json.loads(line) for line in (tmp_path / "trail.jsonl").read_text().splitlines()]
    assert [event["type"] for event in events] == [
        *(f"dev.envace.ledger.{kind}" for kind in ("rehearsed", "commit", "observed", "note")),
    ]
    assert {event["specversion"] for event in events} == {"1.0"}
    assert len({(event["source"], event["id"]) for event in events}) == 4
    assert events[0]["source"] == "/envace/ledger/t%2F1"
    assert all(name.isalnum() and name.islower() for event in events for name in event)
    assert "payload" not in events[0]["data"]


def test_tail_shows_the_last_entries(path):
    result = run(path, "tail", "-n", "1")
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["run", "#3", "run", "#1"]
    assert run(path, "tail", "t/2").stdout.count("#") == 1


def test_tail_follows_what_is_written_until_it_is_interrupted(path, monkeypatch):
    calls = iter([False, True])

    def write_then_interrupt(seconds):
        if next(calls):
            raise KeyboardInterrupt
        with Ledger.open(path, redact=keyed_redactor(b"k")) as ledger:
            ledger.append("t/3", "note", {"new": True})

    monkeypatch.setattr("time.sleep", write_then_interrupt)
    result = run(path, "tail", "--follow", "-n", "0")
    assert '{"new": true}' in result.stdout
    assert result.stdout.count("#") == 1


def test_erase_asks_takes_payloads_and_leaves_a_valid_chain(path):
    assert run(path, "erase", "--containing", "ANN@example.com", answer="n\n").exit_code != 0
    result = run(path, "erase", "--containing", "ANN@example.com", "--reason", "request 17", answer="y\n")
    assert "erased 1 payload in 1 run" in result.stdout
    shown = run(path, "show", "t/1", "--payloads").stdout
    assert "ann@example.com" not in shown
    assert "payload: erased" in shown
    assert '"reason": "request 17"' in shown
    assert "1 erased payload" in run(path, "verify").stdout
    assert run(path, "erase").exit_code == 2
    assert "erased 1 payload" in run(path, "erase", "--older-than", "0", "--yes", "--by", "ann").stdout


@pytest.mark.parametrize("how", ["{}", "sqlite:///{}"])
def test_a_ledger_that_is_not_there_is_not_made(tmp_path, how):
    result = run(how.format(tmp_path / "none.db"), "show")
    assert result.exit_code == 1
    assert "there is no ledger" in result.stderr
    assert not (tmp_path / "none.db").exists()


def test_the_ledger_can_be_named_in_the_environment_or_by_url(path, monkeypatch):
    monkeypatch.setenv("ENVACE_LEDGER", f"sqlite:///{path}")
    assert run(None, "show").stdout.startswith("t/1")
    result = run("mysql://x/y", "show")
    assert isinstance(result.exception, StoreError)


def test_the_program_ends_with_the_exit_code_that_verify_promises(path, monkeypatch):
    """The runner of other tests is not how the program ends."""

    def code():
        monkeypatch.setattr(sys, "argv", ["envace-sdk", "ledger", "verify", "--ledger", str(path)])
        try:
            main()
        except SystemExit as left:
            return left.code
        return 0

    assert code() == 0
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER ledger_entries_update")
        connection.execute("UPDATE ledger_entries SET kind = 'note' WHERE seq = 2")
    assert code() == 1


@pytest.mark.parametrize("command", ["show", "verify", "export"])
def test_a_mistyped_run_is_not_passed_over(path, command):
    with pytest.raises(LedgerError, match=r"no run 'typo' \(its latest: 't/2', 't/1'\)"):
        CliRunner().invoke(cli, ["ledger", command, "typo", "--ledger", str(path)], catch_exceptions=False)
