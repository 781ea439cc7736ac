import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"<!-- (?P<file>docs/examples/\S+) -->\n```\w*\n(?P<text>.*?)```", re.DOTALL)
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
