import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from envace_sdk.cli.main import cli

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"<!-- (?P<file>(?:docs/)?examples/\S+) -->\n```\w*\n(?P<text>.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#]+)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_that_names_a_file_is_part_of_that_file(document):
    for block in BLOCK.finditer(document.read_text()):
        text = block["text"]
        assert text.strip(), f"{document.name}: the block of {block['file']} is empty"
        assert text in (ROOT / block["file"]).read_text(), f"{document.name}: not as in {block['file']}:\n{text}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_to_one(document):
    for target in LINK.findall(document.read_text()):
        assert (document.parent / target).exists(), f"{document.name} links to {target}"


@pytest.mark.parametrize("example", sorted((ROOT / "docs" / "examples").glob("*.py")), ids=lambda path: path.name)
def test_every_example_program_runs(example):
    run = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip()
    assert "Invalid arguments" not in run.stdout


SHOWN_CALL = re.compile(r"^(?:\$ |  )(envace-sdk call --tools (?:retail|it_operations) .+)$", re.MULTILINE)


def shown_calls():
    helps = [CliRunner().invoke(cli, [*words, "--help"]).output for words in ([], ["call"])]
    return [call for text in (*helps, *(path.read_text() for path in DOCUMENTS)) for call in SHOWN_CALL.findall(text)]


@pytest.mark.parametrize("command", shown_calls())
def test_every_call_of_a_shipped_toolset_that_is_shown_succeeds(command):
    result = CliRunner().invoke(cli, shlex.split(command)[1:])
    assert result.exit_code == 0, result.output
