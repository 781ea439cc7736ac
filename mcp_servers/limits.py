"""Requests that are too large, or nested too deeply, are refused before anything reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MAX_BYTES", "MAX_DEPTH", "LimitsApp", "deeper_than"]

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 100

# Possessive, and at the end content without a closing quote: however odd the bytes, each is looked at once.
_NO_BRACKETS: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[^\[\]{}"]++', re.DOTALL)
_OPENING: Final = frozenset(b"[{")


def deeper_than(body: bytes, limit: int) -> bool:
    """Whether JSON text nests more than `limit` arrays and objects in one another. Found out without parsing it."""
    if body.count(b"[") + body.count(b"{") <= limit:
        return False
    depth = 0
    for bracket in _NO_BRACKETS.sub(b"", body):
        if bracket in _OPENING:
            depth += 1
            if depth > limit:
                return True
        else:
            depth -= 1
    return False


class LimitsApp:
    """Lets requests pass whose body is neither too large nor nested too deeply.

    Args:
        app: gets the others.
        max_bytes: of a body.
        max_depth: of its JSON.
        refused: hears of the limit, `bytes` or `depth`, that a request was over.
    """

    def __init__(
        self, app: ASGIApp, max_bytes: int, max_depth: int, refused: Callable[[str], None] | None = None
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._max_depth = max_depth
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 413 or 400, or let the request pass."""
        declared = Headers(scope=scope).get("content-length", "")
        body = bytearray()
        if declared.isdecimal() and int(declared) > self._max_bytes:
            await self._refuse("bytes", scope, receive, send)
            return
        messages: list[Message] = []
        while True:
            message = await receive()
            messages.append(message)
            if message["type"] != "http.request":
                break
            body += message.get("body", b"")
            if len(body) > self._max_bytes:
                await self._refuse("bytes", scope, receive, send)
                return
            if not message.get("more_body", False):
                break
        if deeper_than(bytes(body), self._max_depth):
            await self._refuse("depth", scope, receive, send)
            return

        async def replayed() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replayed, send)

    async def _refuse(self, limit: str, scope: Scope, receive: Receive, send: Send) -> None:
        if self._refused is not None:
            self._refused(limit)
        status, fault, option = {
            "bytes": (413, f"has more than {self._max_bytes} bytes: send less", "--max-request-bytes"),
            "depth": (400, f"nests more than {self._max_depth} deep: send flatter JSON", "--max-depth"),
        }[limit]
        message = f"the request {fault}, or serve with a larger {option}"
        body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": message}}
        await JSONResponse(body, status_code=status)(scope, receive, send)
