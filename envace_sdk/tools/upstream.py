"""A live MCP server, as the core sees it: where it is, what it lists, and how to reach it.

The core is free of MCP. The client that speaks the protocol is found by import string, and needs the extra `mcp`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Final, Literal, Protocol

from envace_sdk.errors import UpstreamError
from envace_sdk.json import Json

from .finding import Finding

__all__ = ["CLIENT", "Catalogue", "Handshake", "OAuth", "Target", "Upstream", "connect", "pull", "pull_now"]

CLIENT: Final = "envace_sdk.mcp_servers.upstream:connect"
"""What connects: `async (Target) -> Upstream`."""

Handshake = Literal["auto", "legacy", "modern"]
"""Which protocol to speak: up to 2025-11-25, from 2026-07-28, or whichever the server knows."""


@dataclass(frozen=True, slots=True)
class OAuth:
    """How to get an access token.

    With a client id and secret, by client credentials: `issuer` names the authorization server they belong to, and
    they are sent to no other. Without, a person signs in with a browser. Tokens are kept in a private file per user,
    and refreshed.
    """

    issuer: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """Where a live server is: a command that runs it on stdio, or its URL. Secrets are kept out of the repr.

    The command inherits only the harmless part of the environment (PATH, HOME and their like); `env` adds to it.
    """

    command: tuple[str, ...] = ()
    url: str | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    token: str | None = field(default=None, repr=False)
    oauth: OAuth | None = None
    handshake: Handshake = "auto"
    timeout: float = 60.0
    """Seconds to wait for each answer. The first may take long: `npx` and `uvx` install before they run."""

    def __post_init__(self) -> None:
        if bool(self.command) == (self.url is not None):
            raise ValueError("give a command or a URL")

    def __str__(self) -> str:
        """The server's address, without what may be secret in it."""
        if self.url is None:
            return " ".join(self.command[:1]) + (" …" if len(self.command) > 1 else "")
        scheme, _, rest = self.url.partition("://")
        return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What a server listed: all pages, each definition with its text exactly as it came over the wire."""

    definitions: tuple[Json, ...]
    texts: tuple[str, ...]
    era: str
    """The protocol revision that was spoken."""
    server: Mapping[str, Json]
    """What the server says of itself: `name`, `version`; {} where it says nothing."""
    pages: int = 1
    findings: tuple[Finding, ...] = ()


class Upstream(Protocol):
    """An open connection to a live server, below the typed layer: results are what came, off-spec or not."""

    async def list_tools_raw(self) -> Catalogue:
        """Every page of `tools/list`.

        Raises:
            UpstreamError: the server refuses, is gone, or does not answer in time.
        """
        ...

    async def call_raw(self, name: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """The result of `tools/call` as it came.

        Raises:
            UpstreamError: the server answers with a protocol error, is gone, or does not answer in time.
        """
        ...

    async def ask_raw(self, method: str, params: Mapping[str, Json]) -> dict[str, Json]:
        """The answer to any request as it came: `{"result": …}`, or `{"error": …}` where the server refused.

        Raises:
            UpstreamError: the server is gone, or does not answer in time.
        """
        ...

    async def close(self) -> None:
        """End the connection, and the process where there is one. Closing twice is harmless."""
        ...


def client_for(target: Target) -> Callable[[Target], Awaitable[Upstream]]:
    """Who opens connections. Raises: UpstreamError where the extra `mcp` is missing."""
    module, _, name = CLIENT.partition(":")
    try:
        opener: Callable[[Target], Awaitable[Upstream]] = getattr(import_module(module), name)
    except ModuleNotFoundError as missing:
        raise UpstreamError(
            f"{target}: reaching a live server needs the extra `mcp` ({missing.name} is not installed): "
            "pip install 'envace-sdk[mcp]'"
        ) from missing
    return opener


async def connect(target: Target) -> Upstream:
    """Open a connection.

    Raises:
        UpstreamError: the extra `mcp` is missing, or the server cannot be reached; the message says why.
    """
    return await client_for(target)(target)


async def pull(target: Target) -> Catalogue:
    """Connect, list all tools, and leave.

    Raises:
        UpstreamError: as `connect` and `Upstream.list_tools_raw`.
    """
    upstream = await connect(target)
    try:
        return await upstream.list_tools_raw()
    finally:
        await upstream.close()


def pull_now(target: Target) -> Catalogue:
    """`pull` for code that is not async, also where an event loop is already running.

    Raises:
        UpstreamError: as `pull`.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(pull(target))
    with ThreadPoolExecutor(1, thread_name_prefix="pull") as pool:
        return pool.submit(lambda: asyncio.run(pull(target))).result()
