"""A guard that refuses whatever leaves the process for something real: other machines, and programs.

It listens to Python's audit events, so it sees what goes through Python's own `socket`, `subprocess` and `os`, in every
thread. It does not see what child processes do, nor what C extensions with a network code of their own do (gRPC, libpq,
uvloop), nor real services on this very machine, unless `loopback` is False.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import FrameType
from typing import Any, Final, Self

from envace_sdk.errors import RealCallError

__all__ = ["Guard", "RealCall"]

_HARMLESS: Final = frozenset({"envace-sdk", "ldconfig", "lsb_release", "sw_vers", "uname"})
"""Our own servers, and what the standard library asks about the machine."""
_OWN: Final = ("envace_sdk", "envace-sdk")
_SHELLS: Final = frozenset({"bash", "cmd", "dash", "sh", "zsh"})
_LOCAL: Final = frozenset({"", "localhost", "localhost.", "ip6-localhost"})
_LIBRARIES: Final = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_HERE: Final = str(Path(__file__).parent)

_watching: list[Guard] = []
_installed = False
_busy = threading.local()


@dataclass(frozen=True, slots=True)
class RealCall:
    """Something real that was about to be called."""

    what: str
    """As in "connection to api.example.com:443"."""
    name: str
    """What would have to be allowed."""
    where: str

    def __str__(self) -> str:
        return f"{self.what}, from {self.where}"


class Guard:
    """Refuses real calls with `RealCallError` while it is on, and notes them, should the error be swallowed.

    Args:
        allow: hosts (`example.com`, `*.example.com`, `10.0.0.1:5432`) and programs (`git`) that may be called.
        loopback: whether this machine may be connected to.
    """

    def __init__(self, allow: Iterable[str] = (), *, loopback: bool = True) -> None:
        self.calls: list[RealCall] = []
        self._allow = tuple(allow)
        self._loopback = loopback
        self._names: set[str] = set()

    def __enter__(self) -> Self:
        global _installed  # an audit hook cannot be taken away again
        if not _installed:
            sys.addaudithook(_hear)
            _installed = True
        _watching.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _watching.remove(self)

    def check(self) -> None:
        """Raises: RealCallError if anything real was about to be called."""
        if self.calls:
            raise RealCallError(self.report())

    def report(self) -> str:
        """What was about to be called, and what to do about it."""
        lines = "\n".join(f"  {call}" for call in dict.fromkeys(map(str, self.calls)))
        names = list(dict.fromkeys(call.name for call in self.calls))
        return (
            f"this test called something real, which was refused:\n{lines}\n"
            f"Call a rehearsed tool instead, or allow it: @pytest.mark.nothing_real(allow={names!r})"
        )

    def connecting(self, host: str, port: int | None) -> None:
        """Judge a connection. Raises: RealCallError."""
        name = host if port is None else f"{host}:{port}"
        if self._is_local(host) or self._allows(host, name) or host in self._addresses():
            return
        self._refuse(f"connection to {f'[{host}]:{port}' if ':' in host and port is not None else name}", host)

    def resolving(self, host: str) -> None:
        """Judge the look-up of a host's address. Raises: RealCallError."""
        if self._is_local(host) or _ip(host) is not None:
            return
        if self._allows(host) or any(pattern.rpartition(":")[0] == host for pattern in self._allow):
            self._names.add(host)
            return
        self._refuse(f"look-up of the host {host}", host)

    def starting(self, words: Sequence[str]) -> None:
        """Judge the start of a program. Raises: RealCallError."""
        program = _program(words[0]) if words else ""
        if program in _HARMLESS or self._allows(program, words[0] if words else "") or _is_own(words):
            return
        shown = " ".join(words)
        self._refuse(f"start of `{shown[:200]}`", program)

    def _is_local(self, host: str) -> bool:
        address = _ip(host)
        return self._loopback and (host.lower() in _LOCAL if address is None else address.is_loopback)

    def _allows(self, *names: str) -> bool:
        return any(fnmatchcase(name, pattern) for name in names for pattern in self._allow)

    def _addresses(self) -> set[str]:
        """Of the allowed hosts that were looked up: connections only tell addresses."""
        import socket

        found = set()
        for name in self._names:
            try:
                found |= {str(info[4][0]) for info in socket.getaddrinfo(name, None)}
            except OSError:
                continue
        return found

    def _refuse(self, what: str, name: str) -> None:
        self.calls.append(RealCall(what, name, _place()))
        raise RealCallError(self.report())


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    judge = _JUDGES.get(event)
    if judge is None or not _watching or getattr(_busy, "now", False):
        return
    _busy.now = True
    try:
        for guard in tuple(_watching):
            judge(guard, arguments)
    finally:
        _busy.now = False


def _connect(guard: Guard, arguments: tuple[Any, ...]) -> None:
    wire, address = arguments
    if not isinstance(address, tuple) or len(address) < 2 or not isinstance(address[1], int):
        return  # a Unix socket or the like
    try:
        guard.connecting(_text(address[0]).partition("%")[0], address[1])
    except RealCallError:
        wire.close()  # callers only see to it when the system refuses
        raise


def _resolve(guard: Guard, arguments: tuple[Any, ...]) -> None:
    if arguments[0] is not None:
        guard.resolving(_text(arguments[0]))


def _popen(guard: Guard, arguments: tuple[Any, ...]) -> None:
    executable, given = arguments[0], arguments[1]
    words = [_text(given)] if isinstance(given, str | bytes | os.PathLike) else [_text(word) for word in given]
    if len(words) > 2 and words[1] in ("-c", "/c") and _program(words[0]) in _SHELLS:
        words = words[2].split()
    elif executable is not None:
        words[:1] = [_text(executable)]
    guard.starting(words)


def _shell(guard: Guard, arguments: tuple[Any, ...]) -> None:
    guard.starting(_text(arguments[0]).split())


def _spawn(guard: Guard, arguments: tuple[Any, ...]) -> None:
    path, words = (arguments[1], arguments[2]) if isinstance(arguments[0], int) else (arguments[0], arguments[1])
    guard.starting([_text(path), *map(_text, list(words)[1:])])


_JUDGES: Final[dict[str, Callable[[Guard, tuple[Any, ...]], None]]] = {
    "os.exec": _spawn,
    "os.posix_spawn": _spawn,
    "os.spawn": _spawn,
    "os.system": _shell,
    "socket.connect": _connect,
    "socket.getaddrinfo": _resolve,
    "socket.gethostbyname": _resolve,
    "socket.sendmsg": _connect,
    "socket.sendto": _connect,
    "subprocess.Popen": _popen,
}


def _program(word: str) -> str:
    return word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")


def _is_own(words: Sequence[str]) -> bool:
    """Whether it is Python with our command line, or a script of that name."""
    if any(_program(word) == "envace-sdk" for word in words[:2]):
        return True
    return len(words) > 2 and words[1] in ("-m", "-c") and any(own in words[2] for own in _OWN)


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _text(value: Any) -> str:
    return os.fsdecode(value) if isinstance(value, bytes | os.PathLike) else str(value)


def _place() -> str:
    """The innermost line that belongs to no library."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(("<", _HERE, *_LIBRARIES)):
            with contextlib.suppress(ValueError):  # on another drive
                file = os.path.relpath(file)
            return f"{file}:{frame.f_lineno} in {frame.f_code.co_name}"
        frame = frame.f_back
    return f"the thread {threading.current_thread().name}"
