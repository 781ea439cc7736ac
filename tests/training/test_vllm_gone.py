"""What is left of a run whose vLLM server goes away: the first error, and no files."""

import asyncio
import contextlib

import lamp_world
import pytest
from envace_sdk.training.run.live import Live
from envace_sdk.training.vllm.model import ServedPolicy
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from web import serving

from envace_sdk.errors import TrainingError
from envace_sdk.models import ScriptedModel


@contextlib.contextmanager
def taking():
    """A server that takes adapters, and refuses to sample."""

    async def models(_):
        return JSONResponse({"data": [{"id": "policy", "root": "policy", "max_model_len": 512}]})

    async def take(_):
        return Response("taken")

    async def refuse(_):
        return JSONResponse({"error": {"message": "not today"}}, 400)

    routes = [
        Route("/v1/models", models),
        Route("/v1/load_lora_adapter", take, methods=["POST"]),
        Route("/v1/unload_lora_adapter", take, methods=["POST"]),
        Route("/v1/completions", refuse, methods=["POST"]),
    ]
    with serving(Starlette(routes=routes)) as url:
        yield url


@pytest.fixture
def shared(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    return folder


@pytest.fixture
def policy(tmp_path, shared):
    """Makes a policy that a server at a URL samples, with a judge."""
    script = tmp_path / "judge.jsonl"
    script.write_text('"yes"\n')
    found = lamp_world.material(tmp_path / "lamps")
    place = str(lamp_world.checkpoint(tmp_path / "model", found, lamp_world.settings()))

    def made(url):
        config = lamp_world.settings(
            parameters={"method": "lora", "rank": 4, "alpha": 8},
            rollout={"server": {"url": url, "folder": str(shared)}},
            rewards={"judge": {"model": f"scripted:{script}"}},
        )
        return Live(place, config)

    return made


@pytest.fixture
def closed(monkeypatch):
    """The scripted models that were closed; the judge is the only one."""
    names = []

    async def close(self):
        names.append(self.name)

    monkeypatch.setattr(ScriptedModel, "close", close)
    return names


def test_the_error_that_ended_a_run_is_told_and_nothing_is_left_behind(policy, shared, closed, caplog):
    lives = []

    async def run():
        try:
            with taking() as url:
                lives.append(policy(url))
                await lives[0].publish()
        finally:
            assert list(shared.iterdir()), "weights were sent"
            await lives[0].close()

    with pytest.raises(TrainingError, match=r"cannot answer.*not today"):
        asyncio.run(run())
    assert [*shared.iterdir()] == []
    assert closed == ["scripted:judge.jsonl"]
    (told,) = [record for record in caplog.records if record.name == "envace_sdk.training.vllm.link"]
    assert told.levelname == "WARNING"
    assert "cannot be reached" in told.getMessage()


def test_what_cannot_be_closed_keeps_nothing_else_open(policy, shared, closed, monkeypatch):
    close = ServedPolicy.close

    async def failing(self):
        await close(self)
        raise RuntimeError("it hangs on")

    async def run():
        with taking() as url:
            live = policy(url)
            with pytest.raises(TrainingError, match="cannot answer"):
                await live.publish()
            monkeypatch.setattr(ServedPolicy, "close", failing)
            await live.close()

    with pytest.raises(RuntimeError, match="it hangs on"):
        asyncio.run(run())
    assert [*shared.iterdir()] == []
    assert closed == ["scripted:judge.jsonl"]
