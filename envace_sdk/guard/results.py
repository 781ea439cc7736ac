"""What a tool returned, as the ledger keeps it: one form for whatever frameworks hand over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from envace_sdk.errors import EvidenceError, FixtureError
from envace_sdk.evidence.canonical import digest
from envace_sdk.evidence.label import Observed, label, strip, strip_blocks
from envace_sdk.json import UNSET, Json
from envace_sdk.tools.model import ToolResult
from envace_sdk.tools.recordings import result_from_wire

__all__ = ["as_result", "failure", "labelled", "restored", "stored"]

_TEXT: Final = 20_000
"""Characters that are kept of an answer that is not JSON."""


def as_result(value: Any) -> ToolResult:
    """A returned value as a tool's result.

    A `ToolResult` is taken as it is, an object with `content` blocks as MCP's result, text as text, other JSON as
    structured content, and anything else as the text it prints as. Labels of ours on it came from outside, and go.
    """
    if isinstance(value, ToolResult):
        return replace(value, content=strip_blocks(value.content), meta=strip(value.meta), wire=None)
    if isinstance(value, str):
        return ToolResult.text(value)
    if isinstance(value, Mapping) and isinstance(value.get("content"), list):
        try:
            return result_from_wire(value)
        except FixtureError:
            pass  # data that happens to have a member of that name
    try:
        digest(value)
    except EvidenceError:
        return ToolResult.text(str(value)[:_TEXT])
    return ToolResult.json(value, structured=True)


def failure(error: BaseException) -> ToolResult:
    """An exception that a tool raised, as an error result."""
    return ToolResult.text(f"{type(error).__name__}: {error}"[:_TEXT], is_error=True)


def stored(result: ToolResult) -> dict[str, Json]:
    """A result as a payload of the ledger."""
    return {
        "content": [dict(block) for block in result.content],
        **({} if result.structured is UNSET else {"structuredContent": result.structured}),
        "isError": result.is_error,
    }


def restored(payload: Json) -> ToolResult:
    """The result in a payload.

    Raises:
        EvidenceError: it is not one.
    """
    try:
        return result_from_wire(payload)
    except (FixtureError, AttributeError) as error:
        raise EvidenceError(f"the ledger holds an outcome that is not a result: {error}") from None


def labelled(result: ToolResult) -> tuple[ToolResult, Observed]:
    """A real answer with its label, and the label."""
    evidence = Observed(payload_hash=digest(json.loads(json.dumps(stored(result), default=str))))
    return replace(result, meta=label(evidence, result.meta)), evidence
