"""One client of the load: a kept-alive connection with one MCP call at a time, and little work of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from typing import Any

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
LABEL = "dev.envace/evidence"


@dataclass
class Sent:
    """A call, and what came of it. Times are seconds of the load's clock."""

    world: str
    tool: str
    arguments: dict[str, Any]
    began: float
    ended: float = 0.0
    result: dict[str, Any] | None = None
    """The tool's answer; None where there was none."""
    error: str | None = None
    """What the server said instead."""

    @property
    def version(self) -> int:
        """Of the world after the call."""
        assert self.result is not None
        version: int = self.result["_meta"][LABEL]["version"]
        return version

    @property
    def in_doubt(self) -> bool:
        """Whether it may have happened although it was not acknowledged."""
        return self.result is None and not (self.error and "nothing has happened" in self.error)


class Connection:
    """HTTP/1.1 to one address; opened anew after it broke."""

    def __init__(self, port: int, toolset: str) -> None:
        self._port = port
        self._toolset = toolset
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, sent: Sent) -> None:
        """Send a call and note its answer, an error, or neither where the connection broke."""
        body = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": sent.tool, "arguments": sent.arguments, "_meta": ENVELOPE},
            }
        ).encode()
        head = (
            f"POST /{self._toolset}/worlds/{sent.world}/mcp HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            f"MCP-Protocol-Version: 2026-07-28\r\nMCP-Method: tools/call\r\nMCP-Name: {sent.tool}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        try:
            if self._streams is None:
                self._streams = await asyncio.open_connection("127.0.0.1", self._port)
            reader, writer = self._streams
            writer.write(head.encode() + body)
            body = await _body(reader)
        except (OSError, EOFError):  # refused, reset, or closed in the middle
            self.close()
            return
        try:
            answer = json.loads(body)
        except ValueError:
            sent.error = body.decode(errors="replace")[:200]
            return
        if "result" in answer:
            sent.result = answer["result"]
        else:
            sent.error = answer["error"]["message"]

    def close(self) -> None:
        """Let go of the connection."""
        if self._streams is not None:
            with contextlib.suppress(OSError):
                self._streams[1].close()
        self._streams = None


async def _body(reader: asyncio.StreamReader) -> bytes:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readuntil(b"\r\n")
    if not headers.get("content-type", "").startswith("text/event-stream"):
        return body
    # A call that takes long is answered by a stream, which says from time to time that it is still there.
    data = [line[5:] for line in body.splitlines() if line.startswith(b"data:")]
    return data[-1] if data else b""
