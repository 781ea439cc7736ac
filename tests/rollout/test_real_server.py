import asyncio

import pytest
from envace_sdk.training.rewards import Rewarder
from envace_sdk.training.rollout import Case, RolloutSource
from envace_sdk.training.rollout.real import McpClients, real_clients
from envace_sdk.training.rollout_config import RolloutConfig, ScheduleConfig
from rollout_players import collect, model_of, witness_of
from served import http_server

from envace_sdk.errors import ToolsetError, UpstreamError
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.tasks import load_tasks
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.upstream import Target


@pytest.fixture(scope="module")
def retail():
    return Environment.load("retail")


def test_trajectories_run_against_a_real_mcp_server_each_in_a_world_of_its_own(retail):
    tasks = [task for task in load_tasks(retail.tasks_path) if task.world.put == {} and task.world.clock is None][:3]
    cases = [Case(retail, task) for task in tasks]
    config = RolloutConfig(group=2, schedule=ScheduleConfig(source="real"), max_turns=12)
    with http_server(Worlds(retail)) as url:
        clients = McpClients(Target(url=f"{url}/retail/worlds/{{world}}/mcp"))
        source = RolloutSource(model_of(witness_of(cases)), config, Rewarder(), clients={"retail": clients})
        found = collect(source, cases)
    assert [(t.task, t.masked) for t in found if not t.solved] == []
    assert all(turn.completion is None for t in found for turn in t.turns if turn.role == "rehearse")


def test_a_server_that_says_that_it_only_rehearses_is_not_taken_for_a_real_one(retail):
    case = Case(retail, load_tasks(retail.tasks_path)[0])
    config = RolloutConfig(group=1, schedule=ScheduleConfig(source="real"), max_turns=12)
    with http_server(Worlds(retail)) as url:
        clients = McpClients(Target(url=f"{url}/retail/worlds/{{world}}/mcp"))
        source = RolloutSource(model_of(witness_of([case])), config, Rewarder(), clients={"retail": clients})
        (found,) = collect(source, [case])
    assert found.as_json()["answered_by"] == "twin"


def test_a_refusal_of_the_protocol_is_an_error_that_the_policy_sees(retail):
    async def ask(url):
        client = await McpClients(Target(url=f"{url}/retail/mcp")).open(load_tasks(retail.tasks_path)[0], 0)
        try:
            return await client.call(ToolCall("no_such_tool", {}))
        finally:
            await client.close()

    with http_server(Worlds(retail)) as url:
        result = asyncio.run(ask(url))
    assert result.is_error
    assert "no_such_tool" in result.first_text


def test_a_server_that_is_not_there_cannot_be_opened(retail):
    with pytest.raises(UpstreamError):
        asyncio.run(McpClients(Target(url="http://127.0.0.1:9/mcp")).open(load_tasks(retail.tasks_path)[0], 0))


def test_a_server_is_named_by_its_url_or_by_its_place_in_a_clients_configuration(tmp_path):
    file = tmp_path / "mcp.json"
    file.write_text('{"mcpServers": {"shop": {"command": "shop-server", "args": ["-x"]}}}')
    found = real_clients({"retail": f"{file}#shop", "airline": "https://a.example/{world}/mcp"})
    assert found["retail"].target.command == ("shop-server", "-x")
    assert found["airline"].target.url == "https://a.example/{world}/mcp"
    with pytest.raises(ToolsetError, match="no such server"):
        real_clients({"retail": f"{file}#desk"})
