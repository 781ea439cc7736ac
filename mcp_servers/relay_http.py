"""A relay between clients and a server at a URL: bodies pass through as they are, and tapes hear them.

What the server sends is recorded before it is passed on, event by event where it comes as a stream.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

import httpx2
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from envace_sdk.json import Json
from envace_sdk.recordings import Episode, Tape
from envace_sdk.tools.upstream import Target

from .address import Names
from .guards import HostGuard
from .relay_events import EventReader
from .upstream_http import checked_headers, checked_url
from .upstream_oauth import authorization

__all__ = ["HttpRelay", "build_relay"]

logger = logging.getLogger(__name__)

Write = Callable[[Mapping[str, Json]], None]
Answer = Callable[[Json], Json]
"""May answer a request in the server's place, with a JSON-RPC message; None: pass it on."""

SESSION_HEADER: Final = "mcp-session-id"
BODY_LIMIT: Final = 64 * 1024 * 1024
_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "content-length",
        "host",
        "keep-alive",
        "origin",
        "proxy-authenticate",
        "proxy-authorization",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "accept-encoding",
    }
)
_MOST_SESSIONS: Final = 10_000


def build_relay(target: Target, write: Write, *, names: Names | None, answer: Answer | None = None) -> Starlette:
    """The ASGI app that relays `/mcp` to a server.

    Args:
        target: the server, with the headers, token or OAuth to reach it by.
        write: appends a line to the recording.
        names: by which the relay may be called; None: by any.
        answer: may answer in the server's place.

    Raises:
        UpstreamError: the URL or a header cannot be sent.
    """
    relay = HttpRelay(target, write, answer)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with relay.running():
            yield

    methods = ["POST", "GET", "DELETE"]
    guards = [Middleware(HostGuard, names=names)] if names is not None else []
    limit = Middleware(RequestBodyLimitMiddleware, max_body_size=BODY_LIMIT)
    return Starlette(
        routes=[Route("/mcp", relay.handle, methods=methods)], middleware=[*guards, limit], lifespan=lifespan
    )


class HttpRelay:
    """Relays requests of any number of clients."""

    def __init__(self, target: Target, write: Write, answer: Answer | None = None) -> None:
        self._target = target
        self._url = checked_url(target)
        self._headers = checked_headers(target)
        self._write = write
        self._answer = answer
        self._client: httpx2.AsyncClient | None = None
        self._sessions: dict[str, Tape] = {}
        self._stateless = Episode("http")

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While the connections to the server may be used."""
        async with contextlib.AsyncExitStack() as stack:
            auth = await stack.enter_async_context(authorization(self._target)) if self._target.oauth else None
            timeout = httpx2.Timeout(self._target.timeout, read=None)
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
            self._client = await stack.enter_async_context(
                httpx2.AsyncClient(auth=auth, timeout=timeout, limits=limits)
            )
            yield

    async def handle(self, request: Request) -> Response:
        """Relay one request."""
        body = await request.body()
        message = _parsed(body) if request.method == "POST" else None
        if self._answer is not None and (answered := self._answer(message)) is not None:
            return JSONResponse(answered)
        tape = self._tape(request, message)
        tape.from_client(message)
        try:
            response = await self._send(request, body)
        except httpx2.HTTPError as error:
            logger.warning("%s: %s", self._target, error or type(error).__name__)
            fault = {
                "code": -32603,
                "message": f"the recorded server cannot be reached: {error or type(error).__name__}",
            }
            identity = message.get("id") if isinstance(message, dict) else None
            return JSONResponse({"jsonrpc": "2.0", "id": identity, "error": fault}, status_code=502)
        return await self._pass_on(response, tape, message)

    async def _send(self, request: Request, body: bytes) -> httpx2.Response:
        assert self._client is not None  # noqa: S101  running
        headers = {name: value for name, value in request.headers.items() if name not in _HOP_BY_HOP}
        if self._target.token is not None or self._target.oauth is not None:
            headers.pop("authorization", None)
        headers |= self._headers
        outgoing = self._client.build_request(request.method, self._url, headers=headers, content=body or None)
        return await self._client.send(outgoing, stream=True)

    def _tape(self, request: Request, message: Json) -> Tape:
        session = request.headers.get(SESSION_HEADER)
        if session is not None and session in self._sessions:
            return self._sessions[session]
        if isinstance(message, dict) and message.get("method") == "initialize":
            return Tape(Episode("http"))
        return Tape(self._stateless)  # ids are told apart within this one request only

    async def _pass_on(self, response: httpx2.Response, tape: Tape, message: Json) -> Response:
        session = response.headers.get(SESSION_HEADER)
        if session is not None and session not in self._sessions:
            if len(self._sessions) >= _MOST_SESSIONS:
                del self._sessions[next(iter(self._sessions))]
            self._sessions[session] = tape
        headers = {name: value for name, value in response.headers.items() if name not in _HOP_BY_HOP}
        kind = response.headers.get("content-type", "").lower()
        if kind.startswith("text/event-stream"):
            stream = self._events(response, tape, message)
            return StreamingResponse(stream, response.status_code, headers)
        try:
            body = await response.aread()
        finally:
            await response.aclose()
        self._record(tape, _parsed(body), None)
        headers.pop("content-encoding", None)
        return Response(body, response.status_code, headers)

    async def _events(self, response: httpx2.Response, tape: Tape, message: Json) -> AsyncIterator[bytes]:
        """The body, chunk by chunk; what a chunk completes is recorded before it is passed on."""
        events = EventReader()
        request = message.get("id") if isinstance(message, dict) else None
        try:
            async for chunk in response.aiter_bytes():
                for data in events.feed(chunk):
                    self._record(tape, _parsed(data), request)
                yield chunk
        except httpx2.HTTPError as error:
            logger.info("%s: a stream ended: %s", self._target, error or type(error).__name__)
        finally:
            await response.aclose()
            if request is not None:
                tape.interrupted(request)
            if tape.episode is self._stateless:
                tape.close()

    def _record(self, tape: Tape, message: Json, within: Json) -> None:
        if message is not None:
            for line in tape.from_server(message, within=within):
                self._write(line)


def _parsed(body: bytes | str) -> Json:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
