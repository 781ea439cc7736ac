"""A server at a URL, over streamable HTTP: with headers, a token or OAuth, and its answers exactly as they come."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client

from envace_sdk.errors import UpstreamError
from envace_sdk.tools.upstream import Target

from .upstream_frames import Frames, tap
from .upstream_oauth import authorization

__all__ = ["Endpoint", "checked_headers", "checked_url"]

_MOST_BYTES: Final = 64 * 1024 * 1024
"""Of one server-sent event: a long catalogue is one event."""


class Endpoint:
    """One session with a server at a URL."""

    def __init__(self, target: Target, frames: Frames) -> None:
        self._target = target
        self._frames = frames
        self.status: int | None = None
        """The HTTP status of the last message that was sent, if it was a failure."""

    @asynccontextmanager
    async def run(self) -> AsyncIterator[TransportStreams]:
        """Yields the two streams of the MCP transport contract.

        Raises:
            UpstreamError: the URL or a header cannot be sent.
        """
        url = checked_url(self._target)
        async with AsyncExitStack() as stack:
            auth = await stack.enter_async_context(authorization(self._target)) if self._target.oauth else None
            client = await stack.enter_async_context(
                httpx2.AsyncClient(
                    headers=checked_headers(self._target),
                    auth=auth,
                    timeout=httpx2.Timeout(self._target.timeout),
                    event_hooks={"response": [self._seen]},
                )
            )
            yield await stack.enter_async_context(
                streamable_http_client(url, http_client=client, max_sse_event_size=_MOST_BYTES)
            )

    async def last_words(self) -> str:
        """Nothing that the status does not say."""
        return ""

    async def _seen(self, response: httpx2.Response) -> None:
        if response.request.method == "POST" and str(response.request.url) == str(httpx2.URL(self._target.url or "")):
            self.status = response.status_code if response.status_code >= 400 else None
            tap(response, self._frames)


def checked_url(target: Target) -> str:
    """The URL of a target. Raises: UpstreamError, when it is none that HTTP can reach."""
    url = target.url or ""
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, ValueError) as error:
        raise UpstreamError(f"{target}: no URL: {error}") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise UpstreamError(f"{target}: expected an http or https URL")
    return url


def checked_headers(target: Target) -> dict[str, str]:
    """The headers that a target is reached with. Raises: UpstreamError, when HTTP cannot carry one."""
    # Compressed bodies could not be kept as they are on the wire.
    headers = {"accept-encoding": "identity", **target.headers}
    if target.token is not None:
        headers["authorization"] = f"Bearer {target.token}"
    for name, value in headers.items():
        if not (name.isascii() and value.isascii() and name.isprintable() and value.isprintable()):
            raise UpstreamError(f"{target}: the header {name!r} holds what HTTP cannot carry")
    return headers
