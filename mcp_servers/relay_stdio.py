"""A relay between a client and a server's process: bytes pass through as they are, and a tape hears them.

One thread, one loop over the descriptors: nothing stands between a frame and the other side but the line that records
it. What the server sends is recorded before it is passed on.
"""

from __future__ import annotations

import json
import logging
import os
import selectors
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from envace_sdk.errors import UpstreamError
from envace_sdk.json import Json
from envace_sdk.recordings import Tape

__all__ = ["Answer", "Write", "relay"]

logger = logging.getLogger(__name__)

Write = Callable[[Mapping[str, Json]], None]
"""Appends a line to the recording."""

Answer = Callable[[bytes, Json], bytes | None]
"""May answer a client's frame in the server's place; None: pass it on."""

GRACE: Final = 2.0
"""Seconds the server has to leave by itself once its input is closed, and again once it is told to."""
_CHUNK: Final = 1 << 16
_MOST_HELD: Final = 1 << 22
"""Bytes waiting for a slow reader, from which on the other side is not read."""


def relay(
    command: tuple[str, ...],
    tape: Tape,
    write: Write,
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    answer: Answer | None = None,
) -> int:
    """Run the command and relay it to standard input and output until either side leaves.

    The command inherits this process's whole environment, `env` on top: to the client, the relay is the server.
    Gives the exit code: the server's own where it left by itself, else 0.

    Raises:
        UpstreamError: the command cannot be started.
        FixtureError: the recording cannot be written; what is not recorded is not passed on.
    """
    program = shutil.which(command[0])
    if program is None:
        raise UpstreamError(f"command not found: {command[0]}")
    try:
        process = subprocess.Popen(  # noqa: S603  running it is what the user asks for
            [program, *command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
    except (OSError, ValueError) as error:
        raise UpstreamError(f"{command[0]}: cannot be started: {error}") from error
    assert process.stdin is not None  # noqa: S101  for the type checker: opened with pipes
    assert process.stdout is not None  # noqa: S101
    with process.stdin, process.stdout, _wakeup() as woken:
        loop = _Loop(process.stdin.fileno(), process.stdout.fileno(), tape, write, answer, woken)
        try:
            loop.run()
        finally:
            with suppress(OSError):
                process.stdin.close()
            if not loop.server_left:
                loop.drain(GRACE)
            _stop(process)
    return process.returncode if loop.server_left and not loop.client_left and process.returncode > 0 else 0


class _Loop:
    """The four descriptors: the client's two, and the server's two."""

    def __init__(
        self, to_server: int, from_server: int, tape: Tape, write: Write, answer: Answer | None, woken: socket.socket
    ) -> None:
        self._tape = tape
        self._write = write
        self._answer = answer
        self._selector = selectors.PollSelector() if hasattr(selectors, "PollSelector") else selectors.SelectSelector()
        self._server = _Outlet(to_server, self._selector)
        self._client = _Outlet(1, self._selector)
        self._from_client = _Inlet(0, self._client_line, self._server)
        self._from_server = _Inlet(from_server, self._server_line, self._client)
        self._woken = woken
        self.client_left = False
        self.server_left = False

    def run(self) -> None:
        """Relay until a side has left, or a signal came."""
        for inlet in (self._from_client, self._from_server):
            self._selector.register(inlet.descriptor, selectors.EVENT_READ, inlet)
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        while not (self.client_left or self.server_left):
            for key, events in self._selector.select():
                if key.data is None:
                    self._selector.unregister(self._woken)
                    return
                self._handle(key.data, events)
            self._throttle()

    def drain(self, seconds: float) -> None:
        """Pass on what the server still says once the client has said its last word."""
        if self._from_client.is_open:
            self._close(self._from_client)
        end = time.monotonic() + seconds
        while not self.server_left and (left := end - time.monotonic()) > 0:
            for key, events in self._selector.select(left):
                if key.data is not None:
                    self._handle(key.data, events)

    def _handle(self, what: _Inlet | _Outlet, events: int) -> None:
        if isinstance(what, _Outlet):
            if not what.flush() and what is self._client:
                self.client_left = True
            return
        if events & ~selectors.EVENT_WRITE and not what.read():
            self._close(what)
            if what is self._from_client:
                self.client_left = True
                self._server.finish()
            else:
                self.server_left = True
                self._client.finish()

    def _close(self, inlet: _Inlet) -> None:
        inlet.is_open = False
        with suppress(KeyError):
            self._selector.unregister(inlet.descriptor)

    def _throttle(self) -> None:
        """Read no more from a side while the other cannot take what it said."""
        for inlet in (self._from_client, self._from_server):
            wanted = inlet.is_open and inlet.outlet.held < _MOST_HELD
            if wanted != inlet.is_watched:
                inlet.is_watched = wanted
                if wanted:
                    self._selector.register(inlet.descriptor, selectors.EVENT_READ, inlet)
                elif inlet.is_open:
                    self._selector.unregister(inlet.descriptor)

    def _client_line(self, line: bytes) -> bytes:
        message = _parsed(line)
        if message is not None:
            if self._answer is not None and (answer := self._answer(line, message)) is not None:
                self._client.send(answer)
                return b""
            self._tape.from_client(message)
        return line

    def _server_line(self, line: bytes) -> bytes:
        message = _parsed(line)
        if message is not None:
            for record in self._tape.from_server(message):
                self._write(record)
        return line


class _Outlet:
    """A descriptor that is written without ever waiting for it."""

    def __init__(self, descriptor: int, selector: selectors.BaseSelector) -> None:
        self._descriptor = descriptor
        self._selector = selector
        self._rest = bytearray()
        self._is_broken = False
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            os.set_blocking(descriptor, False)

    @property
    def held(self) -> int:
        """Bytes that wait."""
        return len(self._rest)

    def send(self, data: bytes) -> None:
        """Write, or keep for when there is room."""
        if self._is_broken or not data:
            return
        if not self._rest:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:
                pass
            except OSError:
                self._is_broken = True
                return
            if data:
                self._selector.register(self._descriptor, selectors.EVENT_WRITE, self)
        self._rest += data

    def flush(self) -> bool:
        """Write what waits; whether anybody still reads."""
        try:
            del self._rest[: os.write(self._descriptor, self._rest)]
        except BlockingIOError:
            return True
        except OSError:
            self._is_broken = True
            self._rest.clear()
        if not self._rest:
            self._selector.unregister(self._descriptor)
        return not self._is_broken

    def finish(self) -> None:
        """Write what waits, now: nothing more will come."""
        if self._rest:
            self._selector.unregister(self._descriptor)
            with suppress(OSError):
                os.set_blocking(self._descriptor, True)
                os.write(self._descriptor, self._rest)
            self._rest.clear()


class _Inlet:
    """A descriptor that is read line by line. What a line becomes is passed on at once."""

    def __init__(self, descriptor: int, hear: Callable[[bytes], bytes], outlet: _Outlet) -> None:
        self.descriptor = descriptor
        self.outlet = outlet
        self.is_open = True
        self.is_watched = True
        self._hear = hear
        self._begun = bytearray()

    def read(self) -> bool:
        """Read what is there; whether there can be more."""
        try:
            chunk = os.read(self.descriptor, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            chunk = b""
        if not chunk:
            self.outlet.send(self._hear(bytes(self._begun)) if self._begun else b"")
            self._begun.clear()
            return False
        if b"\n" not in chunk:
            self._begun += chunk
            return True
        *lines, rest = chunk.split(b"\n")
        lines[0] = bytes(self._begun) + lines[0]
        self._begun = bytearray(rest)
        self.outlet.send(b"".join(self._hear(line + b"\n") for line in lines))
        return True


def _parsed(line: bytes) -> Json:
    """A frame as a value; None for what is no frame."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


@contextmanager
def _wakeup() -> Iterator[socket.socket]:
    """A socket that can be read once SIGINT or SIGTERM has come."""
    reading, writing = socket.socketpair()
    for end in (reading, writing):
        end.setblocking(False)
    handled = (signal.SIGINT, signal.SIGTERM)
    try:
        before = {number: signal.signal(number, lambda *_: None) for number in handled}
        wakeup = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    except ValueError:  # not the main thread
        before, wakeup = {}, None
    try:
        yield reading
    finally:
        if wakeup is not None:
            signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        reading.close()
        writing.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    for end in (process.terminate, process.kill):
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
            return
        if sys.platform != "win32" or end is process.kill:
            end()
    process.wait()
