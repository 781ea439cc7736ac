"""vLLM in the process that asks it."""

import asyncio
import os

import pytest
import torch

from envace_sdk.models import Message, Request, Sampling, load_model
from envace_sdk.roles.probe import probe

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    # Of torch and triton, as vLLM uses them.
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def models(tied):
    """The same model by vLLM and by transformers."""
    os.environ |= {"VLLM_ENABLE_V1_MULTIPROCESSING": "0", "VLLM_CPU_KVCACHE_SPACE": "1"}
    engine = load_model(
        f"vllm:{tied}", dtype="float32", enforce_eager=True, max_model_len=512, max_num_seqs=8, disable_log_stats=True
    )
    local = load_model(f"transformers:{tied}", device="cpu")
    yield engine, local
    for each in (engine, local):
        asyncio.run(each.close())


def both(models, *requests):
    return [asyncio.run(model.complete(requests)) for model in models]


def test_it_says_what_transformers_says(models):
    asked = (Message("user", "Name three colours."),)
    requests = [
        Request(messages=asked, sampling=Sampling(12, 0.0)),
        Request(prompt_ids=(1, 9690, 198), sampling=Sampling(12, 0.0)),
        Request(messages=asked, sampling=Sampling(12, 0.0, stop=(",", "."))),
    ]
    for here, there in zip(*both(models, *requests), strict=True):
        assert (here.text, here.token_ids, here.prompt_ids) == (there.text, there.token_ids, there.prompt_ids)
        assert here.finish_reason == there.finish_reason
        assert here.logprobs == pytest.approx(there.logprobs, abs=1e-4)


def test_logprobs_are_at_the_temperature_that_was_asked_for(models):
    engine, local = models
    asked = Request(prompt_ids=(1, 9690, 198), sampling=Sampling(8, 0.7, seed=1))
    (said,) = asyncio.run(engine.complete([asked]))
    ids = torch.tensor([[*said.prompt_ids, *said.token_ids]])
    with torch.no_grad():
        logits = local.model(input_ids=ids).logits[0, len(said.prompt_ids) - 1 : -1]
    own = (logits / 0.7).log_softmax(-1).gather(1, ids[0, len(said.prompt_ids) :, None])[:, 0]
    assert said.logprobs == pytest.approx(own.tolist(), abs=1e-4)


def test_a_prompt_that_is_too_long_is_refused_alone(models):
    engine, _ = models
    long, short = Request(prompt_ids=(1,) * 600), Request(prompt_ids=(1, 2, 3), sampling=Sampling(2, seed=1))
    refused, answered = asyncio.run(engine.complete([long, short]))
    assert refused.finish_reason == "error"
    assert "512" in refused.error
    assert answered.token_ids


def test_it_has_the_abilities_that_training_needs(models):
    found = {each.ability: each for each in asyncio.run(probe(models[0]))}
    for ability in ("answer", "template", "logprobs", "tokens-in", "schema", "seed"):
        assert found[ability].works, found[ability]
