"""MCP over streamable HTTP: the worlds of one or several toolsets, each at its own path.

========================================  ==========================================================================
`/<toolset>/mcp`                          the toolset, in the world that the header `x-envace-world` names, or the
                                          default one
`/<toolset>/worlds/<world>/mcp`           the toolset, in that world
`/mcp`, `/worlds/<world>/mcp`             the same, where only one toolset is served
`/control/<operation>`                    control of the worlds, where a token for it is set
`/health`, `/healthz`                     whether the server is up
`/readyz`                                 whether it can serve: 503 while the store cannot be reached
`/metrics`                                what it has counted, for Prometheus; where clients need a token, so does this
========================================  ==========================================================================

The world is found by the request alone: the protocol of 2026-07-28 has no sessions.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from envace_sdk.errors import EnvaceError, ToolsetError, WorldError
from envace_sdk.rehearse import Worlds

from .address import BACKLOG, Names
from .control import OPERATIONS, Control
from .exact import Splice, SplicingApp
from .guards import BearerGuard, HostGuard
from .limits import MAX_BYTES, MAX_DEPTH, LimitsApp
from .lost_answers import HangUpApp
from .metrics import Metrics
from .resumption import RETRY_MILLISECONDS, Resumption
from .server import RehearsedServer
from .watched import watched

__all__ = ["HttpOptions", "build_app", "serve"]

logger = logging.getLogger(__name__)

WORLD_HEADER: Final = "x-envace-world"
_WORLD_KEY: Final = "envace.world"
_TOOLSET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_RESERVED: Final = ("control", "health", "healthz", "mcp", "metrics", "readyz", "worlds")
CONTROL_LIMIT: Final = 256 * 1024 * 1024
"""Largest control request, in bytes: restoring sends a whole state."""
KEEP_ALIVE_SECONDS: Final = 75
"""How long an idle connection is kept: longer than load balancers keep theirs, or they would send into closed ones."""
SHUTDOWN_SECONDS: Final = 3.0
"""How long requests in flight may take to end, unless said otherwise."""


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """How an app serves.

    Args:
        names: by which it may be called; None: by any, for what stands behind a bearer token.
        auth_token: that MCP clients must send.
        control_token: that requests to `/control` must send; without one there is no `/control`.
        json_response: answer handshake clients with plain JSON instead of an event stream.
        body_limit: largest MCP request, in bytes.
        depth_limit: deepest nesting of its JSON.
        sessionless: whether a handshake client may find another process at each request: it gets no session, and
            nothing that would need one.
        ready: whether calls can be served now.
        default_world: for requests that name none.
        exact, page_size, version: as `RehearsedServer`.
    """

    names: Names | None
    auth_token: str | None = None
    control_token: str | None = None
    json_response: bool = False
    body_limit: int = MAX_BYTES
    depth_limit: int = MAX_DEPTH
    sessionless: bool = False
    ready: Callable[[], Awaitable[bool]] | None = None
    default_world: str = "default"
    exact: bool = False
    page_size: int | None = None
    version: str = ""


def build_app(
    realms: Mapping[str, Worlds], control: Control, options: HttpOptions, metrics: Metrics | None = None
) -> Starlette:
    """The ASGI app that serves these toolsets.

    Raises:
        ToolsetError: a toolset's name cannot be a path, or is one that the server needs.
    """
    managers: list[StreamableHTTPSessionManager] = []
    metrics = metrics or Metrics()
    routes = watched(realms, metrics, options.auth_token, options.ready)
    if options.control_token is not None:
        endpoint = RequestBodyLimitMiddleware(_ControlEndpoint(control), CONTROL_LIMIT)
        routes.append(Route("/control/{operation}", BearerGuard(endpoint, options.control_token)))
    for toolset, worlds in realms.items():
        if not _TOOLSET.fullmatch(toolset) or toolset in _RESERVED:
            raise ToolsetError(f"{toolset!r} cannot be a path: give the toolset another name, --tools NAME={toolset}")
        manager, served = _mcp_endpoint(worlds, options, metrics)
        managers.append(manager)
        for prefix in (f"/{toolset}", "") if len(realms) == 1 else (f"/{toolset}",):
            # Without sessions there is nothing to listen to, nor to end.
            methods = ["POST"] if options.sessionless else None
            paths = (f"{prefix}/mcp", f"{prefix}/worlds/{{world}}/mcp")
            routes += [Route(path, served, methods=methods) for path in paths]

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as running:
            for manager in managers:
                await running.enter_async_context(manager.run())
            metrics.started()
            yield

    guards = [Middleware(HostGuard, names=options.names)] if options.names is not None else []
    return Starlette(routes=routes, middleware=guards, lifespan=lifespan)


def _mcp_endpoint(
    worlds: Worlds, options: HttpOptions, metrics: Metrics
) -> tuple[StreamableHTTPSessionManager, ASGIApp]:
    toolset = worlds.environment.toolset
    server = RehearsedServer(
        worlds,
        world=lambda request: request.scope[_WORLD_KEY],
        exact=options.exact,
        page_size=options.page_size,
        version=options.version,
        sessionless=options.sessionless,
        meter=metrics.of(toolset.name, frozenset(tool.name for tool in toolset)),
    )
    disconnects = server.playback.surface.disconnects and not options.sessionless
    manager = StreamableHTTPSessionManager(
        server,
        event_store=Resumption() if disconnects else None,
        retry_interval=RETRY_MILLISECONDS if disconnects else None,
        json_response=options.json_response,
        stateless=options.sessionless,
        max_request_body_size=options.body_limit,
    )
    endpoint: ASGIApp = _WorldEndpoint(HangUpApp(manager.asgi_app), worlds, options.default_world)
    if options.exact:
        server.catalogue.splice = Splice()
        endpoint = SplicingApp(endpoint, server.catalogue.splice)
    endpoint = LimitsApp(endpoint, options.body_limit, options.depth_limit, metrics.refused)
    if options.auth_token is not None:
        endpoint = BearerGuard(endpoint, options.auth_token)
    return manager, endpoint


class _WorldEndpoint:
    """Finds the world that a request is for and notes it in the scope."""

    def __init__(self, app: ASGIApp, worlds: Worlds, default: str) -> None:
        self._app = app
        self._worlds = worlds
        self._default = default

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            name = self._worlds.admit(self._name(scope))  # made only when it is called upon
        except EnvaceError as error:
            body = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": str(error)}}
            status = 400 if isinstance(error, WorldError) else 500
            await JSONResponse(body, status_code=status)(scope, receive, send)
            return
        await self._app({**scope, _WORLD_KEY: name}, receive, send)

    def _name(self, scope: Scope) -> str:
        by_path: str | None = scope["path_params"].get("world")
        named = dict.fromkeys(Headers(scope=scope).getlist(WORLD_HEADER))
        if len(named) > 1:
            raise WorldError(f"several headers {WORLD_HEADER} name different worlds: {', '.join(map(repr, named))}")
        by_header = next(iter(named), None)
        if by_path is not None and by_header not in (None, by_path):
            raise WorldError(f"the path names world {by_path!r}, the header {WORLD_HEADER} another: {by_header!r}")
        return by_path or by_header or self._default


class _ControlEndpoint:
    """The operations of control as `POST /control/<operation>`, with their arguments in a JSON body."""

    def __init__(self, control: Control) -> None:
        self._control = control

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await (await self._response(request))(scope, receive, send)

    async def _response(self, request: Request) -> Response:
        operation = request.path_params["operation"]
        if operation not in OPERATIONS:
            return JSONResponse({"ok": False, "error": f"operations: {', '.join(OPERATIONS)}"}, status_code=404)
        if request.method != "POST":
            return JSONResponse({"ok": False, "error": "use POST"}, status_code=405, headers={"Allow": "POST"})
        body = await request.body()
        try:
            arguments = json.loads(body) if body else {}
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            return JSONResponse({"ok": False, "error": "expected a JSON object as the body"}, status_code=400)
        answer = await self._control.answer({**arguments, "do": operation})
        return _AsciiResponse(answer, status_code=200 if answer["ok"] else 400)


class _AsciiResponse(JSONResponse):
    """JSON in ASCII: a world may hold texts, lone surrogates, that UTF-8 cannot."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":")).encode()


class _Server(uvicorn.Server):
    """Uvicorn that ends with its work done, where the original kills the process with the signal it got."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        handled = (signal.SIGINT, signal.SIGTERM)
        try:
            before = {number: signal.signal(number, self.handle_exit) for number in handled}
        except ValueError:  # not the main thread
            yield
            return
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Sharing(_Server):
    """One of several processes that accept from one socket.

    asyncio accepts as many connections at a time as its backlog has: one process would take all that wait, and those
    beside it none. So it is told of a backlog of one, and the socket of the real one.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As the original."""
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(BACKLOG)


async def serve(
    app: ASGIApp, listener: socket.socket, *, grace: float = SHUTDOWN_SECONDS, lifeline: int | None = None
) -> None:
    """Serve until SIGINT or SIGTERM, or the end of `lifeline`; requests in flight get `grace` seconds to end.

    `lifeline` is a file descriptor that comes to its end with the process that started this one.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        backlog=BACKLOG if lifeline is None else 1,
        timeout_graceful_shutdown=grace,  # type: ignore[arg-type]  # it is handed to asyncio, which takes fractions
    )
    server = _Server(config) if lifeline is None else _Sharing(config)
    loop = asyncio.get_running_loop()
    if lifeline is not None:
        loop.add_reader(lifeline, server.handle_exit, signal.SIGTERM, None)
    try:
        await server.serve(sockets=[listener])
    finally:
        if lifeline is not None:
            loop.remove_reader(lifeline)
