"""Where a server listens, and by which names it may be called there."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self

__all__ = ["BACKLOG", "Address", "Names"]

BACKLOG: Final = 2048
"""Connections that may wait to be accepted."""

_HOST: Final = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::[0-9]{1,5})?")
_ORIGIN: Final = re.compile(r"https?://", re.IGNORECASE)
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port; port 0 lets the system choose one."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `127.0.0.1:8000`, `[::1]:8000`, or a port alone, which means this machine only.

        Raises:
            ValueError: it is none of these.
        """
        host, colon, port = text.rpartition(":")
        if not colon:
            host = "127.0.0.1"
        if host.startswith("[") and host.endswith("]"):
            host = host[1:-1]
        elif ":" in host:
            raise ValueError(f"{text!r}: put an IPv6 address in brackets, [::1]:8000")
        if not host or not port.isascii() or not port.isdecimal() or int(port) > 65_535:
            raise ValueError(f"{text!r}: expected HOST:PORT, as in 127.0.0.1:8000")
        try:
            host.encode("idna")
        except UnicodeError:
            raise ValueError(f"{text!r}: {host[:100]!r} can be no host; expected HOST:PORT") from None
        return cls(host, int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it: all that the host resolves to is loopback."""
        try:
            found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        except OSError:
            return False
        return all(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]).is_loopback for entry in found)

    def listen(self) -> socket.socket:
        """A listening socket. Raises: OSError, for example when the port is taken."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        # Named as TCP: asyncio switches Nagle's algorithm off only then, and with it on an answer takes 40 ms.
        listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if os.name == "posix":
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((self.host, self.port))
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
        return listener

    def url(self, port: int) -> str:
        """The URL of a server that listens here and got this port."""
        return f"http://[{self.host}]:{port}" if ":" in self.host else f"http://{self.host}:{port}"


class Names:
    """The host names under which requests are taken.

    A page in a browser can have its own name resolve to this machine and then call the server as its own origin
    (DNS rebinding); it cannot choose the name that the browser sends.
    """

    def __init__(self, address: Address, *, also: Iterable[str] = ()) -> None:
        own = set() if address.is_loopback else {socket.gethostname().lower()}
        self._names = _LOCAL | own | {address.host.lower()} | {name.lower() for name in also}
        # An address cannot be made to resolve to something else.
        self._addresses = not address.is_loopback

    def admit_host(self, header: str | None) -> bool:
        """Whether a request with this Host header is meant for this server."""
        return header is not None and self._admit(header)

    def admit_origin(self, header: str | None) -> bool:
        """Whether a page of this origin may send requests; programs send no Origin at all."""
        if header is None:
            return True
        scheme = _ORIGIN.match(header)
        return scheme is not None and self._admit(header[scheme.end() :])

    def _admit(self, host: str) -> bool:
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = (found["v6"] or found["name"]).lower()
        return name in self._names or (self._addresses and _is_address(name))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
