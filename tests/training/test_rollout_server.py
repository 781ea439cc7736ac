"""What can be said of a vLLM server without one: the command that starts it, and what is wrong with what is there."""

import asyncio
import contextlib
import os
import signal
import socket
import threading
import time

import pytest
import torch
from click.testing import CliRunner
from envace_sdk.training.config import validate
from envace_sdk.training.processes import Processes
from envace_sdk.training.rollout_config import ServerConfig
from envace_sdk.training.rows import Row
from envace_sdk.training.run import Job, run_config
from envace_sdk.training.run.command import served
from envace_sdk.training.trainer import Trainer
from envace_sdk.training.vllm import rollout_server, serve_command
from envace_sdk.training.vllm.client import VLLMClient
from model_endpoint import model_endpoint
from tiny_policy import config, some_rows, tiny_llama
from watched import Watched

from envace_sdk.cli.train_commands import train
from envace_sdk.errors import RowError, TrainingError


def client(url, command="vllm serve X"):
    return VLLMClient(url, command, seconds=5)


def asked(work):
    return asyncio.run(work)


@pytest.mark.parametrize(
    ("changes", "server", "words"),
    [
        ({"method": "lora", "rank": 12}, {}, "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 vllm serve X"),
        ({"method": "lora", "rank": 12}, {}, "--enable-lora --max-lora-rank 16 --max-loras 1"),
        ({"method": "lora", "separate": True}, {}, "--max-loras 2"),
        ({"method": "full"}, {}, "VLLM_SERVER_DEV_MODE=1 vllm serve X"),
        ({"method": "full"}, {"transfer": "nccl"}, """--weight-transfer-config '{"backend": "nccl"}'"""),
        ({"method": "full"}, {"arguments": ["--port=9"]}, "--port=9"),
    ],
)
def test_the_command_has_what_the_way_of_sending_weights_needs(changes, server, words):
    command = str(serve_command("X", config(parameters=changes), ServerConfig.model_validate(server)))
    assert words in command
    assert "--logprobs-mode processed_logprobs --generation-config vllm --dtype float32" in command


def test_where_nobody_answers_the_command_that_starts_a_server_is_told():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(TrainingError, match=r"cannot be reached(.|\n)*vllm serve X(.|\n)*--rollout-server start"):
        asked(client(url).model())


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://host", "http://"])
def test_what_is_no_url_is_refused_by_the_name_of_the_setting(url):
    with pytest.raises(TrainingError, match=r"rollout\.server\.url"):
        client(url)


def test_a_server_that_is_no_vllm_is_found_out():
    with model_endpoint() as (_, url):
        found = client(url)
        assert not found.url.endswith("/v1")
        with pytest.raises(TrainingError, match=r"no model of vLLM(.|\n)*vllm serve X"):
            asked(found.model())
        for work in (found.reload("w"), found.workers(), found.is_on_cpu()):
            with pytest.raises(TrainingError, match="VLLM_SERVER_DEV_MODE"):
                asked(work)
        with pytest.raises(TrainingError, match="VLLM_ALLOW_RUNTIME_LORA_UPDATING"):
            asked(found.load_adapter("a", "w"))


def test_an_interpreter_without_vllm_is_named():
    for server, words in (
        (ServerConfig(), r"has no vLLM(.|\n)*rollout\.server\.python"),
        (ServerConfig(python="/nowhere"), r"rollout\.server\.python: /nowhere cannot be run"),
    ):
        with pytest.raises(TrainingError, match=words), rollout_server("X", config(), server):
            pass


@contextlib.contextmanager
def starting(tmp_path, script, seconds):
    """A run whose server runs a shell script, after it has written its process id; what is left of it is ended."""
    python, started = tmp_path / "python", tmp_path / "started"
    python.write_text(f"#!/bin/sh\necho $$ > {started}.new && mv {started}.new {started}\n{script}\n")
    python.chmod(0o755)
    server = {"python": str(python), "start_seconds": seconds}
    try:
        yield Job(tmp_path / "run", "X", run_config({"rollout": {"server": server}}), None), started
    finally:
        if started.exists():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(started.read_text()), signal.SIGKILL)


@contextlib.contextmanager
def pressing_ctrl_c(started, times):
    """As soon as the server runs, and again a little later; but never after the block."""
    over = threading.Event()

    def press():
        while not started.exists():
            if over.wait(0.05):
                return
        for _ in range(times):
            if over.wait(0.7):
                return
            os.kill(os.getpid(), signal.SIGINT)

    presses = threading.Thread(target=press)
    presses.start()
    try:
        yield
    finally:
        over.set()
        presses.join()


@pytest.mark.parametrize(
    ("script", "times"),
    [("exec sleep 60", 1), ("trap '' TERM; while :; do sleep 1; done", 2)],
    ids=["once", "again-while-it-will-not-end"],
)
def test_ctrl_c_while_a_server_starts_ends_both(tmp_path, script, times):
    with starting(tmp_path, script, 10) as (job, started):
        began = time.monotonic()
        with (
            pressing_ctrl_c(started, times),
            pytest.raises(KeyboardInterrupt),
            served(job, Processes("cpu"), Watched()),
        ):
            pytest.fail("no server runs")
        assert time.monotonic() - began < 9, "it was not only given up when its time was over"
        with pytest.raises(ProcessLookupError):
            os.kill(int(started.read_text()), 0)


class OneOfTwo:
    """What `served` asks of a process that has a peer."""

    def __init__(self, *, is_main):
        self.is_main = is_main
        self.told = []

    async def by_main(self, work):
        if not self.is_main:
            return "http://127.0.0.1:9"
        try:
            return await work()
        except TrainingError as error:
            self.told.append(str(error))
            raise


def test_one_process_starts_the_server_and_the_others_are_told_of_it(tmp_path):
    with starting(tmp_path, "exit 3", 10) as (job, started):
        with served(job, OneOfTwo(is_main=False), Watched()) as ready:
            assert ready.config.rollout.server.url == "http://127.0.0.1:9"
        assert not started.exists()
        main = OneOfTwo(is_main=True)
        with pytest.raises(TrainingError, match="exit code 3"), served(job, main, Watched()):
            pytest.fail("no server runs")
        assert "exit code 3" in main.told[0]


def test_adapters_cannot_go_from_gpu_to_gpu():
    values = {"rollout": {"server": {"transfer": "nccl"}}, "parameters": {"method": "lora"}}
    with pytest.raises(TrainingError, match="adapters are files"):
        run_config(values)
    run_config(values | {"parameters": {"method": "full"}})


def test_verl_has_samplers_of_its_own():
    told = CliRunner().invoke(train, ["--engine", "verl", "--tools", "retail", "--rollout-server", "start"])
    assert told.exit_code == 2
    assert "leave --rollout-server" in told.output


@pytest.mark.parametrize("parameters", [{"method": "full"}, {"method": "lora", "separate": True}])
def test_a_trainer_scores_completions_as_its_model_does(parameters):
    made = Trainer(tiny_llama(), config(parameters=parameters, loss={"temperature": 0.7}))
    made.step(some_rows())
    rows = some_rows(seed=3)
    for row, scores in zip(rows, made.score(rows), strict=True):
        ids = torch.tensor([[*row.prompt_ids, *row.completion_ids]])
        with made.acting_as(row.role) as model, torch.no_grad():
            logits = model(input_ids=ids).logits[0, len(row.prompt_ids) - 1 : -1]
        own = (logits / 0.7).log_softmax(-1).gather(1, ids[0, len(row.prompt_ids) :, None])[:, 0]
        assert scores == pytest.approx(own.tolist(), abs=1e-5)
    with pytest.raises(RowError, match="vocabulary"):
        made.score([Row("task", 0, "act", (1,), (999,))])


def test_what_one_process_shares_is_all_of_it():
    processes = Processes("cpu")
    assert processes.share("abc") == (0, "abc")
    assert processes.from_main("x") == "x"


def test_settings_of_a_server_are_kept_whole(tmp_path):
    found = run_config({"rollout": {"server": {"url": "http://127.0.0.1:1"}}})
    again = run_config(found.model_dump(mode="json"))
    assert again == found
    assert validate({}, type(found)).rollout.server is None
