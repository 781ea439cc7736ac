"""The core knows no MCP package, so its rules of what MCP can carry are held against the real types here."""

import json

import mcp.types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.server.lowlevel import Server
from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp.types import methods
from pydantic import ValidationError
from tool_shapes import BROKEN, SERVED, tool
from tool_strategies import JSON, TOOLS

from envace_sdk.tools import ERAS, Toolset, project
from envace_sdk.tools.eras import MODERN, is_modern

STRICTER = {
    "annotations": "mcp reads 1 and 'true' as true; TypeScript clients drop the list",
    "dangling-ref": "mcp looks at no schema beyond its root",
    "remote-ref": "as above",
    "schema": "as above",
    "pattern": "as above",
    "number": "mcp sends infinity as null, and an integer it then cannot read",
    "unicode": "mcp reads it, and cannot send it",
    "too-deep": "mcp sends it, and cannot read it",
    "too-large": "mcp sends it, and cannot read it as a server-sent event",
    "not-json": "mcp sends what is not JSON as something else",
}
"""Rules by which the core quarantines more than mcp's types reject, and why."""


def listing(definition, era):
    beside = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"} if is_modern(era) else {}
    return {"tools": [definition], **beside}


def carry(definition, era):
    """As the SDK does it: checked and written by a server, read and checked by a client."""
    result = listing(definition, era)
    types.Tool.model_validate(definition, by_name=False)
    methods.serialize_server_result("tools/list", era, result)
    frame = types.jsonrpc_message_adapter.dump_json(types.JSONRPCResponse(jsonrpc="2.0", id=1, result=result))
    read = types.jsonrpc_message_adapter.validate_json(frame, by_name=False)
    methods.parse_server_result("tools/list", era, read.result)
    assert json.dumps(read.result["tools"][0]) == json.dumps(definition)
    if is_modern(era):
        assert find_invalid_x_mcp_header(definition["inputSchema"]) is None


def is_carried(definition, era):
    try:
        carry(definition, era)
    except (ValidationError, ValueError, TypeError, AssertionError, RecursionError):
        return False
    return True


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("case", SERVED, ids=lambda case: case.id)
def test_what_is_served_is_carried_in_every_era(case, era):
    carry(project(case.definition, era), era)


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.id)
def test_what_is_quarantined_could_not_be_carried_or_is_stricter_for_a_reason_that_is_written_down(case):
    assert case.rule in STRICTER or not is_carried(case.definition, MODERN)


@given(st.lists(TOOLS | JSON, max_size=3))
def test_any_definition_that_passes_quarantine_is_carried_in_every_era(definitions):
    for served in Toolset.from_definitions(definitions, name="x"):
        for era in ERAS:
            carry(project(served.definition, era), era)


@given(TOOLS | JSON)
def test_a_definition_that_mcp_carries_is_quarantined_only_by_a_rule_that_is_stricter_for_a_reason(definition):
    if is_carried(definition, MODERN):
        toolset = Toolset.from_definitions([definition], name="x")
        assert {finding.rule for finding in toolset.findings if finding.severity == "error"} <= STRICTER.keys()


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_sdks_client_reads_one_list_of_all_that_is_served(mode):
    served = [{**case.definition, "name": f"{case.definition['name']}-{n}"} for n, case in enumerate(SERVED)]
    era = MODERN if mode == "auto" else "2025-11-25"

    async def list_tools(_context, _params):
        tools = [types.Tool.model_validate(project(definition, era), by_name=False) for definition in served]
        return types.ListToolsResult(tools=tools)

    async with Client(Server("shapes", on_list_tools=list_tools), mode=mode) as client:
        listed = await client.list_tools()
        assert client.protocol_version == era
    assert [one.name for one in listed.tools] == [definition["name"] for definition in served]


@pytest.mark.anyio
async def test_one_broken_tool_takes_the_list_down_which_is_why_there_is_a_quarantine():
    async def list_tools(_context, _params):
        return types.ListToolsResult.model_validate(listing(tool({}), MODERN), by_name=False)

    async with Client(Server("shapes", on_list_tools=list_tools)) as client:
        with pytest.raises(Exception, match="invalid"):
            await client.list_tools()
