"""A real vLLM server at the weights under training."""

import asyncio
import functools

import httpx2
import pytest
import torch
from click.testing import CliRunner
from envace_sdk.training.rows import ROLES, Row
from envace_sdk.training.run.live import Live
from small_policy import SERVER, settings

from envace_sdk.cli.models_commands import models as models_command
from envace_sdk.errors import TrainingError
from envace_sdk.models import Message, Request, Sampling
from envace_sdk.models.transformers import TransformersModel

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

torch.set_num_threads(1)  # the server computes too
LORA = {"method": "lora", "rank": 4, "alpha": 8}
ASKED = [(Message("user", text),) for text in ("Name three colours.", "What is the capital of France?")]


def in_one_loop(test):
    """Connections belong to the loop that opened them."""

    @functools.wraps(test)
    def run(*given, **named):
        asyncio.run(test(*given, **named))

    return run


def live(place, url, **changes):
    rollout = settings().rollout.model_copy(update={"server": SERVER.model_copy(update={"url": url})})
    return Live(place, settings(rollout=rollout.model_dump(), **changes))


async def sampled(policy, role="act", temperature=1.0):
    """What the server samples in a role."""
    sampling = Sampling(16, temperature, seed=3)
    return await policy.models[role].complete([Request(messages=asked, sampling=sampling) for asked in ASKED])


def apart(policy, completions, role="act"):
    """The furthest that server and trainer are apart about a token."""
    rows = [Row("task", number, role, one.prompt_ids, one.token_ids) for number, one in enumerate(completions)]
    pairs = zip(completions, policy.trainer.score(rows), strict=True)
    return max(abs(a - b) for one, own in pairs for a, b in zip(one.logprobs, own, strict=True))


def shake(policy, seed, scale, part=""):
    """Move the weights as an update would."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, held in policy.trainer.policy.trained.items():
            if part in name:
                held.add_(torch.randn_like(held) * scale)
    policy.trainer.steps_done += 1


def assert_same(ours, theirs):
    """What batch a request was in shows in the last digits."""
    for here, there in zip(ours, theirs, strict=True):
        assert (here.text, here.token_ids, here.prompt_ids) == (there.text, there.token_ids, there.prompt_ids)
        assert here.logprobs == pytest.approx(there.logprobs, abs=1e-4)


def served(url):
    return {model["id"] for model in httpx2.get(f"{url}/v1/models").json()["data"]}


@in_one_loop
async def test_adapters_are_sent_by_role_and_replaced_after_an_update(place, url):
    policy = live(place, url, parameters=LORA | {"separate": True})
    before = served(url)
    await policy.publish()
    untrained = {role: await sampled(policy, role) for role in ROLES}
    assert_same(untrained["act"], untrained["rehearse"])
    first = served(url) - before
    assert len(first) == 2

    shake(policy, 1, 0.02, "lora_B.act")
    shake(policy, 2, 0.02, "lora_B.rehearse")
    await policy.publish()
    for role in ROLES:
        assert apart(policy, await sampled(policy, role), role) < 1e-4
        assert apart(policy, untrained[role], role) > 1e-2, "the adapters make a difference"
    assert apart(policy, await sampled(policy, "act"), "rehearse") > 1e-2, "each role has its own"
    second = served(url) - before
    assert len(second) == 2
    assert not second & first
    await policy.close()
    assert served(url) == before


@in_one_loop
async def test_all_weights_are_read_anew_and_tokens_are_as_likely_as_transformers_thinks(place, url):
    policy = live(place, url)
    start = policy.trainer.policy.weights()
    await policy.publish()
    said = await sampled(policy)
    assert apart(policy, said) < 1e-4

    local = TransformersModel(policy.trainer.model, policy.tokenizer)
    greedy = [Request(messages=asked, sampling=Sampling(16, 0.0)) for asked in ASKED]
    assert_same(await sampled(policy, temperature=0.0), await local.complete(greedy))
    await local.close()

    shake(policy, 1, 0.002)
    await policy.publish()
    assert apart(policy, said) > 1e-2, "the weights make a difference"
    assert apart(policy, await sampled(policy)) < 1e-4
    for name, held in policy.trainer.policy.trained.items():
        policy.trainer.policy.assign(held, start[name], name)
    policy.trainer.steps_done += 1
    await policy.publish()
    assert_same(await sampled(policy), said)  # nothing of the other weights is left
    await policy.close()


@in_one_loop
async def test_a_prompt_that_is_too_long_is_refused_alone(place, url):
    policy = live(place, url, parameters=LORA)
    await policy.publish()
    long = Request(prompt_ids=(1,) * 1024)
    nearly = Request(prompt_ids=(1,) * 1022, sampling=Sampling(99, seed=1))
    refused, cut = await policy.models["act"].complete([long, nearly])
    assert refused.finish_reason == "error"
    assert "--max-model-len" in refused.error
    assert 1 <= len(cut.token_ids) <= 2
    await policy.close()


@in_one_loop
async def test_a_server_of_another_model_is_found_out(place, url):
    policy = live(place, url, parameters=LORA)
    with torch.no_grad():
        for held in policy.trainer.policy.base.parameters():
            held.add_(torch.randn_like(held) * 0.05)
    with pytest.raises(TrainingError, match=r"does not agree with the policy(.|\n)*vllm serve"):
        await policy.publish()
    await policy.close()


@in_one_loop
async def test_an_output_layer_that_a_cpu_server_would_not_renew_is_refused(tied, url):
    policy = live(tied, url)
    with pytest.raises(TrainingError, match="method: lora"):
        await policy.publish()
    await policy.close()


def test_models_check_finds_all_that_training_needs(url, place):
    needs = [part for ability in ("logprobs", "tokens-in", "schema", "seed") for part in ("--need", ability)]
    told = CliRunner().invoke(models_command, ["check", f"openai:{place}@{url}/v1", *needs])
    assert told.exit_code == 0, told.output
