"""Bodies of HTTP answers: what a client hears while its call is going, and what the server behind it said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

import httpx2
from starlette.responses import JSONResponse, Response

from envace_sdk.json import Json

from .gateway_events import written
from .gateway_frames import GONE, error
from .gateway_hearing import Unreadable, hear, purged

__all__ = ["Stream", "as_it_is", "body_of", "headers_of", "message_of", "sent"]

logger = logging.getLogger(__name__)

_OWN: Final = frozenset({"content-encoding", "content-length", "connection", "keep-alive", "transfer-encoding"})


@dataclass
class Stream:
    """What a client hears while its call is going."""

    queue: asyncio.Queue[bytes | Response] = field(default_factory=asyncio.Queue)
    is_open: bool = True

    def send(self, event: bytes) -> None:
        """Let the client hear an event, if it still listens."""
        if self.is_open:
            self.queue.put_nowait(event)


async def sent(first: bytes, stream: Stream) -> AsyncIterator[bytes]:
    """The events of a stream, until its answer."""
    try:
        yield first
        while True:
            item = await stream.queue.get()
            if isinstance(item, Response):
                yield written(bytes(item.body))
                return
            yield item
    finally:
        stream.is_open = False


async def as_it_is(response: httpx2.Response) -> Response:
    """An answer in one piece, without labels of ours. One that cannot be read is not passed on."""
    body = await body_of(response)
    try:
        body = purged(body, hear(body))
    except Unreadable as problem:
        logger.error("an answer of the server was dropped: %s", problem)
        return JSONResponse(error(None, GONE, f"the server's answer was dropped: {problem}"), 502)
    return Response(body, response.status_code, headers_of(response))


async def body_of(response: httpx2.Response) -> bytes:
    """The whole body. Raises: httpx2.HTTPError."""
    try:
        return await response.aread()
    finally:
        await response.aclose()


def headers_of(response: httpx2.Response) -> dict[str, str]:
    """The headers that can be passed on."""
    return {name: value for name, value in response.headers.items() if name not in _OWN}


def message_of(body: bytes) -> dict[str, Json] | None:
    """The message in a body, if there is one that can be read."""
    try:
        message = hear(body)
    except Unreadable:
        return None
    return message if isinstance(message, dict) else None
