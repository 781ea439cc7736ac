"""Serving back what was recorded besides answers of tools: resources, prompts, completions, and all that is sent
while a request is under way.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from mcp import MCPError
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.types import INVALID_PARAMS

from envace_sdk.evidence.label import Rehearsed, label, strip_result
from envace_sdk.json import Json
from envace_sdk.recordings import Client, Event, Turn
from envace_sdk.rehearse import Worlds
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall

from .callers import Context, caller, hears_level, notify, set_level
from .conversation import Conversation
from .eras import Era
from .surface import LISTS, Surface

__all__ = ["Answer", "Playback", "fault_of"]

logger = logging.getLogger(__name__)

Answer: TypeAlias = Callable[[Context, Mapping[str, Json], Era], Awaitable[dict[str, Any]]]

_CACHED: Final = frozenset({*LISTS, "resources/read"})
_ACKNOWLEDGED: Final = frozenset({"logging/setLevel", "resources/subscribe", "resources/unsubscribe"})
_NOBODY: Final = Client()
_RESOURCE_NOT_FOUND: Final = -32002
"""What the handshake era answers for a resource that is not there."""


class Playback:
    """Answers from the recordings of one environment."""

    def __init__(self, worlds: Worlds, world: Callable[[Context], str]) -> None:
        self._worlds = worlds
        self._world = world
        self._environment = worlds.environment
        self.surface = Surface.of(worlds.environment.recorded)
        self.bus = InMemorySubscriptionBus()
        self._is_recorded = bool(self.surface.methods) or any(
            fixture.call.client is not None for fixture in worlds.environment.recorded.fixtures
        )

    def caller(self, context: Context, params: Mapping[str, Json], era: Era) -> Client:
        """What of the client may decide between recordings; nothing, where there are none."""
        return caller(context, params, era) if self._is_recorded else _NOBODY

    def answer(self, method: str) -> Answer | None:
        """What answers a method, where it was recorded."""
        if method not in self.surface.methods:
            return None

        async def answered(context: Context, params: Mapping[str, Json], era: Era) -> dict[str, Any]:
            if method in LISTS:
                return self._list(method, params, era)
            if method in _ACKNOWLEDGED:
                if method == "logging/setLevel":
                    set_level(context, params.get("level"))
                return dict(era.result)
            return await self._recalled(context, method, params, era)

        return answered

    async def converse(
        self, context: Context, method: str, params: Mapping[str, Json], era: Era, client: Client
    ) -> tuple[Json, ...]:
        """Ask the client what the recorded server asked; gives the answers that the recording goes on with.

        Raises:
            Questions, MCPError: as `Conversation.lead`.
        """
        dialogues = self._environment.recorded.dialogues
        if not dialogues:
            return ()

        async def before(turn: Turn) -> None:
            await self.play(context, turn.notices, era, client)

        return await Conversation(dialogues, context, client, era, before).lead(method, params)

    async def play(self, context: Context, notices: Sequence[Event], era: Era, client: Client) -> None:
        """Send what the recorded server sent meanwhile, in its order, as far as this client wants it."""
        for event in notices:
            params = strip_result(event.params)
            if event.kind == "disconnect":
                if context.close_sse_stream is not None:
                    await context.close_sse_stream()
            elif event.method == "notifications/progress":
                await context.session.report_progress(
                    params.get("progress", 0), params.get("total"), params.get("message")
                )
            elif event.method == "notifications/message":
                if hears_level(client, event.params.get("level"), era):
                    await notify(context, event.method, params)
            elif (change := _change(event)) is not None:
                await self.bus.publish(change)
                await notify(context, event.method, params, wide=True)
            else:
                await notify(context, event.method, params, wide=event.wide)

    def _list(self, method: str, params: Mapping[str, Json], era: Era) -> dict[str, Any]:
        if params.get("cursor") is not None:
            raise MCPError(INVALID_PARAMS, f"Invalid cursor: {str(params['cursor'])[:100]!r}")
        return {**strip_result({LISTS[method]: list(self.surface.lists.get(method, ()))}), **era.listing}

    async def _recalled(self, context: Context, method: str, params: Mapping[str, Json], era: Era) -> dict[str, Any]:
        client = self.caller(context, params, era)
        inputs = await self.converse(context, method, params, era, client)
        request = {name: value for name, value in params.items() if name not in ("inputResponses", "requestState")}
        call = ToolCall(method, request, inputs=inputs, client=client)
        world = await self._worlds.peek(self._world(context))
        fixture = self._environment.recall(method, call, world.state)
        if fixture is None:
            raise self._miss(method, params, call, era)
        await self.play(context, fixture.notices, era, client)
        if fixture.result.fault is not None:
            raise fault_of(fixture)
        wire = _carried(method, fixture.result.wire or {}, era)
        wire["_meta"] = label(self._evidence(fixture, world.name, world.state.version), fixture.result.meta)
        return wire

    def _evidence(self, fixture: Fixture, world: str, version: int) -> Rehearsed:
        return Rehearsed(
            layer="fixture",
            confidence=1.0,
            outcome="success",
            world=world,
            version=version,
            toolset=self._environment.toolset.name,
            reason=f"observed as call {fixture.position + 1} of recording {fixture.episode!r}",
        )

    def _miss(self, method: str, params: Mapping[str, Json], call: ToolCall, era: Era) -> MCPError:
        why = self._environment.explain_miss(method, call)
        logger.warning("%s: %s", method, why)
        if method == "resources/read":
            code = INVALID_PARAMS if era.is_stateless else _RESOURCE_NOT_FOUND
            return MCPError(code, f"Resource not found: {why}", {"uri": params.get("uri")})
        return MCPError(INVALID_PARAMS, f"{method}: {why}")


def fault_of(fixture: Fixture) -> MCPError:
    """The JSON-RPC error that was recorded instead of a result."""
    fault = fixture.result.fault or {}
    code = fault.get("code")
    return MCPError(code if isinstance(code, int) else -32603, str(fault.get("message", "")), fault.get("data"))


def _carried(method: str, wire: Mapping[str, Json], era: Era) -> dict[str, Any]:
    """A recorded result in the form of an era."""
    result = {name: value for name, value in wire.items() if name not in ("_meta", "resultType")}
    caching: dict[str, Any] = {name: result.pop(name) for name in ("ttlMs", "cacheScope") if name in result}
    if not era.is_stateless:
        return result
    return {**result, **(era.listing if method in _CACHED else era.result), **caching}


def _change(event: Event) -> ServerEvent | None:
    """What a notification says to those who listen for changes."""
    match event.method:
        case "notifications/tools/list_changed":
            return ToolsListChanged()
        case "notifications/prompts/list_changed":
            return PromptsListChanged()
        case "notifications/resources/list_changed":
            return ResourcesListChanged()
        case "notifications/resources/updated":
            return ResourceUpdated(uri=str(event.params.get("uri", "")))
    return None
