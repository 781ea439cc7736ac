"""Finds running servers and asks them: what `envace-sdk world` speaks with."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from envace_sdk.errors import WorldError
from envace_sdk.json import Json

from .runtime import runtime_folder

__all__ = ["HttpServer", "Server", "SocketServer", "running", "with_world"]

TIMEOUT: Final = 30.0
"""Seconds until an answer must begin."""


class Server(Protocol):
    """A running server that can be controlled."""

    def ask(self, do: str, **arguments: Json) -> Any:
        """Have an operation carried out and return its result. Raises: WorldError, with the server's reason."""
        ...


@dataclass(frozen=True, slots=True)
class SocketServer:
    """A server of this user on this machine."""

    path: Path

    def ask(self, do: str, **arguments: Json) -> Any:
        """As `Server.ask`."""
        try:
            with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)) as connection:
                connection.settimeout(TIMEOUT)
                connection.connect(str(self.path))
                connection.sendall(json.dumps({"do": do, **arguments}).encode() + b"\n")
                with connection.makefile("rb") as answers:
                    line = answers.readline()
        except OSError as error:
            raise WorldError(f"{self.path}: the server does not answer: {error}") from error
        return _result(line)


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server reached by its URL, with the token that it was started with."""

    url: str
    token: str

    def ask(self, do: str, **arguments: Json) -> Any:
        """As `Server.ask`."""
        try:
            scheme = urlsplit(self.url).scheme
        except ValueError as error:
            raise WorldError(f"{self.url}: not a URL: {error}") from None
        if scheme not in ("http", "https"):
            raise WorldError(f"{self.url}: expected an http:// or https:// URL")
        if not self.token.isascii() or not self.token.isprintable():
            raise WorldError("the control token holds characters that no header can carry")
        request = urllib.request.Request(  # noqa: S310  the scheme was looked at
            f"{self.url.rstrip('/')}/control/{do}",
            data=json.dumps(arguments).encode(),
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"},
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:  # noqa: S310
                return _result(response.read())
        except urllib.error.HTTPError as error:
            with error:
                body = error.read()
            if error.code in (401, 404, 421):
                hint = {401: "wrong token", 404: "no /control there: the server needs --control-token"}
                raise WorldError(f"{self.url}: {hint.get(error.code, error.reason)}") from error
            return _result(body)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise WorldError(f"{self.url}: cannot be reached: {error}") from error


def _result(line: bytes) -> Any:
    try:
        answer = json.loads(line)
        if answer["ok"] is True:
            return answer["result"]
        reason = str(answer["error"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise WorldError("the server gave no usable answer") from error
    raise WorldError(reason)


def running() -> list[tuple[SocketServer, dict[str, Any]]]:
    """The servers of this user, each with what it says of itself. Sockets that nobody listens on are removed."""
    found = []
    for path in sorted(runtime_folder().glob("*.sock")):
        server = SocketServer(path)
        try:
            found.append((server, server.ask("list")))
        except WorldError as error:
            if isinstance(error.__cause__, ConnectionRefusedError):
                path.unlink(missing_ok=True)
    return found


def with_world(name: str, *, toolset: str | None = None, pid: int | None = None) -> SocketServer:
    """The one running server that has a world of that name.

    Raises:
        WorldError: there is none, or there are several; the message lists what there is.
    """
    everything = [(server, listing) for server, listing in running() if pid in (None, listing["pid"])]
    matching = [(server, listing) for server, listing in everything if _may_have(listing, name, toolset)]
    if len(matching) == 1:
        return matching[0][0]
    if not matching:
        raise WorldError(f"no running server has a world {name!r}{_listed(everything)}")
    raise WorldError(f"several running servers have a world {name!r}: choose one with --pid{_listed(matching)}")


def _may_have(listing: dict[str, Any], name: str, toolset: str | None) -> bool:
    """Whether a server has a world, or may have it in a store that it shares with others."""
    held = any(world["world"] == name and toolset in (None, world["toolset"]) for world in listing["worlds"])
    return held or (bool(listing.get("shared")) and (toolset is None or toolset in listing["toolsets"]))


def _listed(servers: Sequence[tuple[SocketServer, dict[str, Any]]]) -> str:
    if not servers:
        return "; none is running"
    lines = [
        f"pid {listing['pid']}: {world['toolset']}/{world['world']}"
        for _, listing in servers
        for world in listing["worlds"]
    ]
    return ":\n  " + "\n  ".join(lines or ["(servers without worlds: one begins with the first call in it)"])
