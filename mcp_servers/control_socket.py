"""The private socket that a server opens for control: one JSON object a line, in and out."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from envace_sdk.errors import WorldError

from .control import Control
from .runtime import runtime_folder

__all__ = ["open_socket"]

logger = logging.getLogger(__name__)

LINE_LIMIT: Final = 256 * 1024 * 1024
"""Longest request, in bytes: restoring sends a whole state."""


@contextlib.asynccontextmanager
async def open_socket(control: Control) -> AsyncIterator[Path | None]:
    """Listen until left. Where that is not possible, a warning says so and the server goes on without control."""
    try:
        path = runtime_folder() / f"{os.getpid()}-{secrets.token_hex(4)}.sock"
        listener = await asyncio.start_unix_server(_Talk(control), path, limit=LINE_LIMIT)
        path.chmod(0o600)
    except (WorldError, OSError) as error:
        logger.warning("`envace-sdk world` will not find this server: %s", error)
        yield None
        return
    try:
        async with listener:
            yield path
    finally:
        path.unlink(missing_ok=True)


class _Talk:
    """One connection: a request a line until the peer has no more."""

    def __init__(self, control: Control) -> None:
        self._control = control

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, ValueError), contextlib.closing(writer):
            while line := await reader.readline():
                try:
                    request = json.loads(line)
                except (ValueError, RecursionError):
                    request = None
                writer.write(json.dumps(await self._control.answer(request)).encode() + b"\n")
                await writer.drain()
