"""What stands beside MCP for those who watch over servers: whether one is up, whether it can serve, what it counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from envace_sdk.rehearse import Worlds

from .guards import BearerGuard
from .metrics import CONTENT_TYPE, Metrics

__all__ = ["watched"]


def watched(
    realms: Mapping[str, Worlds],
    metrics: Metrics,
    auth_token: str | None,
    can_serve: Callable[[], Awaitable[bool]] | None,
) -> list[BaseRoute]:
    """The routes `/health`, `/healthz`, `/readyz` and `/metrics`.

    The first three say nothing of what is served, and ask for no token: what probes a server seldom has one.
    """

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    readiness = _Readiness(can_serve)

    async def ready(_: Request) -> Response:
        if await readiness():
            return JSONResponse({"status": "ok"})
        return JSONResponse({"status": "the store cannot be reached"}, status_code=503)

    shown: ASGIApp = _Counted(realms, metrics)
    if auth_token is not None:
        shown = BearerGuard(shown, auth_token)
    return [
        Route("/health", health),
        Route("/healthz", health),
        Route("/readyz", ready),
        Route("/metrics", shown, methods=["GET"]),
    ]


class _Readiness:
    """Whether a server can serve, found out once a second at most: who asks needs no token."""

    def __init__(self, can_serve: Callable[[], Awaitable[bool]] | None) -> None:
        self._can_serve = can_serve
        self._lock = asyncio.Lock()
        self._found = True
        self._known_until = 0.0

    async def __call__(self) -> bool:
        if self._can_serve is None:
            return True
        async with self._lock:
            if time.monotonic() >= self._known_until:
                self._found = await self._can_serve()
                self._known_until = time.monotonic() + 1.0
            return self._found


class _Counted:
    """What was counted, as text."""

    def __init__(self, realms: Mapping[str, Worlds], metrics: Metrics) -> None:
        self._realms = realms
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        for toolset, worlds in self._realms.items():
            self._metrics.holds(toolset, len(worlds))
        text = await asyncio.to_thread(self._metrics.text)
        await Response(text, media_type=CONTENT_TYPE)(scope, receive, send)
