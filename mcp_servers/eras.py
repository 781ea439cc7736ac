"""The two eras of the protocol on the wire: handshake (revisions up to 2025-11-25) and stateless (2026-07-28)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp.types import methods
from pydantic import ValidationError

from envace_sdk.evidence.label import strip_blocks
from envace_sdk.json import UNSET, Json
from envace_sdk.tools.eras import LATEST_HANDSHAKE, MODERN, is_modern
from envace_sdk.tools.model import ToolResult

__all__ = ["HANDSHAKE", "STATELESS", "Era", "era_of", "project_result", "refusal"]


@dataclass(frozen=True, slots=True)
class Era:
    """One era, and the members that its results must carry besides their own."""

    version: str
    """Its latest revision; as to tools, the wire forms of an era's revisions do not differ."""
    is_stateless: bool
    """Whether every request stands alone, with no handshake before it."""
    result: Mapping[str, Json]
    listing: Mapping[str, Json]

    def __hash__(self) -> int:
        return hash(self.version)


HANDSHAKE: Final = Era(LATEST_HANDSHAKE, False, {}, {})
STATELESS: Final = Era(
    MODERN,
    True,
    {"resultType": "complete"},
    {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
)


def era_of(version: str) -> Era:
    """The era of a protocol revision."""
    return STATELESS if is_modern(version) else HANDSHAKE


def refusal(definition: Mapping[str, Json], era: Era) -> str | None:
    """Why a client of that era would refuse the whole list over this definition, or None.

    The judges are the wire types of the MCP SDK, what its own client reads lists with.
    """
    try:
        methods.parse_server_result("tools/list", era.version, {"tools": [definition], **era.listing})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'/'.join(map(str, first['loc'][2:])) or 'definition'}: {first['msg']}"
    except RecursionError:
        return "definition: nested too deeply"
    return None


def project_result(result: ToolResult, era: Era) -> dict[str, Any]:
    """The wire form of a result: what an era cannot carry of it is left out, or becomes text.

    Errors carry no structured content: clients hold it against the output schema, which describes successes. A result
    that was recorded keeps the members it had, and lacks those it lacked.
    """
    if result.wire is not None:
        return _recorded(result.wire, era)
    content = list(result.content)
    if not all(_is_plain_text(block) for block in content):
        content = [_carried(block, era) for block in strip_blocks(content)]
    wire: dict[str, Any] = {"content": content, "isError": result.is_error, **era.result}
    structured = result.structured
    if structured is not UNSET and not result.is_error and (era.is_stateless or isinstance(structured, dict)):
        wire["structuredContent"] = structured
    return wire


def _recorded(recorded: Mapping[str, Json], era: Era) -> dict[str, Any]:
    wire = {name: value for name, value in recorded.items() if name not in ("_meta", "resultType")}
    content = wire.get("content")
    if isinstance(content, list) and all(isinstance(block, dict) for block in content):
        wire["content"] = [block if _is_plain_text(block) else _carried(block, era) for block in strip_blocks(content)]
    if not era.is_stateless and not isinstance(wire.get("structuredContent", {}), dict):
        del wire["structuredContent"]
    return {**wire, **era.result}


def _is_plain_text(block: Mapping[str, Json]) -> bool:
    return len(block) == 2 and block.get("type") == "text" and isinstance(block.get("text"), str)


def _carried(block: Mapping[str, Json], era: Era) -> Mapping[str, Json]:
    try:
        methods.parse_server_result("tools/call", era.version, {"content": [block], **era.result})
    except ValidationError:
        return {"type": "text", "text": json.dumps(block, ensure_ascii=False)}
    return block
