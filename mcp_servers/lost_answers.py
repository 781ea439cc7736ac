"""Answers that are lost on purpose: requests that time out, and connections that close instead of an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

import anyio
from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, REQUEST_TIMEOUT
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from envace_sdk.rehearse import Delivery
from envace_sdk.tools.model import ToolResult

__all__ = ["HANG_UP", "HangUpApp", "lose"]

HANG_UP: Final = "envace.hang_up"
"""In the scope of an HTTP request: what closes its connection."""
_PATIENCE: Final = 1.0
"""Seconds that a connection is given to close."""


async def lose(
    result: ToolResult, delivery: Delivery, request: Any, hang_up: Callable[[], None] | None = None
) -> NoReturn:
    """Let a request go without its answer, as the fault wants it.

    Args:
        result: says in words what happened, and carries the label.
        delivery: how the answer is lost.
        request: the HTTP request, if it came by one.
        hang_up: closes the connection, where there is only one.

    Raises:
        MCPError: a timeout's bound has passed; or the connection closed, for those that hear of it all the same.
    """
    if delivery.lost == "timeout":
        await anyio.sleep(float("inf") if delivery.bound is None else delivery.bound)
        raise MCPError(REQUEST_TIMEOUT, result.first_text, dict(result.meta))
    closing = hang_up if request is None else request.scope.get(HANG_UP)
    if closing is not None:
        closing()
        await anyio.sleep(_PATIENCE)
    raise MCPError(CONNECTION_CLOSED, result.first_text, dict(result.meta))


class HangUpApp:
    """Closes the connection of a request, in the middle of its response, when told to."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The app's own answer, or the beginning of one."""
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        with anyio.CancelScope() as cancelling:
            await self._app({**scope, HANG_UP: cancelling.cancel}, receive, sending)
        if cancelling.cancelled_caught and not started:
            # A body that is announced and never comes: the server has no way left but to close the connection.
            headers = [(b"content-type", b"application/json"), (b"content-length", b"1")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
