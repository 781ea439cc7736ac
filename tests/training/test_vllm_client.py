"""What a server answers is a stranger's: whatever it is, it becomes a message that names the server and the path."""

import asyncio
import contextlib

import pytest
from envace_sdk.training.vllm.client import Served, VLLMClient
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from web import serving

from envace_sdk.errors import TrainingError

DEEP = "[" * 100_000


@contextlib.contextmanager
def saying(text):
    """A client of a server that answers everything with this text."""

    async def say(_):
        return Response(text, media_type="application/json")

    with serving(Starlette(routes=[Route("/{path:path}", say, methods=["GET", "POST"])])) as url:
        yield VLLMClient(url, "vllm serve X", seconds=5)


def models(**changes):
    own = {"id": '"policy"', "root": '"/models/x"', "max_model_len": "512", **changes}
    return f'{{"data": [{{{", ".join(f"{chr(34)}{name}{chr(34)}: {value}" for name, value in own.items())}}}]}}'


@pytest.mark.parametrize("text", ["OK", "[]", "null", "7", '"done"', '{"success": null}', DEEP])
def test_who_does_not_say_that_its_prefixes_are_gone_is_named(text):
    with saying(text) as client, pytest.raises(TrainingError) as refused:
        asyncio.run(client.forget())
    assert f"{client.url}/reset_prefix_cache answers 200" in str(refused.value)


@pytest.mark.parametrize("text", ["", "{}", '{"success": true}'])
def test_prefixes_are_gone_where_nothing_else_is_said(text):
    with saying(text) as client:
        asyncio.run(client.forget())


@pytest.mark.parametrize(
    "text",
    ["", "OK", "{}", "null", "[]", '{"vllm_config": "a text"}', '{"vllm_config": {"device_config": null}}', DEEP],
)
def test_who_does_not_say_what_it_computes_on_is_named(text):
    with saying(text) as client, pytest.raises(TrainingError) as refused:
        asyncio.run(client.is_on_cpu())
    assert f"{client.url}/server_info" in str(refused.value)
    assert "vllm serve X" in str(refused.value)


@pytest.mark.parametrize("text", ["", "{}", "null", '{"world_size": "2"}', '{"world_size": 0}', '{"world_size": true}'])
def test_who_does_not_say_how_many_gpus_it_has_is_named(text):
    with saying(text) as client, pytest.raises(TrainingError) as refused:
        asyncio.run(client.workers())
    assert f"{client.url}/get_world_size" in str(refused.value)
    assert "vllm serve X" in str(refused.value)


@pytest.mark.parametrize("length", ["Infinity", "NaN", "-5", "0", "true", "null", '"512"', "1e400", "9" * 5000])
def test_a_model_needs_a_length_that_tokens_can_be_counted_to(length):
    with saying(models(max_model_len=length)) as client, pytest.raises(TrainingError) as refused:
        asyncio.run(client.model())
    assert f"{client.url}/v1/models answers 200 and no model of vLLM" in str(refused.value)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    "text", ["null", '{"data": {}}', '{"data": [null]}', models(id="null"), models(root="7"), DEEP]
)
def test_what_is_no_list_of_models_is_refused(text):
    with saying(text) as client, pytest.raises(TrainingError, match="/v1/models answers 200 and no model of vLLM"):
        asyncio.run(client.model())


def test_what_vllm_answers_is_read():
    with saying(models()) as client:
        assert asyncio.run(client.model()) == Served("policy", "/models/x", 512)
    with saying('{"vllm_config": {"device_config": {"device": "cpu"}}}') as client:
        assert asyncio.run(client.is_on_cpu())
    with saying('{"vllm_config": {"device_config": {"device": null}}}') as client:
        assert not asyncio.run(client.is_on_cpu())
    with saying('{"world_size": 2}') as client:
        assert asyncio.run(client.workers()) == 2


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://[x]:80", "http://host:port", "http://host:99999", "http://a\x00b"]
)
def test_a_url_that_cannot_be_taken_apart_is_refused_by_the_name_of_the_setting(url):
    with pytest.raises(TrainingError, match=r"rollout\.server\.url"):
        asyncio.run(VLLMClient(url, "vllm serve X", seconds=5).model())
