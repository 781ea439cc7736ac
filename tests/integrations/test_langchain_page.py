"""What the page on LangChain shows, run."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("langchain")
pytest.importorskip("langgraph")

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples" / "langchain"
LIMITS = " ".join((ROOT / "docs" / "langchain.md").read_text().partition("## Limits")[2].split())


def shown(name):
    run = subprocess.run([sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_guarded_tool_asks_and_then_runs():
    assert shown("guarded_tool.py") == "TT-26-04124 is cancelled: changed_mind\n"


def test_an_agent_is_given_rehearsed_tools():
    assert shown("rehearsed_tools.py") == "placed, rehearsed\n"


def test_tools_of_one_s_own_are_made_known_and_judged_by_a_policy_that_names_them():
    assert shown("own_tools.py") == "I-1: 80 EUR\nasked: delete_invoice high\n"


def test_a_guarded_tool_needs_langchain_core_alone():
    program = "import runpy, sys; sys.modules.update(langgraph=None, langchain=None); runpy.run_path(sys.argv[1])"
    words = [sys.executable, "-c", program, EXAMPLES / "guarded_tool.py"]
    run = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout) == (0, "TT-26-04124 is cancelled: changed_mind\n"), run.stderr


def test_the_second_rehearsal_knows_better_and_the_run_in_earnest_succeeds():
    assert shown("whole_task.py") == "attempt 1: not_found\nattempt 2: success\nin earnest: Unsubscribed.\n"


def test_p21_async_interrupts_need_a_python_that_the_package_requires():
    assert "Interrupts in async code need Python 3.11 or later" in LIMITS
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=3.11"


@pytest.mark.parametrize(
    "unseen", ["provider's own tools", "`invalid_tool_calls`", "what a tool does inside", "A sub-agent needs"]
)
def test_p22_the_page_says_what_never_comes_before_the_guard(unseen):
    assert unseen in LIMITS
