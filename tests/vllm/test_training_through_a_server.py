"""Whole steps whose rollouts a real vLLM server samples."""

import asyncio

import lamp_world
import pytest
import torch
from envace_sdk.training import checkpoint
from envace_sdk.training.metrics import read_metrics
from envace_sdk.training.run import Job, Stop, train
from safetensors.torch import load_file
from small_policy import SERVER, settings

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

torch.set_num_threads(1)  # the server computes too


class Unwatched:
    def phase(self, name, steps, done=0):
        pass

    def step(self, number, values):
        pass

    def note(self, text):
        pass


@pytest.mark.parametrize("method", ["lora", "full"])  # in this order: adapters need the weights of the start
def test_each_step_is_sampled_with_the_weights_of_the_one_before(place, url, tmp_path, method):
    rollout = {"server": SERVER.model_copy(update={"url": url}).model_dump(), "malformed": "count", "group": 3}
    config = settings(
        rollout=rollout,
        parameters={"method": method, "rank": 4, "alpha": 8},
        rewards={"malformed": 0.5},  # attempts of a model this small hardly differ otherwise
        loss={"kl": 0.01},  # and where they do not, they are computed all the same
    )
    job = Job(tmp_path / "run", place, config, lamp_world.material(tmp_path / "lamps"))
    job.begin(["lamps"])
    assert asyncio.run(train(job, Unwatched(), Stop()))
    measured, first, second = read_metrics(job.directory)
    assert "eval/success" in measured
    assert first["grad_norm"] > 0
    for step in (first, second):
        assert step["mismatch/tokens"] > 0
        assert step["mismatch/mean_absolute"] < 1e-4
        assert step["staleness"] == 0
    saved = next((checkpoint.latest(job.directory) / "policy").glob("*.safetensors"))
    if method == "full":
        start = load_file(f"{place}/model.safetensors")
        assert any(not held.equal(start[name]) for name, held in load_file(saved).items())
