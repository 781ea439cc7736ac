"""What the page on LangChain shows, run."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("langchain")
pytest.importorskip("langgraph")

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "langchain"


def shown(name):
    run = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_guarded_tool_asks_and_then_runs():
    assert shown("guarded_tool.py") == "TT-26-04124 is cancelled: changed_mind\n"


def test_the_second_rehearsal_knows_better_and_the_run_in_earnest_succeeds():
    assert shown("whole_task.py") == "attempt 1: not_found\nattempt 2: success\nin earnest: Unsubscribed.\n"
