"""The example of the gateway, and every command and answer that its page shows."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from envace_sdk.cli.gateway_command import gateway
from envace_sdk.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "gateway.md").read_text()
COMMAND = re.compile(r"^\$ (envace-sdk .+)$", re.MULTILINE)


@pytest.mark.slow
def test_the_example_prints_what_the_page_shows_and_its_commands_work_afterwards(tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_REDACTION_KEY", "k")
    words = [sys.executable, ROOT / "examples" / "gateway" / "agent.py", tmp_path / "shop"]
    run = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    assert f"$ python examples/gateway/agent.py shop\n{run.stdout}```" in PAGE
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    later = [command for command in COMMAND.findall(PAGE) if not re.search(r" gateway |\$", command)]
    assert len(later) == 4
    for command in later:
        result = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert result.exit_code == 0, f"{command}\n{result.output}"


def test_every_gateway_that_is_shown_has_options_that_there_are():
    configured = json.loads((ROOT / "examples" / "gateway" / "client.json").read_text())["mcpServers"]["orders"]
    helps = [command for command in COMMAND.findall(PAGE) if " gateway " in command]
    shown = [shlex.split(command, comments=True)[2:] for command in helps] + [configured["args"][1:]]
    assert len(shown) == 4
    for words in shown:
        known = [word for word in words if word != "policy.yaml"]
        known = [word for word in known if word != "--policy"]  # the file is not here
        assert gateway.make_context("gateway", known).params is not None


def test_every_option_of_the_page_is_one():
    options = {name for parameter in gateway.params if isinstance(parameter, click.Option) for name in parameter.opts}
    named = set(re.findall(r"`(--[a-z-]+)", PAGE))
    assert named <= options, named - options
