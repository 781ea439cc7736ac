"""That training teaches: what one update does to what was rewarded, and a whole run to a policy from scratch."""

import asyncio
import time
from dataclasses import replace

import lamp_world
import pytest
import torch
from envace_sdk.training.advantages import rolewise
from envace_sdk.training.metrics import read_metrics
from envace_sdk.training.rollout import rows_of
from envace_sdk.training.run import Stop, train
from envace_sdk.training.run.command import run_eval
from envace_sdk.training.run.live import Live
from watched import Watched


@pytest.mark.parametrize("rendering", ["split", "stream"])
def test_one_update_makes_what_was_rewarded_likelier_in_the_policys_own_rollouts(tmp_path, rendering):
    """The reward is for the first token that was sampled; everything between is what a run does."""
    config = lamp_world.settings(rendering=rendering, optimizer={"learning_rate": 1e-3})
    found = lamp_world.material(tmp_path / "lamps")
    live = Live(str(lamp_world.checkpoint(tmp_path / "model", found, config)), config)

    async def rolled():
        try:
            return rows_of(await live.source.collect(found.cases["train"][:4]))
        finally:
            await live.close()

    rows = [replace(row, reward=float(row.completion_ids[0] % 2), truncated=False) for row in asyncio.run(rolled())]
    judged, _ = rolewise(rows)
    assert any(row.advantage > 0 for row in judged)
    metrics = live.trainer.step(judged)
    assert metrics.mismatch.mean_absolute < 1e-5
    gains = [
        row.advantage * (later - earlier)
        for row in judged
        for earlier, later in zip(row.logprobs, logprobs(live.trainer.model, row), strict=True)
    ]
    assert sum(gains) / len(gains) > 1e-3


@torch.no_grad()
def logprobs(model, row):
    ids = torch.tensor([row.prompt_ids + row.completion_ids])
    found = model(input_ids=ids).logits[0, len(row.prompt_ids) - 1 : -1].log_softmax(-1)
    return found.gather(-1, torch.tensor(row.completion_ids)[:, None])[:, 0].tolist()


@pytest.mark.slow
@pytest.mark.timeout(1800)  # of the clock, on a busy machine; what counts is processor time, below
def test_a_policy_from_scratch_learns_from_its_own_rehearsals_what_its_demonstrations_could_not_teach(tmp_path):
    job = lamp_world.job(tmp_path, lamp_world.careless(), **lamp_world.LEARNING)
    begun = time.process_time()
    assert asyncio.run(train(job, Watched(), Stop()))
    assert time.process_time() - begun < 300

    def measured(step):
        return run_eval(
            job.directory, split="validation", tasks=9, samples=16, temperature=1.0, step=step, untrained=False
        )["scores"]

    before, after = measured(0), measured(None)
    assert before["success"] <= 0.2
    assert after["success"] >= 0.9
    assert after["fidelity"] >= 0.9
    steps = read_metrics(job.directory)[1:]
    assert all(values["rehearsed"] == 1 for values in steps)
    assert steps[0]["learning_share"] > 0.8
