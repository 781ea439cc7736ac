"""The server that a gateway runs as its own child."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from asyncio.subprocess import PIPE, Process
from typing import Final

from envace_sdk.errors import UpstreamError
from envace_sdk.tools.upstream import Target

from .stdio import FRAME_LIMIT

__all__ = ["LEAVE", "start", "stop"]

LEAVE: Final = 2.0
"""Seconds the server has to leave by itself once its input is closed, and again once it is told to."""


async def start(target: Target) -> Process:
    """Start the server, with pipes to its input and from its output. Raises: UpstreamError."""
    program = shutil.which(target.command[0])
    if program is None:
        raise UpstreamError(f"command not found: {target.command[0]}")
    environment = {**os.environ, **target.env}
    try:
        return await asyncio.create_subprocess_exec(
            program, *target.command[1:], stdin=PIPE, stdout=PIPE, env=environment, cwd=target.cwd, limit=FRAME_LIMIT
        )
    except (OSError, ValueError) as problem:
        raise UpstreamError(f"{target}: cannot be started: {problem}") from problem


async def stop(process: Process) -> None:
    """Close its input, and end it if it does not leave by itself."""
    if process.stdin is not None:
        process.stdin.close()
    for end in (process.terminate, process.kill):
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), LEAVE)
            return
        with contextlib.suppress(ProcessLookupError):
            end()
    await process.wait()
