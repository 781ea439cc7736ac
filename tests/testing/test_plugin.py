"""The plugin, in runs of pytest of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "pytest_project"


@pytest.fixture
def run(tmp_path):
    """Runs pytest on a test file's text; gives the finished process."""

    def runs(text, *arguments, settings=""):
        (tmp_path / "pytest.ini").write_text(f"[pytest]\n{settings}")
        (tmp_path / "test_it.py").write_text(text)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
        plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, text=True, timeout=120)

    return runs


def test_the_sample_project_passes_and_its_real_call_fails_with_a_clear_message(tmp_path):
    project = shutil.copytree(EXAMPLE, tmp_path / "project")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rs"]
    passed = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=120)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "5 passed, 1 skipped" in passed.stdout
    failed = subprocess.run([*command, "--run-real"], cwd=project, capture_output=True, text=True, timeout=120)
    assert failed.returncode == 1
    assert "this test called something real, which was refused:" in failed.stdout
    assert "look-up of the host rates.example.com, from agent.py:" in failed.stdout
    assert "nothing_real(allow=['rates.example.com'])" in failed.stdout
    assert "1 failed, 5 passed" in failed.stdout


def test_a_swallowed_real_call_fails_the_test_all_the_same(run):
    result = run(
        """
import contextlib, socket, subprocess, pytest

@pytest.mark.nothing_real
def test_swallows():
    with contextlib.suppress(BaseException):
        socket.create_connection(("192.0.2.1", 80))

def test_asks_for_the_guard(nothing_real):
    try:
        subprocess.run(["npx", "-y", "server"])
    except AssertionError:
        raise KeyError("hidden")

@pytest.mark.nothing_real(allow=["echo"])
def test_is_allowed():
    subprocess.run(["echo", "x"], check=True)

def test_is_not_guarded():
    subprocess.run(["cat"], check=True, stdin=subprocess.DEVNULL)
"""
    )
    assert "2 failed, 2 passed" in result.stdout, result.stdout
    assert "connection to 192.0.2.1:80, from test_it.py:7 in test_swallows" in result.stdout
    assert "start of `npx -y server`" in result.stdout


def test_fixtures_of_a_guarded_test_are_guarded_too(run):
    text = """
import socket, pytest

@pytest.fixture
def database():
    socket.create_connection(("192.0.2.1", 80))

def test_uses_it(database):
    pass
"""
    result = run(text, settings="envace_nothing_real = true\n")
    assert "1 error" in result.stdout
    assert "in database" in result.stdout
    allowed = run(
        text.replace('("192.0.2.1", 80)', '("192.0.2.1", 80), 0.01').replace("pass", "assert 0"),
        settings="envace_nothing_real = true\nenvace_allow = 192.0.2.1\n",
    )
    assert "called something real" not in allowed.stdout


def test_a_toolset_must_be_named(run):
    result = run("def test_it(envace_tools): pass")
    assert "name a toolset" in result.stdout


def test_a_run_that_uses_nothing_of_it_imports_next_to_nothing(run):
    result = run(
        """
import sys

def test_it():
    loaded = {name for name in sys.modules if name.startswith("envace_sdk")}
    assert loaded <= {"envace_sdk", "envace_sdk.testing", "envace_sdk.testing.plugin"}
    assert not {"pydantic", "mcp", "celpy"} & set(sys.modules)
""",
        "-p",
        "no:langsmith_plugin",
    )
    assert result.returncode == 0, result.stdout
