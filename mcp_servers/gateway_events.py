"""Server-sent events, one by one and as they came: what needs no change is passed on byte for byte."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Event", "events", "written"]

_END: Final = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE: Final = re.compile(rb"\r\n|\n|\r")
_MOST_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Event:
    """One event."""

    raw: bytes
    """With the blank line that ends it."""

    def _fields(self, name: bytes) -> Iterator[bytes]:
        for line in _LINE.split(self.raw):
            field, colon, value = line.partition(b":")
            if field == name and (colon or line == name):
                yield value.removeprefix(b" ")

    @property
    def data(self) -> bytes:
        """Its data; empty for a mere comment."""
        return b"\n".join(self._fields(b"data"))

    @property
    def id(self) -> str | None:
        """What a stream can be resumed after."""
        found = [*self._fields(b"id")]
        return found[-1].decode(errors="replace") if found and found[-1] else None

    def with_data(self, data: bytes) -> bytes:
        """The same event with other data, which has no line break in it."""
        kept = [line for line in _LINE.split(self.raw) if line and line.partition(b":")[0] != b"data"]
        return b"\n".join([*kept, b"data: " + data]) + b"\n\n"


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Event]:
    """The events of a stream; one that never ends is given up.

    Raises:
        ValueError: an event is longer than any message may be.
    """
    buffer = b""
    async for chunk in chunks:
        # A line break may be cut in two: only what was there before the last three bytes is known to hold no end.
        start = max(0, len(buffer) - 3)
        buffer += chunk
        while (end := _END.search(buffer, start)) is not None:
            yield Event(buffer[: end.end()])
            buffer, start = buffer[end.end() :], 0
        if len(buffer) > _MOST_BYTES:
            raise ValueError(f"an event of more than {_MOST_BYTES} bytes")
    if buffer.strip():
        yield Event(buffer + b"\n\n")


def written(data: bytes) -> bytes:
    """An event of our own."""
    return b"event: message\ndata: " + data + b"\n\n"
