"""What a gateway makes of a server that it knows nothing of but the server's own word."""

import asyncio

from envace_sdk.mcp_servers.gateway import rules_of

from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall
from envace_sdk.tools.toolset import Toolset

ID = {"type": "object", "properties": {"note_id": {"type": "string"}}, "required": ["note_id"]}
TOOLS = [
    {"name": "read_note", "inputSchema": ID, "annotations": {"readOnlyHint": True}},
    {"name": "purge_note", "inputSchema": ID, "annotations": {"readOnlyHint": True}},
    {"name": "add_note", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}},
]


def test_no_inferred_rule_is_more_than_a_guess():
    rules = rules_of(Toolset.from_definitions(TOOLS, name="notes"))
    assert rules.tools
    assert all(rule.confidence <= 0.5 for rule in rules.tools.values())


def test_what_was_never_seen_is_not_said_to_be_missing():
    toolset = Toolset.from_definitions(TOOLS, name="notes")
    environment = Environment(toolset, dynamics=rules_of(toolset))
    world = environment.world()
    read = asyncio.run(environment.call(world, ToolCall("read_note", {"note_id": "N-7"})))
    assert not read.result.is_error
