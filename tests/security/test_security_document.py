"""Every test that docs/security.md names is there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", TEXT)))


def test_the_document_names_tests():
    assert len(NAMED) > 60


@pytest.mark.parametrize(("file", "name"), NAMED, ids=lambda part: part.rpartition("/")[2])
def test_a_test_that_is_named_exists(file, name):
    tree = ast.parse((ROOT / file).read_text())
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert not name or name in functions


def test_every_line_of_the_threat_model_names_a_test():
    rows = [line for line in TEXT.splitlines() if re.match(r"\| (?!what |command |`make|---)", line)]
    assert len(rows) > 50
    assert [row for row in rows if "`tests/" not in row] == []


def test_every_file_of_these_tests_is_named():
    here = {path.name for path in Path(__file__).parent.glob("test_*.py")} - {Path(__file__).name}
    assert {file.rpartition("/")[2] for file, _ in NAMED if file.startswith("tests/security/")} == here


def test_what_is_not_protected_is_said():
    for word in ("Rehearsal is not a sandbox", "A prediction is not an observation"):
        assert word in TEXT
