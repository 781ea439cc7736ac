"""The path of docs/twin-your-server.md, command by command, with a small bank as the real server."""

import importlib.util
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from envace_sdk.cli.main import cli, main
from envace_sdk.recordings import Recording

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "twin-your-server.md").read_text(encoding="utf-8")
COMMANDS = [line[2:] for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
RUN = [command for command in COMMANDS if shlex.split(command)[1] in {"learn", "eval", "call"}]


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("learning_example", ROOT / "docs" / "examples" / "learning.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def place(example, tmp_path, monkeypatch):
    """A folder with what the page has so far when it comes to learning."""
    monkeypatch.chdir(tmp_path)
    Path("twin").mkdir()
    Path("twin/tools.json").write_text(json.dumps({"tools": example.TOOLS}), encoding="utf-8")
    sessions = Recording.of(example.recorded(30).files)
    for number, name in enumerate(["recordings/memory.jsonl", "recordings/more.jsonl", "heldout.jsonl"]):
        part = Recording()
        for call in sessions:
            if int(call.episode.split()[1]) % 3 == number:
                part.add(call.tool, call.arguments, call.result, is_error=call.is_error, episode=call.episode)
        part.save(name)
    return tmp_path


def test_the_page_shows_every_step():
    assert [shlex.split(command)[1] for command in COMMANDS] == [
        *("tools", "record", "learn", "learn", "learn", "serve", "call", "eval", "eval"),
    ]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one_that_there_is(command, place):
    words = shlex.split(command)[1:]
    found, name = cli, "envace-sdk"
    while hasattr(found, "get_command"):
        name = words.pop(0)
        found = found.get_command(found.make_context("envace-sdk", [], resilient_parsing=True), name)
    Path("heldout.jsonl").touch()
    assert found.make_context(name, words).params


def test_the_path_can_be_walked(place, monkeypatch, capsys):
    said = []
    for command in RUN:
        words = shlex.split(command.replace("create_entities", "deposit"))
        monkeypatch.setattr(sys, "argv", words)
        if words[1] == "call":
            words[-2:] = ["open_account", '{"owner": "Dora"}']
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code or 0
        out, err = capsys.readouterr()
        assert code == 0, f"{command}: {err}"
        said.append(out)
    first, explained, second, called, *scored = said
    assert "deposit" in first
    assert "wrote" in first
    assert "deposit: update of" in explained
    assert "32 recorded calls, 7 errors" in explained
    assert "10 new" in second
    assert "Dora" in called
    assert all("fidelity" in text for text in scored)
    assert Path("report.html").exists()
    assert sorted(path.name for path in Path("twin").iterdir())[:3] == [
        "dynamics.yaml",
        "recordings.jsonl",
        "tools.json",
    ]
