"""Bytes that pass every serializer between unchanged.

The SDK writes the frames of a transport from Python values: key order survives that, the spelling of numbers and
escapes does not. So a byte-true answer holds a marker, and the transport puts the bytes in its place.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Splice", "SplicingApp"]


class Splice:
    """Markers that stand for bytes, and the frames in which they are replaced."""

    def __init__(self) -> None:
        # Not to be guessed: a marker that a client could send would be replaced in what it is answered.
        self._prefix = f"envace-splice-{secrets.token_hex(16)}-"
        self._pattern = re.compile(b'"' + self._prefix.encode() + rb'(\d+)"')
        self._pieces: list[bytes] = []

    def mark(self, items: Sequence[bytes]) -> list[str]:
        """A list to put in place of an array of these items."""
        self._pieces.append(b",".join(items))
        return [f"{self._prefix}{len(self._pieces) - 1}"] if items else []

    def apply(self, frame: bytes) -> bytes:
        """The frame with its markers replaced."""
        if self._prefix.encode() not in frame:
            return frame
        return self._pattern.sub(lambda match: self._pieces[int(match[1])], frame)


class SplicingApp:
    """An ASGI app whose response bodies go through a splice. A marker must not straddle two body messages."""

    def __init__(self, app: ASGIApp, splice: Splice) -> None:
        self._app = app
        self._splice = splice

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the app with its response spliced."""
        started: Message | None = None

        async def spliced(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = message  # held back: its content-length may have to change
                return
            if message["type"] != "http.response.body":
                await send(message)
                return
            body = self._splice.apply(message.get("body", b""))
            if started is not None:
                headers = MutableHeaders(raw=started["headers"])
                if "content-length" in headers and not message.get("more_body", False):
                    headers["content-length"] = str(len(body))
                await send({**started, "headers": headers.raw})
                started = None
            await send({**message, "body": body})

        await self._app(scope, receive, spliced)
