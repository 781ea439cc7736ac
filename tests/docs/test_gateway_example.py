"""The example of the gateway, and every command and answer that its page shows."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from functools import reduce
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
    later = [command for command in COMMAND.findall(PAGE) if not re.search(r" gateway | client-config |\$", command)]
    assert len(later) == 4
    for command in later:
        result = CliRunner().invoke(cli, shlex.split(command)[1:])
        assert result.exit_code == 0, f"{command}\n{result.output}"


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder of the example's files, in which the commands of the page are given."""
    shutil.copytree(ROOT / "examples" / "gateway", tmp_path / "shop")
    monkeypatch.chdir(tmp_path / "shop")
    monkeypatch.delenv("ENVACE_LEDGER", raising=False)
    return tmp_path / "shop"


@pytest.mark.parametrize("command", [one for one in COMMAND.findall(PAGE) if one.startswith("envace-sdk gateway ")])
def test_a_gateway_that_is_shown_has_options_that_there_are(command, shop):
    words = shlex.split(command, comments=True)[2:]
    assert gateway.make_context("gateway", words).params is not None


def test_the_configuration_that_is_shown_is_the_one_that_is_written(shop):
    [command] = [one for one in COMMAND.findall(PAGE) if " client-config " in one]
    written = json.loads(CliRunner().invoke(cli, shlex.split(command)[1:]).stdout)["mcpServers"]["orders"]
    shown = json.loads((shop / "client.json").read_text())["mcpServers"]["orders"]
    places = {"/home/ann/shop": str(shop), "/home/ann/.venv/bin/python": shutil.which("python")}
    assert written["args"] == [reduce(lambda word, one: word.replace(*one), places.items(), a) for a in shown["args"]]
    assert Path(written["command"]).name == Path(shown["command"]).name


def test_every_option_of_the_page_is_one():
    options = {name for parameter in gateway.params if isinstance(parameter, click.Option) for name in parameter.opts}
    named = set(re.findall(r"`(--[a-z-]+)", PAGE))
    assert named <= options, named - options
