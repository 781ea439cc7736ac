"""The command line of a gateway as a client's configuration needs it: with nothing in it that depends on a folder."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urlsplit

import click
from click.core import ParameterSource

from .gateway_command import ACCESS, gateway
from .tools_options import target_of

__all__ = ["GatewayEntry"]

_RUNNERS = frozenset({"bunx", "deno", "docker", "node", "npx", "pipx", "python", "python3", "run", "uv", "uvx"})
"""Words of a command that name no server."""
_NOT_WRITTEN = frozenset({"token", "api_token", "oauth_client_secret", "webhook_secret"})
"""Secrets that are not written down where they came from the environment."""


class GatewayEntry:
    """What a client is told of a gateway.

    Args:
        arguments: what would follow `envace-sdk gateway`.

    Raises:
        click.UsageError: they do not fit together, or name no server; a file is not there.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        if not arguments:
            raise click.UsageError("--gateway needs what it stands before: --gateway -- COMMAND, or -- --upstream URL")
        self._given = list(arguments)
        self._context = gateway.make_context("envace-sdk gateway", list(arguments))
        values = self._context.params
        if values["api"] is not None:
            raise click.UsageError("--api serves no MCP, so there is nothing to point a client at")
        self._server: tuple[str, ...] = tuple(values["server"])
        given = (values["upstream"],) if values["upstream"] is not None else self._server
        access = {name: values[name] for name in ACCESS}
        where = {name: values[name] for name in ("protocol", "timeout", "cwd")}
        self._target = target_of(given, values["config"], access, **where)

    @property
    def name(self) -> str:
        """After the server."""
        values = self._context.params
        if values["name"]:
            return str(values["name"])
        if values["config"] is not None:
            return str(values["config"]).rpartition("#")[2]
        if self._target.url is not None:
            return urlsplit(self._target.url).hostname or "gateway"
        words = (word for word in self._server if not word.startswith("-"))
        named = next((word for word in words if PurePath(word).stem.rstrip("0123456789.") not in _RUNNERS), "gateway")
        return PurePath(named).stem.removeprefix("server-").partition("@")[0] or "gateway"

    @property
    def url(self) -> str | None:
        """Where the gateway listens, if it stands before a URL; the user starts it then."""
        return None if self._target.url is None else f"http://{self._context.params['address']}/mcp"

    @property
    def start(self) -> str:
        """The command line that starts it, as it was given."""
        return shlex.join(["envace-sdk", "gateway", *self._given])

    def words(self) -> list[str]:
        """What follows `gateway` in the client's configuration, every path absolute."""
        words = [word for option in self._options() for word in option]
        if not self._server:
            return words
        if self._context.params["cwd"] is None:
            words += ["--cwd", str(Path.cwd())]  # what the server's own arguments may be relative to
        program = shutil.which(self._server[0]) or self._server[0]
        return [*words, "--", _absolute(program) if PurePath(program).name != program else program, *self._server[1:]]

    def _options(self) -> Iterator[list[str]]:
        for option in gateway.params:
            source = self._context.get_parameter_source(option.name or "")
            if not isinstance(option, click.Option) or option.name is None:
                continue
            from_here = source is ParameterSource.ENVIRONMENT and option.name not in _NOT_WRITTEN
            if source is not ParameterSource.COMMANDLINE and not from_here:
                continue
            value = self._context.params[option.name]
            if option.is_flag:
                yield [option.opts[0]]
                continue
            for one in value if option.multiple else [value]:
                yield [option.opts[0], _settled(option, one)]


def _settled(option: click.Option, value: Any) -> str:
    """The value of an option, as it means the same in any folder."""
    text = str(value)
    if isinstance(option.type, click.Path) or (option.name == "ledger" and "://" not in text):
        return _absolute(text)
    if option.name == "tools" and Path(text).exists():
        return _absolute(text)
    if option.name == "seed_data":
        named, equals, path = text.rpartition("=")
        return f"{named}{equals}{_absolute(path)}"
    if option.name == "config":
        path, hash_, named = text.rpartition("#") if "#" in text and not Path(text).exists() else (text, "", "")
        return f"{_absolute(path)}{hash_}{named}"
    return text


def _absolute(path: str) -> str:
    # Not resolved: a link in a virtual environment's folder of programs is what makes it that environment's.
    return str(Path(path).expanduser().absolute())
