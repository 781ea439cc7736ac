"""The load benchmark, short: nothing that was acknowledged is lost, whatever dies."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from private_postgresql import binaries

LOAD = Path(__file__).parents[2] / "benchmarks" / "load.py"


@pytest.mark.slow
@pytest.mark.parametrize("trouble", [None, "--kill", "--restart-postgres"])
def test_no_answer_is_wrong_and_no_acknowledged_change_is_lost(trouble, tmp_path):
    if binaries() is None:
        pytest.skip("PostgreSQL IS NOT TESTED: no initdb found (apt-get install -y postgresql)")
    figures = tmp_path / "figures.json"
    command = [sys.executable, str(LOAD), "--seconds", "10", "--json", str(figures), *filter(None, [trouble])]
    run = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert run.returncode == 0, run.stderr[-4000:]
    found = json.loads(figures.read_text())
    assert found["wrong"] == 0
    assert found["answered"] > 50
    restarts = found["counted"]["envace_worker_restarts_total"]
    assert restarts == (1 if trouble == "--kill" else 0)
    if trouble is None:
        assert found["broken connections"] == 0
        assert not found["errors"]
