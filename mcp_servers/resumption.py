"""Streams that a client can come back to: a recorded server ended one in the middle of a call, and so does its twin."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.types import JSONRPCMessage

__all__ = ["RETRY_MILLISECONDS", "Resumption"]

RETRY_MILLISECONDS: Final = 100
"""How soon a client is told to come back."""
_MOST_EVENTS: Final = 10_000


class Resumption(EventStore):
    """The latest events of all streams, in memory."""

    def __init__(self) -> None:
        self._events: OrderedDict[str, tuple[str, JSONRPCMessage | None]] = OrderedDict()
        self._count = 0

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep an event, the oldest ones make room; gives its id."""
        self._count += 1
        name = str(self._count)
        self._events[name] = (stream_id, message)
        if len(self._events) > _MOST_EVENTS:
            self._events.popitem(last=False)
        return name

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        """Send what came on a stream after an event; gives the stream, None where the event is not kept."""
        found = self._events.get(last_event_id)
        if found is None:
            return None
        stream = found[0]
        for name, (of, message) in list(self._events.items()):
            if of == stream and int(name) > int(last_event_id) and message is not None:
                await send_callback(EventMessage(message, name))
        return stream
