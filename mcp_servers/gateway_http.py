"""A gateway over HTTP, before a server at a URL. Any number of clients; requests pass as they are but for tool calls.

A call that was sent on is heard to its end, and its outcome written down, also when its client has left meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import logging
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any, Final

import httpx2
from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from envace_sdk.evidence.secrets import install_key
from envace_sdk.json import Json
from envace_sdk.tools.upstream import Target

from .address import Names
from .gateway_bodies import Stream, as_it_is, body_of, headers_of, message_of, sent
from .gateway_calls import Caller, Gate, NotTaken
from .gateway_events import events, written
from .gateway_frames import GONE, CannotPass, cleaned, dump, error, is_answer, is_call, parse
from .gateway_hearing import Unreadable, hear, purged, told
from .guards import HostGuard
from .relay_http import BODY_LIMIT, SESSION_HEADER, HttpRelay

__all__ = ["THREAD_HEADER", "HttpGateway", "build_gateway"]

logger = logging.getLogger(__name__)

Message = dict[str, Json]
_EVENTS: Final = "text/event-stream"
THREAD_HEADER: Final = "x-envace-thread"
_MOST_SESSIONS: Final = 10_000
_RESUMPTIONS: Final = 100
_LATE: Final = frozenset({408, 499})
"""Refusals that come when a request may have been at work already."""


def build_gateway(gate: Gate, target: Target, *, thread: str, patience: float, names: Names | None) -> Starlette:
    """The ASGI app that guards `/mcp`.

    Args:
        gate: what each tool call passes.
        target: the server, with the headers, token or OAuth to reach it by.
        thread: the conversation of clients that have no session, as the ledger has it, and the others' prefix.
        patience: seconds to wait for a client's user to answer a question.
        names: by which the gateway may be called; None: by any.

    Raises:
        UpstreamError: the URL or a header cannot be sent.
    """
    gateway = HttpGateway(gate, target, thread=thread, patience=patience)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with gateway.running():
            yield
            await gateway.settled()

    guards = [Middleware(HostGuard, names=names)] if names is not None else []
    limit = Middleware(RequestBodyLimitMiddleware, max_body_size=BODY_LIMIT)
    routes = [Route("/mcp", gateway.handle, methods=["POST", "GET", "DELETE"])]
    return Starlette(routes=routes, middleware=[*guards, limit], lifespan=lifespan)


class _Passed(NotTaken):
    """The server refused a request as a whole: its own answer is passed on."""

    def __init__(self, response: Response) -> None:
        super().__init__(f"the server refused the request with status {response.status_code}")
        self.response = response


class HttpGateway(HttpRelay):
    """Answers requests of any number of clients. See `build_gateway` for what it is made of."""

    def __init__(self, gate: Gate, target: Target, *, thread: str, patience: float) -> None:
        super().__init__(target, lambda _: None)
        self._gate = gate
        self._thread = thread
        self._patience = patience
        self._offers: OrderedDict[str, Json] = OrderedDict()
        """By session, the capabilities that its client declared."""
        self._asked: dict[str, tuple[str | None, asyncio.Future[Json]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._key = install_key()

    async def settled(self) -> None:
        """Wait a moment for the outcomes of calls that were sent."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5.0)

    async def handle(self, request: Request) -> Response:
        """Answer one request."""
        if request.method != "POST":
            return await self._passed(request, await request.body(), None)
        try:
            message = parse(await request.body())
        except CannotPass as problem:
            return JSONResponse(problem.answer, status_code=400) if problem.answer else Response(status_code=202)
        if is_call(message):
            return await self._call(request, message)
        if is_answer(message) and (waiting := self._waiting(request, message)) is not None:
            if not waiting.done():
                waiting.set_result(message.get("result"))
            return Response(status_code=202)
        return await self._passed(request, dump(cleaned(message)), message)

    # Tool calls

    async def _call(self, request: Request, message: Message) -> Response:
        stream = Stream()
        task = asyncio.create_task(self._work(request, message, stream))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            first = await stream.queue.get()
        except asyncio.CancelledError:
            stream.is_open = False
            raise
        return first if isinstance(first, Response) else StreamingResponse(sent(first, stream), media_type=_EVENTS)

    async def _work(self, request: Request, message: Message, stream: Stream) -> None:
        streams = _EVENTS in request.headers.get("accept", "")
        session = request.headers.get(SESSION_HEADER)
        offers = self._offers.get(session) if session is not None else None
        elicit = self._elicitor(session, stream) if streams else None
        caller = Caller(self._thread_of(request), offers, elicit, lambda: not stream.is_open)

        async def forward(plain: Message) -> Message:
            return await self._asked_of_server(request, plain, stream if streams else None)

        try:
            answer = await self._gate.call(message, caller, forward)
            stream.queue.put_nowait(Response(told(answer), media_type="application/json"))
        except _Passed as problem:
            stream.queue.put_nowait(problem.response)
        except BaseException:
            stream.queue.put_nowait(JSONResponse(error(message["id"], -32603, "the gateway failed"), status_code=500))
            raise

    async def _asked_of_server(self, request: Request, message: Message, stream: Stream | None) -> Message:
        """Send a call and hear the stream to its end. Raises: NotTaken, or whatever leaves open what happened."""
        try:
            response = await self._send(request, dump(message))
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as problem:
            raise NotTaken(f"it cannot be reached: {problem or type(problem).__name__}") from problem
        after: str | None = None
        for _ in range(_RESUMPTIONS):
            if 400 <= response.status_code < 500 and response.status_code not in _LATE and after is None:
                raise _Passed(await as_it_is(response))
            if response.status_code >= 300:
                await response.aclose()
                raise ConnectionError(f"the server answered with status {response.status_code}")
            if not response.headers.get("content-type", "").lower().startswith(_EVENTS):
                reply = message_of(await body_of(response))
                if reply is None or not is_answer(reply):
                    raise ConnectionError("the server answered with no JSON-RPC message")
                return reply
            try:
                async for event in events(response.aiter_bytes()):
                    after = event.id or after
                    heard = message_of(event.data)
                    if heard is not None and is_answer(heard) and heard["id"] == message["id"]:
                        return heard
                    if heard is not None and stream is not None:
                        stream.send(written(told(cleaned(heard))))
            except httpx2.HTTPError as problem:
                logger.info("%s: a stream broke: %r", self._target, problem)
            finally:
                await response.aclose()
            if after is None:
                break
            response = await self._resumed(request, after)
        raise ConnectionError("the server ended the stream without an answer")

    async def _resumed(self, request: Request, after: str) -> httpx2.Response:
        """Go on hearing a stream that the server, or the network, has cut off."""
        assert self._client is not None  # noqa: S101  running
        await asyncio.sleep(0.5)
        kept = {"authorization", SESSION_HEADER, "mcp-protocol-version"}
        headers = {name: value for name, value in request.headers.items() if name in kept}
        headers |= {**self._headers, "accept": _EVENTS, "last-event-id": after}
        return await self._client.send(self._client.build_request("GET", self._url, headers=headers), stream=True)

    def _elicitor(
        self, session: str | None, stream: Stream
    ) -> Callable[[Mapping[str, Json]], Coroutine[Any, Any, Json]]:
        async def elicit(params: Mapping[str, Json]) -> Json:
            identity = f"envace-gateway-{uuid.uuid4()}"
            waiting: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
            self._asked[identity] = (session, waiting)
            try:
                ask: Message = {
                    "jsonrpc": "2.0",
                    "id": identity,
                    "method": "elicitation/create",
                    "params": dict(params),
                }
                stream.send(written(dump(ask)))
                return await asyncio.wait_for(waiting, self._patience)
            except TimeoutError:
                return None
            finally:
                del self._asked[identity]

        return elicit

    def _waiting(self, request: Request, message: Message) -> asyncio.Future[Json] | None:
        identity = message["id"]
        session, waiting = self._asked.get(identity, (None, None)) if isinstance(identity, str) else (None, None)
        return waiting if session == request.headers.get(SESSION_HEADER) else None

    def _thread_of(self, request: Request) -> str:
        """The conversation: a client's session, else its credentials. Neither stands in the ledger as it is."""
        said = request.headers.get(SESSION_HEADER) or request.headers.get("authorization") or ""
        own = hmac.new(self._key, said.encode(), hashlib.sha256).hexdigest()[:16] if said else ""
        named = request.headers.get(THREAD_HEADER, "")[:100]
        return "/".join(part for part in (self._thread, own, named) if part)

    # All else

    async def _passed(self, request: Request, body: bytes, message: Message | None) -> Response:
        identity = message.get("id") if message is not None else None
        try:
            response = await self._send(request, body)
        except httpx2.HTTPError as problem:
            logger.warning("%s: %r", self._target, problem)
            why = f"the server behind the gateway cannot be reached: {problem or type(problem).__name__}"
            return JSONResponse(error(identity, GONE, why), status_code=502)
        if message is not None and message.get("method") == "initialize":
            self._remember(response, message.get("params"))
        if not response.headers.get("content-type", "").lower().startswith(_EVENTS):
            return await as_it_is(response)
        return StreamingResponse(self._cleaned(response), response.status_code, headers_of(response))

    async def _cleaned(self, response: httpx2.Response) -> AsyncIterator[bytes]:
        try:
            async for event in events(response.aiter_bytes()):
                try:
                    clean = purged(event.data, hear(event.data))
                except Unreadable as problem:
                    logger.error("%s: an event was dropped: %s", self._target, problem)
                    continue
                yield event.raw if clean == event.data else event.with_data(clean)
        except (httpx2.HTTPError, ValueError) as problem:
            logger.info("%s: a stream ended: %r", self._target, problem)
        finally:
            await response.aclose()

    def _remember(self, response: httpx2.Response, params: Json) -> None:
        session = response.headers.get(SESSION_HEADER)
        if session is not None and isinstance(params, dict):
            self._offers[session] = params.get("capabilities")
            if len(self._offers) > _MOST_SESSIONS:
                self._offers.popitem(last=False)
