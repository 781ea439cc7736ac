import json

import pytest
from click.testing import CliRunner

from envace_sdk.cli.train_runs import runs as command
from envace_sdk.store import TrainingRuns


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/metrics.db"


def shown(*arguments: str, **environment: str) -> str:
    result = CliRunner().invoke(command, arguments, env=environment, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_runs_are_listed_with_their_last_step_and_scores(url):
    with TrainingRuns.open(url) as runs:
        runs.begin("box", "/runs/a", {"seed": 1}, {3: {"eval/success": 0.25}, 4: {"success": 0.625}})
        runs.begin("box", "/runs/[b]", {}, {})
    text = shown("--store", url)
    (line,) = [line for line in text.splitlines() if "/runs/a" in line]
    assert line.split()[:4] == ["/runs/a", "4", "0.250", "0.625"]
    assert "/runs/[b]" in text
    assert "box" not in text
    assert "0.625" not in shown("--metric", "eval/success", ENVACE_STORE_URL=url)


def test_everything_is_in_the_json(url):
    with TrainingRuns.open(url) as runs:
        runs.begin("box", "/runs/a", {"seed": 1}, {4: {"success": 0.625}})
    (found,) = json.loads(shown("--store", url, "--json"))
    assert (found["host"], found["settings"], found["latest"]) == ("box", {"seed": 1}, {"success": 0.625})


def test_a_store_that_is_not_there_is_not_made(url, tmp_path):
    result = CliRunner().invoke(command, ["--store", url])
    assert result.exit_code == 1
    assert "metrics.db: there is no database" in result.output
    assert not list(tmp_path.iterdir())


def test_a_metric_that_no_run_has_is_refused_with_the_nearest_one(url):
    with TrainingRuns.open(url) as runs:
        runs.begin("box", "/runs/a", {}, {4: {"eval/success": 0.625}})
    result = CliRunner().invoke(command, ["--store", url, "--metric", "eval/sucess"])
    assert result.exit_code == 1
    assert "no run has a metric 'eval/sucess'; did you mean eval/success?" in result.output
    assert "success" in shown("--store", url), "what is shown by default need not be there"


def test_an_empty_store_says_so(url):
    with TrainingRuns.open(url):
        pass
    assert "no training run" in shown("--store", url)
    assert json.loads(shown("--store", url, "--json")) == []
