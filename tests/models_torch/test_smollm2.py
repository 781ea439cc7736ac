import asyncio
import json

import pytest
import torch

from envace_sdk.models import Message, Request, Sampling, load_model
from envace_sdk.models.fetch import fetch
from envace_sdk.roles import RESPONSE, parse_response, rehearse_prompt, response_schema
from envace_sdk.roles.probe import probe
from envace_sdk.tools.model import Tool, ToolCall, ToolResult

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TOOL = Tool(
    {
        "name": "get_city",
        "description": "Read one city.",
        "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "outputSchema": {
            "type": "object",
            "properties": {"name": {"type": "string", "maxLength": 20}, "capital": {"type": "boolean"}},
            "required": ["name", "capital"],
            "additionalProperties": False,
        },
    }
)


@pytest.fixture(scope="module")
def model():
    folder = fetch("smollm2-135m")
    assert "quantization_config" not in json.loads((folder / "config.json").read_text())
    loaded = load_model("smollm2-135m", device="cpu")
    yield loaded
    asyncio.run(loaded.close())


def complete(model, *requests):
    return asyncio.run(model.complete(requests))


def test_the_fetched_model_knows_a_capital_and_what_it_says_has_its_logprobs(model):
    asked = (Message("user", "What is the capital of France?"),)
    france, other = complete(
        model,
        Request(messages=asked, sampling=Sampling(max_tokens=12, temperature=0)),
        Request(messages=(Message("user", "Hi"),), sampling=Sampling(max_tokens=12, seed=1)),
    )
    assert "Paris" in france.text
    for completion in (france, other):
        ids = torch.tensor([[*completion.prompt_ids, *completion.token_ids]])
        with torch.no_grad():
            logits = model.model(ids).logits[0].float()
        after = torch.log_softmax(logits, -1)[len(completion.prompt_ids) - 1 : -1]
        expected = after.gather(-1, torch.tensor(completion.token_ids)[:, None])[:, 0]
        torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=0)


def test_a_constrained_rehearsal_is_a_response(model):
    known = [
        (ToolCall("get_city", {"name": "Graz"}), ToolResult.json({"name": "Graz", "capital": False}, structured=True))
    ]
    prompt = rehearse_prompt(TOOL, ToolCall("get_city", {"name": "Paris"}), examples=known, style="compact")
    request = Request(
        messages=prompt, schema=response_schema(TOOL), wrap=RESPONSE, sampling=Sampling(max_tokens=60, temperature=0)
    )
    pytest.importorskip("llguidance")
    answer = parse_response(complete(model, request)[0].text, TOOL)
    assert answer.is_error or answer.value()["name"] == "Paris"


def test_a_check_finds_what_works(model):
    found = {each.ability: each.works for each in asyncio.run(probe(model))}
    assert found["answer"]
    assert found["template"]
    assert found["logprobs"]
    assert found["tokens-in"]
    assert found["seed"]
    assert not found["native-tools"]
