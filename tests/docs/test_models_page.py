import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from envace_sdk.cli.main import cli
from envace_sdk.models.fetch import FETCHABLE
from envace_sdk.roles import FORMATS, parse_response
from envace_sdk.tools.model import Tool

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
COMMAND = re.compile(r"^\$ envace-sdk (.*)$", re.MULTILINE)


def test_every_command_of_the_page_is_one():
    commands = COMMAND.findall(PAGE)
    assert commands
    for command in commands:
        words = shlex.split(command)
        group, name, *_ = words
        options = [word for word in words if word.startswith("--")]
        shown = CliRunner().invoke(cli, [group, name, "--help"])
        assert shown.exit_code == 0, command
        assert all(option in shown.output for option in options), command


def test_every_format_and_ability_is_on_the_page():
    assert all(f"| `{name}` |" in PAGE for name in FORMATS)
    shown = CliRunner().invoke(cli, ["models", "check", "--help"]).output
    abilities = re.findall(
        r"^ +([a-z-]+) {2,}\S", shown[shown.index("What is tried") : shown.index("Exit codes")], re.MULTILINE
    )
    assert len(abilities) == 8
    assert all(f"| `{ability}` |" in PAGE for ability in abilities)
    assert all(f"`{name}`" in PAGE for name in FETCHABLE)


def test_the_responses_of_the_page_are_read():
    tool = Tool({"name": "f", "inputSchema": {"type": "object"}})
    shown = re.findall(r"^<response>.*</response>$", PAGE, re.MULTILINE)
    assert [parse_response(text, tool).is_error for text in shown] == [False, True]
