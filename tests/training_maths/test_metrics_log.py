import json
import math
import sqlite3

import pytest
from envace_sdk.training.metrics import MetricsLog, Mismatch, RoleMetrics, StepMetrics, read_metrics

from envace_sdk.errors import StoreError, TrainingError
from envace_sdk.store import TrainingRuns

STEP = StepMetrics(
    step=3,
    updated=True,
    loss=-0.5,
    grad_norm=1.5,
    learning_rate=1e-5,
    rows=8,
    computed_rows=4,
    truncated_rows=0,
    staleness=0.0,
    tokens=40,
    computed_tokens=100,
    roles={"act": RoleMetrics(20, 1.25, 0.0, 0.0)},
    mismatch=Mismatch(20, 0.01, 0.001, 0.0),
    seconds=2.0,
    peak_memory=2**30,
)


def test_numbers_are_flat_and_what_differs_between_runs_is_told_apart():
    flat = STEP.as_flat()
    assert flat["act/entropy"] == 1.25
    assert flat["mismatch/mean_absolute"] == 0.01
    assert (flat["time/tokens_per_second"], flat["time/peak_memory_gib"]) == (50.0, 1.0)
    assert all(isinstance(value, float) for value in flat.values())


def test_each_step_is_a_line_of_json(tmp_path):
    with MetricsLog(tmp_path / "run") as log:
        log.log(1, {"reward": 0.5, "loss": math.nan})
        log.log(2, {"reward": None})
    lines = [json.loads(line) for line in log.path.read_text().splitlines()]
    assert lines == [{"step": 1, "reward": 0.5, "loss": None}, {"step": 2, "reward": None}]
    assert read_metrics(tmp_path / "run") == lines


def test_a_resumed_log_drops_what_came_after_the_checkpoint(tmp_path):
    with MetricsLog(tmp_path) as log:
        for step in range(1, 6):
            log.log(step, {"reward": step})
    log.path.write_text(log.path.read_text() + '{"step": 6, "rew')
    with MetricsLog(tmp_path, resume_at=3) as log:
        log.log(4, {"reward": 40})
    assert [(line["step"], line["reward"]) for line in read_metrics(tmp_path)] == [(1, 1), (2, 2), (3, 3), (4, 40)]


def test_a_line_that_is_nested_without_end_is_left_out(tmp_path):
    with MetricsLog(tmp_path) as log:
        log.log(1, {"reward": 0})
    log.path.write_text(log.path.read_text() + "[" * 100_000 + "\n")
    assert [line["step"] for line in read_metrics(tmp_path)] == [1]


def test_a_new_run_in_an_old_directory_begins_anew(tmp_path):
    for _ in range(2):
        with MetricsLog(tmp_path) as log:
            log.log(1, {"reward": 0})
    assert len(read_metrics(tmp_path)) == 1


def test_a_tracker_that_is_not_installed_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "wandb", None)
    with pytest.raises(TrainingError, match="wandb is not installed: pip install wandb"):
        MetricsLog(tmp_path, trackers=["wandb"])


@pytest.fixture
def store(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path}/metrics.db"
    monkeypatch.setenv("ENVACE_STORE_URL", url)
    return url


def stored(url):
    with TrainingRuns.open(url) as runs:
        (found,) = runs.runs()
        return found, runs.curve(found.id, "reward")


def test_the_store_holds_what_the_file_holds_also_after_a_run_was_resumed(tmp_path, store):
    with MetricsLog(tmp_path / "run", trackers=["store"], run={"seed": 7}) as log:
        for step in (1, 2, 3):
            log.log(step, {"reward": step, "loss": math.inf})
    with MetricsLog(tmp_path / "run", trackers=["store"], resume_at=2, run={"seed": 7}) as log:
        log.log(3, {"reward": 30})
    found, curve = stored(store)
    assert curve == [(1, 1.0), (2, 2.0), (3, 30.0)]
    assert (found.directory, found.settings, found.latest) == (str(tmp_path / "run"), {"seed": 7}, {"reward": 30.0})


def test_a_store_that_fails_on_the_way_stops_no_training_and_gets_what_it_missed(tmp_path, store):
    with MetricsLog(tmp_path / "run", trackers=["store"]) as log:
        log.log(1, {"reward": 1})
        with sqlite3.connect(tmp_path / "metrics.db") as database:
            database.execute("ALTER TABLE training_metrics RENAME TO elsewhere")
        with pytest.warns(UserWarning, match="step 2 is in the run's folder, but not in the store"):
            log.log(2, {"reward": 2})
        with sqlite3.connect(tmp_path / "metrics.db") as database:
            database.execute("ALTER TABLE elsewhere RENAME TO training_metrics")
        log.log(3, {"reward": 3})
    assert stored(store)[1] == [(1, 1.0), (2, 2.0), (3, 3.0)]


def test_a_store_that_cannot_be_opened_is_an_error_that_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("ENVACE_STORE_URL", "mysql://host/x")
    with pytest.raises(StoreError, match=r"not in mysql; set ENVACE_STORE_URL .* or leave `store` out of `trackers`"):
        MetricsLog(tmp_path, trackers=["store"])
