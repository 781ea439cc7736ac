"""The data of server-sent events, out of a stream that comes in chunks."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["EventReader"]


class EventReader:
    """Fed with chunks, gives the data of each event that they complete."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The data of the events that end in this chunk."""
        held = self._rest + chunk
        # A lone CR at the end may be half of a CRLF.
        carried = b"\r" if held.endswith(b"\r") else b""
        text = (held[:-1] if carried else held).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = text.split(b"\n")
        self._rest = rest + carried
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                yield b"\n".join(self._data)
                self._data.clear()
