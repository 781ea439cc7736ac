"""What a server may know of the client that calls, and how to send it something in the middle of a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias, get_args

from mcp.server.context import ServerRequestContext
from mcp.shared.message import ServerMessageMetadata
from mcp.types import CLIENT_CAPABILITIES_META_KEY, LOG_LEVEL_META_KEY, LoggingLevel
from pydantic import BaseModel, RootModel

from envace_sdk.json import Json
from envace_sdk.recordings import Client

from .eras import Era

__all__ = ["Context", "ask", "caller", "hears_level", "notify", "set_level"]

Context: TypeAlias = ServerRequestContext[Any, Any]

_LEVELS: Final = get_args(LoggingLevel)
"""By severity, the least first."""
_LEVEL: Final = "envace.log_level"
_OFFERS: Final = "envace.offers"


class _Frame(BaseModel):
    """A message as it is: the SDK's typed ones drop what they do not know."""

    method: str
    params: dict[str, Any] | None = None


class _Result(RootModel[dict[str, Any]]):
    """A result as it is."""


def caller(context: Context, params: Mapping[str, Json], era: Era) -> Client:
    """What of the client may decide between recordings."""
    meta = params.get("_meta")
    meta = meta if isinstance(meta, Mapping) else {}
    progress = "progressToken" in meta
    if era.is_stateless:
        offers, level = meta.get(CLIENT_CAPABILITIES_META_KEY), meta.get(LOG_LEVEL_META_KEY)
    else:
        memory = _memory(context)
        if _OFFERS not in memory:  # said once, in the handshake
            declared = context.session.client_capabilities
            memory[_OFFERS] = (
                {} if declared is None else declared.model_dump(by_alias=True, mode="json", exclude_none=True)
            )
        offers, level = memory[_OFFERS], memory.get(_LEVEL)
    return Client(offers if isinstance(offers, dict) else {}, level if isinstance(level, str) else None, progress)


def set_level(context: Context, level: Json) -> None:
    """Remember from which level on a client wants to hear log messages."""
    _memory(context)[_LEVEL] = level


def hears_level(client: Client, level: Json, era: Era) -> bool:
    """Whether a client is to get a log message of that level."""
    if client.log_level is None:
        return not era.is_stateless
    if level not in _LEVELS or client.log_level not in _LEVELS:
        return True
    return _LEVELS.index(level) >= _LEVELS.index(client.log_level)


async def notify(context: Context, method: str, params: Mapping[str, Json], *, wide: bool = False) -> None:
    """Send a notification, on the stream of the request unless it is for everybody."""
    frame: Any = _Frame(method=method, params=dict(params) or None)
    await context.session.send_notification(frame, None if wide else context.request_id)


async def ask(context: Context, method: str, params: Mapping[str, Json]) -> dict[str, Any]:
    """Send a request to a client of the handshake era and await its result.

    Raises:
        MCPError: the client refuses, or cannot be asked.
    """
    frame: Any = _Frame(method=method, params=dict(params) or None)
    related = ServerMessageMetadata(related_request_id=context.request_id)
    return (await context.session.send_request(frame, _Result, metadata=related)).root


def _memory(context: Context) -> dict[str, Any]:
    """What is kept for a connection; the SDK has such a place and hands it to nobody else yet."""
    memory: dict[str, Any] = context.session._connection.state
    return memory
