import pytest
from envace_sdk.mcp_servers.eras import HANDSHAKE, STATELESS, era_of, project_result, refusal

from envace_sdk.tools.model import ToolResult

OBJECT = {"type": "object"}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_revisions_that_begin_with_a_handshake_are_one_era(version):
    assert era_of(version) is HANDSHAKE


def test_the_stateless_revision_is_the_other_era():
    assert era_of("2026-07-28") is STATELESS


def test_an_output_schema_that_is_no_object_is_refused_by_the_handshake_era_only():
    definition = {"name": "a", "inputSchema": OBJECT, "outputSchema": {"type": "array"}}
    assert "outputSchema/type" in refusal(definition, HANDSHAKE)
    assert refusal(definition, STATELESS) is None


@pytest.mark.parametrize("value", [[1, 2], "text", 3, None])
def test_structured_content_that_is_no_object_is_left_to_the_text_before_2026(value):
    result = ToolResult.json(value, structured=True)
    assert "structuredContent" not in project_result(result, HANDSHAKE)
    assert project_result(result, STATELESS)["structuredContent"] == value
    assert project_result(result, HANDSHAKE)["content"] == list(result.content)


def test_an_error_carries_no_structured_content():
    result = ToolResult(({"type": "text", "text": "no"},), structured={"a": 1}, is_error=True)
    for era in (HANDSHAKE, STATELESS):
        wire = project_result(result, era)
        assert wire["isError"] is True
        assert "structuredContent" not in wire


@pytest.mark.parametrize("block", [{"type": "hologram", "data": "x"}, {"type": "image"}, {"type": "text"}])
def test_a_content_block_that_no_client_knows_becomes_its_json(block):
    for era in (HANDSHAKE, STATELESS):
        (shown,) = project_result(ToolResult((block,)), era)["content"]
        assert shown["type"] == "text"
        assert block["type"] in shown["text"]


def test_content_blocks_that_clients_know_stay_as_they_are():
    blocks = (
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource_link", "name": "r", "uri": "file:///r", "x-more": 1},
        {"type": "text", "text": "t", "annotations": {"audience": ["user"]}},
    )
    for era in (HANDSHAKE, STATELESS):
        assert project_result(ToolResult(blocks), era)["content"] == list(blocks)


def test_only_the_stateless_era_says_that_a_result_is_complete():
    assert "resultType" not in project_result(ToolResult.text("t"), HANDSHAKE)
    assert project_result(ToolResult.text("t"), STATELESS)["resultType"] == "complete"
