"""`envace-sdk bench` where a benchmark is not installed, or has a loop of its own."""

import importlib.util

import pytest
from click.testing import CliRunner

from envace_sdk.cli.bench_commands import bench
from envace_sdk.errors import TrainingError

HAS_BFCL = importlib.util.find_spec("bfcl_eval") is not None


def test_a_benchmark_with_a_loop_of_its_own_says_how_it_is_run():
    done = CliRunner().invoke(bench, ["tau2"])
    assert done.exit_code == 1
    assert "github.com/sierra-research/tau2-bench" in done.output


def test_an_unknown_benchmark_is_a_wrong_command_line():
    assert CliRunner().invoke(bench, ["nothing"]).exit_code == 2


@pytest.mark.skipif(HAS_BFCL, reason="says what is missing, where it is")
def test_without_the_package_the_command_says_what_to_install():
    done = CliRunner().invoke(bench, ["bfcl", "--model", "scripted:none.jsonl"])
    assert isinstance(done.exception, TrainingError)
    assert "pip install bfcl-eval" in str(done.exception)
