"""The exact text of the answers a server sent, found again by request id."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Final

import httpx2

from envace_sdk.json import Json

__all__ = ["Frames", "tap"]

_KEPT: Final = 8
"""Frames to look back on. Requests that need their text follow one another, and ask for it at once."""

_MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one HTTP body; the text of a longer one is not kept."""


class Frames:
    """The last few messages that came in, as text."""

    def __init__(self) -> None:
        self._texts: deque[str] = deque(maxlen=_KEPT)
        self._bodies: deque[_Body] = deque(maxlen=_KEPT)

    def keep(self, text: str) -> None:
        """Remember a message that came as one text."""
        self._texts.append(text)

    def keep_body(self, content_type: str) -> _Body:
        """Remember an HTTP body that is still to come."""
        body = _Body(content_type)
        self._bodies.append(body)
        return body

    def answer(self, request_id: int) -> str | None:
        """The text of the answer to a request, or None if it is not there any more."""
        for text in self._newest():
            if _answers(text, request_id):
                return text
        return None

    def _newest(self) -> Iterator[str]:
        for body in reversed(self._bodies):
            yield from body.messages()
        yield from reversed(self._texts)


@dataclass
class _Body:
    content_type: str
    _chunks: list[bytes] = field(default_factory=list)
    _size: int = 0

    def add(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size <= _MOST_BYTES:
            self._chunks.append(chunk)
        else:
            self._chunks.clear()

    def messages(self) -> Iterator[str]:
        try:
            text = b"".join(self._chunks).decode()
        except UnicodeDecodeError:
            return
        if self.content_type.startswith("text/event-stream"):
            yield from _event_data(text)
        elif text:
            yield text


def tap(response: httpx2.Response, frames: Frames) -> None:
    """Let the body of a response pass through `frames` as it is read."""
    stream = response.stream
    if isinstance(stream, httpx2.AsyncByteStream) and not response.headers.get("content-encoding"):
        response.stream = _Tapped(stream, frames.keep_body(response.headers.get("content-type", "").lower()))


class _Tapped(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, body: _Body) -> None:
        self._stream = stream
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._body.add(chunk)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def _event_data(text: str) -> Iterator[str]:
    """The data of each server-sent event."""
    data: list[str] = []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data.clear()


def _answers(text: str, request_id: int) -> bool:
    try:
        message: Json = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(message, dict) and str(message.get("id")) == str(request_id) and "method" not in message
