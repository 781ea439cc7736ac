"""A low-level MCP server that answers `tools/list` and `tools/call` from one rehearsed environment.

Both are answered ahead of the SDK's handlers, by a middleware and in wire form: the SDK's own way validates results
against one era's types, drops what it does not know, and fails a whole list over one odd tool.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    REQUEST_TIMEOUT,
    SERVER_INFO_META_KEY,
    CallToolRequestParams,
    PaginatedRequestParams,
    RequestParams,
    methods,
)
from pydantic_core import PydanticSerializationError, to_json

from envace_sdk.errors import (
    BusyWorldError,
    DoubtfulSaveError,
    EnvaceError,
    MissError,
    OverdueCallError,
    UnknownToolError,
    UnsavedWorldError,
)
from envace_sdk.evidence.label import Rehearsed, label
from envace_sdk.json import Json
from envace_sdk.rehearse import Delivery, Worlds
from envace_sdk.tools.fixture import TOOL_CALL, Fixture
from envace_sdk.tools.model import ToolCall, ToolResult

from .catalogue import Catalogue
from .conversation import Questions
from .eras import Era, era_of, project_result
from .lost_answers import lose
from .playback import Answer, Playback, fault_of
from .progress import Heartbeat

if TYPE_CHECKING:  # counting is only for HTTP
    from .metrics import CallMeter

__all__ = ["RehearsedServer"]

logger = logging.getLogger(__name__)

Context: TypeAlias = ServerRequestContext[Any, Any]
NOT_RECORDED = -32050
"""The JSON-RPC error where only recordings may answer and none does."""


class RehearsedServer(Server[Any]):
    """Serves the worlds of one environment; hand it to `mcp.Client`, `stdio.serve` or `http.build_app`.

    Args:
        worlds: the worlds of the environment, made when first called upon.
        world: the name of the world that calls go to, or a function that finds it by the HTTP request.
        exact: list every definition as it was loaded, quarantined ones too, whatever the client's era.
        page_size: most tools on a page of the list; default: all on one.
        progress_interval: seconds after which a call that is still running reports progress, and again each time.
        hang_up: closes the connection, for transports that have one and no more.
        sessionless: whether a client of the handshake era may find another process at each request.
        meter: counts the calls.
    """

    def __init__(
        self,
        worlds: Worlds,
        *,
        world: str | Callable[[Any], str] = "default",
        exact: bool = False,
        page_size: int | None = None,
        progress_interval: float = 1.0,
        version: str = "",
        hang_up: Callable[[], None] | None = None,
        sessionless: bool = False,
        meter: CallMeter | None = None,
    ) -> None:
        toolset = worlds.environment.toolset
        self.playback = Playback(worlds, self._world_of)
        super().__init__(
            **self.playback.surface.identity(toolset.name, version),
            on_list_tools=self._on_list_tools,  # type: ignore[arg-type]  # the SDK takes wire dicts too
            on_call_tool=self._on_call_tool,  # type: ignore[arg-type]
            on_subscriptions_listen=ListenHandler(self.playback.bus),
            get_tool_input_schema=lambda name: toolset[name].input_schema if name in toolset else None,
        )
        self.worlds = worlds
        self.catalogue = Catalogue(toolset, exact=exact, page_size=page_size)
        self.middleware.append(self._answer)
        self._answers = {"tools/call": self._call, "tools/list": self._list, **self._add_recorded_methods()}
        self._world = world
        self._progress_interval = progress_interval
        self._hang_up = hang_up
        self._sessionless = sessionless
        self._meter = meter

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """As the SDK's, with `listChanged` for tools: HTTP transports ask for the options without arguments."""
        announced = self.playback.surface.announced
        options = notification_options or NotificationOptions("prompts" in announced, "resources" in announced, True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)

    async def _answer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """The middleware: answer tool requests, and what else was recorded, here; leave the rest to the SDK."""
        answer = self._answers.get(ctx.method)
        era = era_of(ctx.protocol_version)
        unready = not (era.is_stateless or self._sessionless) and ctx.session.client_params is None
        if answer is None or ctx.request_id is None or unready:
            return await call_next(ctx)  # before a handshake the SDK refuses, in its own words
        params = ctx.params or {}
        if ctx.method in methods.SPEC_CLIENT_METHODS:
            try:
                methods.validate_client_request(ctx.method, ctx.protocol_version, params)
            except KeyError:
                return await call_next(ctx)  # not a method of this revision
        try:
            return await answer(ctx, params, era)
        except Questions as asked:
            return self._stamped(asked.wire, {}, era)

    def _add_recorded_methods(self) -> dict[str, Answer]:
        """Let the SDK know what is answered, for it tells clients; answering is `_answer`'s."""
        answers: dict[str, Answer] = {}
        for method, params_type in self.playback.surface.methods.items():
            answer = self.playback.answer(method)
            if answer is not None:
                answers[method] = partial(self._played, answer)
                self.add_request_handler(method, params_type, partial(self._handle, answer))
        return answers

    async def _played(self, answer: Answer, context: Context, params: Mapping[str, Json], era: Era) -> dict[str, Any]:
        wire = await answer(context, params, era)
        return self._stamped(wire, wire.pop("_meta", {}), era)

    async def _handle(self, answer: Answer, context: Context, _: RequestParams) -> dict[str, Any]:
        return await self._played(answer, context, context.params or {}, era_of(context.protocol_version))

    def _world_of(self, context: Context) -> str:
        return self._world if isinstance(self._world, str) else self._world(context.request)

    async def _list(self, context: Context, params: Mapping[str, Json], era: Era) -> dict[str, Any]:  # noqa: ARG002
        page = self.catalogue.page(era, params.get("cursor"))
        return self._stamped(page, {}, era)

    async def _call(self, context: Context, params: Mapping[str, Json], era: Era) -> dict[str, Any]:
        client = self.playback.caller(context, params, era)
        inputs = await self.playback.converse(context, TOOL_CALL, params, era, client)
        call = ToolCall(params["name"], _json_only(params.get("arguments") or {}), inputs=inputs, client=client)
        world = self._world_of(context)
        with Heartbeat(context.session.report_progress, interval=self._progress_interval):
            result, fixture, delivery = await self._metered(world, call)
            if delivery is not None:
                await asyncio.sleep(delivery.delay)
        if delivery is not None and delivery.lost is not None:
            await lose(result, delivery, context.request, self._hang_up)
        if fixture is not None:
            await self.playback.play(context, fixture.notices, era, client)
            if result.fault is not None:
                raise fault_of(fixture)
        wire = self._stamped(project_result(result, era), result.meta, era)
        return _as_sent(wire, call)

    async def _metered(self, world: str, call: ToolCall) -> tuple[ToolResult, Fixture | None, Delivery | None]:
        if self._meter is None:
            return await self._rehearsed(world, call)
        began = time.perf_counter()
        try:
            answer = await self._rehearsed(world, call)
        except BaseException as error:
            self._meter.failed(call.name, error, time.perf_counter() - began)
            raise
        self._meter.answered(call.name, answer[0], time.perf_counter() - began)
        return answer

    async def _rehearsed(self, world: str, call: ToolCall) -> tuple[ToolResult, Fixture | None, Delivery | None]:
        try:
            rehearsal = await self.worlds.perform(world, call)
        except UnknownToolError as error:
            environment = self.worlds.environment
            if (fixture := environment.recall(TOOL_CALL, call, (await self.worlds.peek(world)).state)) is not None:
                return fixture.result, fixture, None
            if (found := self._quarantine_notice(call.name)) is None:
                raise MCPError(INVALID_PARAMS, str(error)) from error
            return self._failed(world, found), None, None
        except MissError as error:
            logger.warning("calling %r in world %r: %s", call.name, world, error)
            raise MCPError(NOT_RECORDED, str(error)) from error
        except (BusyWorldError, DoubtfulSaveError, OverdueCallError, UnsavedWorldError) as error:
            # The server's trouble, which no client may take for the answer of a tool.
            logger.warning("calling %r in world %r: %s", call.name, world, error)
            code = REQUEST_TIMEOUT if isinstance(error, OverdueCallError) else INTERNAL_ERROR
            raise MCPError(code, str(error)) from error
        except EnvaceError as error:
            logger.warning("calling %r in world %r: %s", call.name, world, error)
            return self._failed(world, f"This call cannot be rehearsed: {error}"), None, None
        except Exception as error:
            logger.exception("calling %r in world %r", call.name, world)
            raise MCPError(INTERNAL_ERROR, "Internal error; the server's log has the details") from error
        return rehearsal.result, rehearsal.fixture, rehearsal.delivery

    def _quarantine_notice(self, name: str) -> str | None:
        """What to say to a client that calls a tool which `exact` lists although it is quarantined."""
        toolset = self.worlds.environment.toolset
        if not any(
            isinstance(definition, dict) and definition.get("name") == name for definition in toolset.quarantined
        ):
            return None
        findings = "; ".join(str(finding) for finding in toolset.findings if finding.tool == name)
        return f"The definition of {name} is malformed, it cannot be rehearsed: {findings}"

    def _failed(self, world: str, text: str) -> ToolResult:
        """An error of the rehearsal, not of the environment rehearsed: the label gives it no confidence."""
        version = self.worlds.get(world).state.version if world in self.worlds else 0
        evidence = Rehearsed(
            layer="none",
            confidence=0.0,
            outcome="unknown",
            world=world,
            version=version,
            toolset=self.worlds.environment.toolset.name,
            reason=text,
        )
        return ToolResult(({"type": "text", "text": text},), is_error=True, meta=label(evidence))

    def _stamped(self, wire: dict[str, Any], meta: Mapping[str, Json], era: Era) -> dict[str, Any]:
        if era.is_stateless:
            meta = {**meta, SERVER_INFO_META_KEY: {"name": self.name, "version": self.version}}
        if meta:
            wire["_meta"] = dict(meta)
        return wire

    async def _on_list_tools(self, context: Context, params: PaginatedRequestParams | None) -> dict[str, Any]:
        """For clients that skip `initialize` but announce `initialized`, which the SDK lets pass."""
        cursor = params.cursor if params is not None else None
        return await self._list(context, {"cursor": cursor}, era_of(context.protocol_version))

    async def _on_call_tool(self, context: Context, params: CallToolRequestParams) -> dict[str, Any]:
        """As `_on_list_tools`."""
        call = {"name": params.name, "arguments": params.arguments}
        return await self._call(context, call, era_of(context.protocol_version))


def _as_sent(wire: dict[str, Any], call: ToolCall) -> dict[str, Any]:
    """Some transports would fail on it, and others hang, when an answer holds what JSON cannot: a recording may.

    Raises:
        MCPError: internal error.
    """
    try:
        to_json(wire)
    except (PydanticSerializationError, UnicodeError) as error:
        logger.warning("the answer to %r cannot be written as JSON: %s", call.name, error)
        raise MCPError(INTERNAL_ERROR, "The answer cannot be written as JSON") from error
    return wire


def _json_only(arguments: Mapping[str, Json]) -> Mapping[str, Json]:
    """Transports differ in letting NaN and lone surrogates pass, which no JSON answer could give back.

    Raises:
        MCPError: invalid params.
    """
    try:
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise MCPError(INVALID_PARAMS, f"The arguments are not JSON: {error}") from error
    return arguments
