import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from envace_sdk.cli.main import cli

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"^\$ (.+)$", re.MULTILINE)


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """The folder in which the example was run, and what it printed."""
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "k")
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, ROOT / "docs" / "examples" / "ledger.py", "ledger.db"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def test_the_example_carries_the_action_out_once(shown):
    assert shown.startswith("not again: {'order': 'A', 'refunded': 25.0}\nwaits: ap_")
    assert shown.endswith("verified: True\n")


def test_every_command_of_the_page_works_on_the_ledger_of_the_example(shown, monkeypatch):
    waiting = re.search(r"waits: (ap_\w+)", shown)[1]
    commands = [line.replace("$ID", waiting) for line in COMMAND.findall((ROOT / "docs" / "ledger.md").read_text())]
    assert len(commands) >= 14
    for command in commands:
        words = shlex.split(command)
        if words[0] == "export":
            monkeypatch.setenv(*words[1].split("="))
            continue
        result = CliRunner().invoke(cli, words[1:])
        assert result.exit_code == 0, (command, result.output, result.exception)
        if "show thread-7" in command:
            assert '"amount": 25.0' in result.stdout
        if "approvals list" in command:
            assert waiting in result.stdout
    assert Path("trail.jsonl").stat().st_size
