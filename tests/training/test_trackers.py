import sys
from types import SimpleNamespace

import pytest
from envace_sdk.training.metrics import MetricsLog
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def curve(directory, tag):
    events = EventAccumulator(str(directory / "tensorboard"))
    events.Reload()
    return [(event.step, round(event.value, 6)) for event in events.Scalars(tag)]


def test_tensorboard_shows_the_curve(tmp_path):
    with MetricsLog(tmp_path, trackers=["tensorboard"]) as log:
        for step in (1, 2):
            log.log(step, {"act/entropy": step / 2, "loss": None})
    assert curve(tmp_path, "act/entropy") == [(1, 0.5), (2, 1.0)]


def test_tensorboard_drops_what_a_resumed_run_does_again(tmp_path):
    with MetricsLog(tmp_path, trackers=["tensorboard"]) as log:
        for step in (1, 2, 3):
            log.log(step, {"reward": 0.0})
    with MetricsLog(tmp_path, trackers=["tensorboard"], resume_at=1) as log:
        log.log(2, {"reward": 1.0})
    assert curve(tmp_path, "reward") == [(1, 0.0), (2, 1.0)]


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_other_trackers_are_told_settings_and_numbers(name, tmp_path, monkeypatch):
    told = []
    module = SimpleNamespace(
        init=lambda **settings: told.append(settings),
        log=lambda values, step: told.append((step, values)),
        finish=lambda: told.append("finish"),
    )
    monkeypatch.setitem(sys.modules, name, module)
    with MetricsLog(tmp_path / "run", trackers=[name], run={"steps": 2}) as log:
        log.log(1, {"reward": 0.5})
    assert told[0]["config"] == {"steps": 2}
    assert told[0]["name"] == "run"
    assert told[1:] == [(1, {"reward": 0.5}), "finish"]
