"""Answering recorded requests frame by frame, where a recorder adds to what is already recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from envace_sdk.json import Json

from .format import Exchange
from .matching import Matching
from .reader import RecordingFile, read_recording
from .redact import SecretRedactor

__all__ = ["Replay", "matching_of"]

_REPLAYED: Final = frozenset({"tools/call", "prompts/get", "resources/read", "completion/complete"})
_CACHED: Final = frozenset({"resources/read"})
_VERSION: Final = "io.modelcontextprotocol/protocolVersion"


def matching_of(recording: RecordingFile, ignore: Sequence[str] = ()) -> Matching:
    """How a recording says that requests are to be matched, and what else they are not to be told apart by."""
    header = recording.header
    redact = SecretRedactor(header.redact_keys, header.redact_patterns)
    return Matching((*header.ignore, *ignore), redact=redact)


class Replay:
    """Answers the requests of one recording. Repeated ones get what was recorded next, and the last one again."""

    def __init__(self, recording: RecordingFile) -> None:
        self._matching = matching_of(recording)
        self._held: dict[str, list[Exchange]] = {}
        latest: dict[str, str] = {}
        for exchange in recording.exchanges:
            if exchange.method not in _REPLAYED or not _is_plain(exchange):
                continue
            key = self._matching.key(exchange.method, exchange.params)
            if latest.get(key) != exchange.session:
                latest[key] = exchange.session
                self._held[key] = []
            self._held[key].append(exchange)
        self._next: dict[str, int] = {}

    @classmethod
    def of_file(cls, path: Path) -> Self:
        """The replay of a file. Raises: FixtureError."""
        return cls(read_recording(path))

    def answer(self, message: Json) -> dict[str, Json] | None:
        """The recorded response to a request, or None."""
        if not isinstance(message, dict) or message.get("method") not in _REPLAYED or "id" not in message:
            return None
        method, params = message["method"], message.get("params")
        if not isinstance(params, dict) or "inputResponses" in params or "requestState" in params:
            return None
        key = self._matching.key(method, params)
        held = self._held.get(key)
        if not held:
            return None
        turn = self._next.get(key, 0)
        self._next[key] = turn + 1
        exchange = held[min(turn, len(held) - 1)]
        if exchange.error is not None:
            return {"jsonrpc": "2.0", "id": message["id"], "error": dict(exchange.error)}
        return {"jsonrpc": "2.0", "id": message["id"], "result": _enveloped(exchange, params)}


def _is_plain(exchange: Exchange) -> bool:
    """Whether the answer depends on nothing the client was asked meanwhile."""
    asked = (exchange.result or {}).get("resultType") == "input_required"
    return not asked and exchange.resumes is None and not any(event.kind == "ask" for event in exchange.events)


def _enveloped(exchange: Exchange, params: Mapping[str, Json]) -> dict[str, Json]:
    result = dict(exchange.result or {})
    meta = params.get("_meta")
    if isinstance(meta, dict) and _VERSION in meta:
        result["resultType"] = "complete"
        if exchange.method in _CACHED:
            result = {"ttlMs": 0, "cacheScope": "private", **result}
    else:
        for name in ("ttlMs", "cacheScope"):
            if exchange.method in _CACHED:
                result.pop(name, None)
    return result
