"""The data of server-sent events, out of a stream that comes in chunks."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["EventReader"]


class EventReader:
    """Fed with chunks, gives the data of each event that they complete."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []
        """The pieces of a line that has not ended."""
        self._data: list[bytes] = []
        self._after_cr = False

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The data of the events that end in this chunk."""
        if self._after_cr and chunk:  # the line has ended with the CR; its LF is no further line
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        self._after_cr = chunk.endswith(b"\r")
        *ends, rest = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for end in ends:
            line = b"".join([*self._begun, end])
            self._begun.clear()
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                yield b"\n".join(self._data)
                self._data.clear()
        if rest:
            self._begun.append(rest)
