"""Trajectories whose turns verl's servers write."""

import asyncio

import lamp_world
import pytest
import verl_policy
from envace_sdk.training.engines.verl.model import ServedPolicy
from envace_sdk.training.engines.verl.rollouts import Rollouts

from envace_sdk.errors import ModelError, TrainingError
from envace_sdk.models import Message, Request, Sampling

SAMPLING = {"temperature": 0.7, "top_p": 1.0, "logprobs": True}


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return lamp_world.job(tmp_path_factory.mktemp("served"), rollout={"examples": 1, **ROLLOUT})


ROLLOUT = {
    "group": 4,
    "max_turns": 3,
    "act": {"max_tokens": 40},
    "rehearse": {"max_tokens": 40},
    "style": "compact",
    "recorded": 0,
    "schedule": {"mix": {"train": 1, "grounded": 1}},
}


def server(job, says=None, **more):
    tasks = [case.task for case in job.material.cases["train"]]
    return verl_policy.Server(job.place, says or verl_policy.Player(tasks), **more)


def policy(served, longest=900):
    return ServedPolicy(served, served.tokenizer, SAMPLING, longest)


def play(rollouts, policies, name=None, **options):
    """As verl does: many trajectories at once, in one loop."""
    first = next(iter(rollouts.job.material.cases["train"])).name
    given = {"step": 0, "place": 0, "held_out": False} | options

    async def together():
        return await asyncio.gather(*(rollouts.play(name or first, each, **given) for each in policies))

    return asyncio.run(together())


def test_trajectories_of_one_task_are_played_side_by_side_and_rewarded(job):
    served = server(job)
    found = play(Rollouts(job.directory, served.tokenizer), [policy(served) for _ in range(4)])
    assert [one.solved for one in found].count(True) == 2
    assert len({request for request, _, _ in served.asked}) == 4
    for trajectory in found:
        for row in trajectory.rows():
            assert row.completion_ids[-1] == served.tokenizer.eos_token_id
            assert set(row.logprobs) == {-0.5}


def test_prompts_go_to_the_server_as_tokens_with_verls_sampling_and_the_roles_limit(job):
    served = server(job)
    (found,) = play(Rollouts(job.directory, served.tokenizer), [policy(served)])
    assert [tuple(prompt) for _, prompt, _ in served.asked] == [row.prompt_ids for row in found.rows()]
    assert all(sampling == {**SAMPLING, "max_tokens": 40} for _, _, sampling in served.asked)


def test_held_out_tasks_are_answered_by_the_ladder_and_others_as_scheduled(job):
    served = server(job)
    rollouts = Rollouts(job.directory, served.tokenizer)
    (held_out,) = play(rollouts, [policy(served)], held_out=True)
    assert held_out.source == "grounded"
    rollouts = Rollouts(job.directory, served.tokenizer)

    async def each():
        tasks = [rollouts.play(held_out.task, policy(served), step=0, place=n, held_out=False) for n in range(12)]
        return await asyncio.gather(*tasks)

    assert {one.source for one in asyncio.run(each())} == {"train", "grounded"}


def test_a_task_that_the_run_does_not_have_is_an_error_that_names_it(job):
    served = server(job)
    with pytest.raises(TrainingError, match="lamps/none"):
        play(Rollouts(job.directory, served.tokenizer), [policy(served)], name="lamps/none")


def complete(model, **changes):
    request = Request((Message("user", "Hello."),), sampling=Sampling(max_tokens=8), **changes)
    return asyncio.run(model.complete([request]))[0]


def test_a_prompt_that_does_not_fit_is_not_sent(job):
    served = server(job, lambda _: "x")
    found = complete(policy(served, longest=5))
    assert found.finish_reason == "error"
    assert "tasks.prompt_tokens" in found.error
    assert not served.asked


@pytest.mark.parametrize(("said", "reason"), [("Done.", "stop"), ("x" * 50, "length")])
def test_a_completion_that_uses_up_its_tokens_without_an_end_was_cut_off(job, said, reason):
    assert complete(policy(server(job, lambda _: said))).finish_reason == reason


def test_a_request_that_the_server_gave_up_is_no_completion(job):
    class Busy(verl_policy.Server):
        async def generate(self, request_id, *, prompt_ids, sampling_params):
            return verl_policy.Output([], None, stop_reason="aborted")

    found = complete(policy(Busy(job.place, lambda _: "")))
    assert found.finish_reason == "error"
    assert found.token_ids is None


def test_a_server_without_logprobs_is_refused(job):
    class Silent(verl_policy.Server):
        async def generate(self, request_id, *, prompt_ids, sampling_params):
            return verl_policy.Output([5], None)

    with pytest.raises(ModelError, match="calculate_log_probs"):
        complete(policy(Silent(job.place, lambda _: "")))


def test_schemas_hold_no_answer_in_training(job):
    with pytest.raises(ModelError, match="schema"):
        complete(policy(server(job)), schema={"type": "object"})


def test_the_versions_of_the_weights_are_kept(job):
    model = policy(server(job, lambda _: "Done.", version=7))
    complete(model)
    assert model.versions == [7]
