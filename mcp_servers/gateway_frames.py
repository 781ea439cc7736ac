"""JSON-RPC messages as a gateway reads and writes them: what was judged is what is sent on, and no label is forged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from mcp.types import (
    CLIENT_CAPABILITIES_META_KEY,
    INVALID_REQUEST,
    PARSE_ERROR,
    PROTOCOL_VERSION_META_KEY,
)

from envace_sdk.evidence.label import strip, strip_result
from envace_sdk.json import Json
from envace_sdk.tools.eras import is_modern

from .eras import HANDSHAKE, STATELESS, Era

__all__ = [
    "GONE",
    "CannotPass",
    "capabilities_of",
    "cleaned",
    "dump",
    "era_of_request",
    "error",
    "id_key",
    "is_answer",
    "is_call",
    "offers_forms",
    "parse",
    "result",
]

GONE: Final = -32001
"""The JSON-RPC error of requests whose server has ended."""


class CannotPass(Exception):  # noqa: N818  it is answered, not raised further
    """A message of the client that cannot be sent on; `answer` is what it is answered, None: nothing."""

    def __init__(self, answer: dict[str, Json] | None) -> None:
        super().__init__("not sent on")
        self.answer = answer


def parse(text: bytes) -> dict[str, Json]:
    """One message of a client.

    What a lenient server might read otherwise than this gateway is not sent on: text that is not strict JSON, batches,
    and calls that expect no answer.

    Raises:
        CannotPass: it is no message, or one that could slip a call past the guard.
    """
    try:
        message: Json = json.loads(text, parse_constant=_refuse_constant)
        dump(message)  # what cannot be written again, such as 1e999, cannot be sent on
    except (ValueError, RecursionError) as problem:
        raise CannotPass(error(None, PARSE_ERROR, f"Parse error: {problem}")) from None
    if isinstance(message, list):
        raise CannotPass(error(None, INVALID_REQUEST, "The gateway takes no batches: send one message at a time"))
    if not isinstance(message, dict):
        raise CannotPass(error(None, INVALID_REQUEST, "Expected one JSON-RPC message"))
    if message.get("method") == "tools/call" and not _is_id(message.get("id")):
        answer = (
            error(None, INVALID_REQUEST, "A tool call needs an id: text or an integer") if "id" in message else None
        )
        raise CannotPass(answer)
    return message


def dump(message: Json) -> bytes:
    """A message as bytes. Raises: ValueError if it is not JSON."""
    return json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def cleaned(message: dict[str, Json]) -> dict[str, Json]:
    """A message from either side without labels of ours: nobody but the gateway says what was observed.

    The same object where there was none, so that it can be passed on byte for byte.
    """
    changed: dict[str, Json] = {}
    params, result_ = message.get("params"), message.get("result")
    if isinstance(params, dict) and isinstance(params.get("_meta"), dict):
        changed["params"] = {**params, "_meta": strip(params["_meta"])}
    if isinstance(result_, dict):
        changed["result"] = strip_result(result_)
    new = {**message, **changed}
    return message if new == message else new


def is_call(message: Mapping[str, Json]) -> bool:
    """Whether it asks for a tool to be called."""
    return message.get("method") == "tools/call"


def is_answer(message: Mapping[str, Json]) -> bool:
    """Whether it is the result or the error of a request."""
    return "method" not in message and "id" in message


def id_key(identity: Json) -> str:
    """An id as a key: 1 and "1" are two."""
    return json.dumps(identity)


def era_of_request(params: Mapping[str, Json]) -> Era:
    """The era of a request by its own words."""
    meta = params.get("_meta")
    version = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
    return STATELESS if isinstance(version, str) and is_modern(version) else HANDSHAKE


def offers_forms(capabilities: Json) -> bool:
    """Whether a client with these capabilities shows its user forms."""
    elicitation = capabilities.get("elicitation") if isinstance(capabilities, dict) else None
    return isinstance(elicitation, dict) and (not elicitation or "form" in elicitation)


def capabilities_of(params: Mapping[str, Json]) -> Json:
    """The capabilities that a request of the stateless era declares."""
    meta = params.get("_meta")
    return meta.get(CLIENT_CAPABILITIES_META_KEY) if isinstance(meta, dict) else None


def error(identity: Json, code: int, message: str) -> dict[str, Json]:
    """A JSON-RPC error."""
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}


def result(identity: Json, wire: Mapping[str, Any]) -> dict[str, Json]:
    """A JSON-RPC result."""
    return {"jsonrpc": "2.0", "id": identity, "result": dict(wire)}


def _is_id(value: Json) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")
