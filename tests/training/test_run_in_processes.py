"""`envace-sdk train` in two processes that talk over gloo."""

import json
import os
import signal
import subprocess
import sys
import time

import lamp_world
import pytest
import yaml
from envace_sdk.training.metrics import read_metrics

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A toolset, a model and a configuration."""
    place = tmp_path_factory.mktemp("processes")
    config = lamp_world.settings()
    lamp_world.checkpoint(place / "model", lamp_world.material(place / "lamps"), config)
    values = config.model_dump(mode="json", exclude_unset=True)
    values |= {"steps": 4, "evaluation": {"every": 2, "tasks": 2, "episodes": 2}, "gate": 0.0}
    values |= {"optimizer": {"learning_rate": 1e-4}, "rewards": {"malformed": 0.5}}
    values["tasks"] = {"per_step": 3, "make": {"count": 20, "mix": {"change": 1, "read": 1}}}
    values["rollout"] |= {"act": {"max_tokens": 60}, "rehearse": {"max_tokens": 60}, "malformed": "count"}
    values["warmup"] = {"steps": 8, "rows": 8, "learning_rate": 2e-3}
    (place / "train.yaml").write_text(yaml.safe_dump(values))
    return place


def command(processes, *arguments):
    launcher = ["-m", "torch.distributed.run", f"--nproc_per_node={processes}", "--standalone"]
    return [sys.executable, *(launcher if processes > 1 else []), "-m", "envace_sdk", "train", *map(str, arguments)]


def environment():
    return os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


def run(processes, *arguments):
    done = subprocess.run(
        command(processes, *arguments), env=environment(), capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


def given(folder):
    return ("--tools", folder / "lamps", "--model", folder / "model", "--config", folder / "train.yaml")


def curve(directory):
    return [
        {name: value for name, value in line.items() if not name.startswith("time/") and value is not None}
        for line in read_metrics(directory)
    ]


def assert_same(ours, theirs):
    assert [one["step"] for one in ours] == [one["step"] for one in theirs]
    for here, there in zip(ours, theirs, strict=True):
        assert here == pytest.approx(there, abs=1e-5), here["step"]


@pytest.fixture(scope="module")
def alone(folder):
    """The run in one process."""
    run(1, *given(folder), "-o", folder / "alone")
    return folder / "alone"


def test_two_processes_make_the_curve_of_one(folder, alone):
    said = run(2, *given(folder), "-o", folder / "both")
    assert said.count("learns lamps") == 1, "one of them talks"
    for part in ("warmup", "."):
        assert_same(curve(folder / "both" / part), curve(alone / part))
    assert any(one.get("computed_rows") for one in curve(alone)), "something was learned"
    kept = [json.loads((place / "run.json").read_text())["config"] for place in (alone, folder / "both")]
    assert kept[0] == kept[1]
    assert [path.name for path in sorted((folder / "both" / "samples").iterdir())] == [
        path.name for path in sorted((alone / "samples").iterdir())
    ]


def test_a_run_of_two_processes_is_stopped_and_resumed_to_the_same_curve(folder, alone):
    where = folder / "stopped"
    with subprocess.Popen(
        command(2, *given(folder), "-o", where), env=environment(), stderr=subprocess.DEVNULL, text=True
    ) as process:
        end = time.monotonic() + 200
        while not any(line["step"] >= 1 for line in read_metrics(where)):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    run(2, "--resume", "-o", where)
    assert_same(curve(where), curve(alone))
