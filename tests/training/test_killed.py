import subprocess
import sys
from pathlib import Path

import pytest
from envace_sdk.training import checkpoint
from envace_sdk.training.metrics import read_metrics
from trained_until_killed import run

SCRIPT = Path(__file__).parents[1] / "support" / "trained_until_killed.py"
STEPS = 5


def curve(directory):
    return [
        {name: value for name, value in line.items() if not name.startswith("time/")}
        for line in read_metrics(directory)
    ]


@pytest.mark.slow
def test_a_run_killed_in_a_step_and_in_a_save_ends_with_the_curve_of_one_left_alone(tmp_path):
    alone, killed = tmp_path / "alone", tmp_path / "killed"
    run(alone, STEPS)
    for moment in ("begin 3", "save 4"):
        with subprocess.Popen(
            [sys.executable, str(SCRIPT), str(killed), str(STEPS)], stdout=subprocess.PIPE, text=True
        ) as process:
            for line in process.stdout:
                if line.strip() == moment:
                    process.kill()
                    break
            process.stdout.read()
    assert checkpoint.latest(killed).name in {"checkpoint-000003", "checkpoint-000004"}
    run(killed, STEPS)
    assert len(curve(alone)) == STEPS
    assert curve(killed) == curve(alone)
