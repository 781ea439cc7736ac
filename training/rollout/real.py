"""A real MCP server as the environment of a trajectory."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from envace_sdk.errors import FixtureError, UpstreamError
from envace_sdk.evidence.label import says_rehearsed
from envace_sdk.tasks import Task
from envace_sdk.tools.loading import is_url, read_config
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.recordings import result_from_wire
from envace_sdk.tools.upstream import Target, Upstream, client_for, connect

__all__ = ["McpClient", "McpClients", "real_clients"]

_WORLD = "{world}"


def real_clients(places: Mapping[str, str]) -> dict[str, McpClients]:
    """Real servers by toolset, from where each is: a URL, or `mcp.json#NAME` of a client's configuration.

    Raises:
        ToolsetError: a configuration cannot be read, or has no such server; UpstreamError: the extra `mcp` is missing.
    """
    return {name: McpClients(_target(place)) for name, place in places.items()}


def _target(place: str) -> Target:
    if is_url(place):
        return Target(url=place)
    file, _, server = place.partition("#")
    return read_config(Path(file).expanduser(), server or None)[1]


class McpClients:
    """Opens a connection for each trajectory: a process of its own, or a session at a URL.

    A trajectory must not see what another did. A command is run anew for each; in a URL, `{world}` stands for a name
    that no other trajectory has, as `envace-sdk serve --http` takes it: `http://127.0.0.1:8000/retail/worlds/{world}/mcp`.

    Args:
        target: where the server is.

    Raises:
        UpstreamError: the extra `mcp` is missing.
    """

    def __init__(self, target: Target) -> None:
        client_for(target)  # now, and not when a model has been loaded
        self.target = target

    async def open(self, task: Task, sample: int) -> McpClient:
        """A connection. Raises: UpstreamError when there can be none."""
        target = self.target
        if target.url is not None and _WORLD in target.url:
            world = f"{task.id}-{sample}-{uuid.uuid4().hex[:8]}"
            target = replace(target, url=target.url.replace(_WORLD, world))
        return McpClient(await connect(target))


class McpClient:
    """One connection."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self.is_rehearsal = False

    async def call(self, call: ToolCall) -> ToolResult:
        """What the tool answers; a protocol error is an error too.

        Raises:
            UpstreamError: the server is gone, does not answer in time, or answers what is no result.
        """
        wire = await self._upstream.ask_raw("tools/call", {"name": call.name, "arguments": dict(call.arguments)})
        if "error" in wire:
            return ToolResult.text(str(wire["error"].get("message") or "the server refused"), is_error=True)
        self.is_rehearsal = self.is_rehearsal or says_rehearsed(wire["result"])
        try:
            return result_from_wire(wire["result"])
        except FixtureError as error:
            raise UpstreamError(f"{call.name}: {error}") from error

    async def close(self) -> None:
        """End the connection."""
        await self._upstream.close()
