"""What stands before the endpoints of an HTTP server: who may call, and under which name."""

from __future__ import annotations

import hmac

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .address import Names

__all__ = ["BearerGuard", "HostGuard"]


class HostGuard:
    """Refuses requests that a web page sends under a name of its own (DNS rebinding), or from a foreign origin."""

    def __init__(self, app: ASGIApp, names: Names) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 421 or 403, or let the request pass."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            hosts, origins = headers.getlist("host"), headers.getlist("origin")
            if len(hosts) != 1 or not self._names.admit_host(hosts[0]):
                await _refused(421, "this server is not called by that host name")(scope, receive, send)
                return
            if not all(map(self._names.admit_origin, origins)):
                await _refused(403, "requests from that origin are not taken")(scope, receive, send)
                return
        await self._app(scope, receive, send)


class BearerGuard:
    """Refuses requests that do not carry the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, or let the request pass."""
        if scope["type"] == "http":
            given = Headers(scope=scope).get("authorization")
            scheme, _, token = (given or "").partition(" ")
            if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self._token):
                problem = ', error="invalid_token"' if given else ""
                response = _refused(401, "a valid bearer token is required")
                response.headers["WWW-Authenticate"] = f'Bearer realm="envace-sdk"{problem}'
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _refused(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"ok": False, "error": reason}, status_code=status)
