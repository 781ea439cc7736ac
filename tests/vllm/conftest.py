"""These tests need vLLM; without it they are not collected. One server serves them all."""

import importlib.util
import os

import pytest

# Threads that wait for each other, bound to cores that others use too, take minutes for what takes seconds.
os.environ |= {"OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
collect_ignore_glob = ["*"] if importlib.util.find_spec("vllm") is None else []


@pytest.fixture(scope="session")
def tied():
    """The folder of the small model as it is fetched."""
    from envace_sdk.models.fetch import fetch

    return str(fetch("smollm2-135m"))


@pytest.fixture(scope="session")
def place(tied, tmp_path_factory):
    """The folder of the small model, its output layer being no other."""
    from small_policy import untied

    return untied(tied, tmp_path_factory.mktemp("untied"))


@pytest.fixture(scope="session")
def url(place):
    """Of a server that takes adapters and whole weights."""
    from envace_sdk.training.vllm import rollout_server
    from small_policy import SERVER, settings

    lora = settings(parameters={"method": "lora", "separate": True, "rank": 4, "alpha": 8})
    server = SERVER.model_copy(update={"environment": SERVER.environment | {"VLLM_SERVER_DEV_MODE": "1"}})
    with rollout_server(place, lora, server) as found:
        yield found
