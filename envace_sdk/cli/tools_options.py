"""The options that say where tools are and how to get at them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from envace_sdk.tools.upstream import OAuth, Target

__all__ = [
    "access_options",
    "named_source",
    "oauth_access_options",
    "parse_env",
    "parse_headers",
    "source_argument",
    "target_of",
]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--header", multiple=True, metavar="'NAME: VALUE'", help="Sent to a URL; may be repeated."),
    click.option(
        "--env", multiple=True, metavar="NAME[=VALUE]", help="Given to a command; without a value, from here."
    ),
    click.option("--token", envvar="ENVACE_TOKEN", metavar="TOKEN", help="Bearer token for a URL. [env: ENVACE_TOKEN]"),
)
_OAUTH = (
    click.option("--oauth", is_flag=True, help="Sign in with a browser; the token is kept and refreshed."),
    click.option("--oauth-client-id", metavar="ID", help="For OAuth client credentials."),
    click.option(
        "--oauth-client-secret",
        envvar="ENVACE_OAUTH_CLIENT_SECRET",
        metavar="SECRET",
        help="Its secret. [env: ENVACE_OAUTH_CLIENT_SECRET]",
    ),
    click.option("--oauth-issuer", metavar="URL", help="The authorization server that the id belongs to."),
    click.option("--oauth-scope", metavar="SCOPES", help="Scopes to ask for, separated by spaces."),
)


def source_argument(*, required: bool = True) -> Callable[[_Command], _Command]:
    """The argument SOURCE."""
    return click.argument("source", required=required, metavar="SOURCE" if required else "[SOURCE]")


def access_options(command: _Command) -> _Command:
    """Headers, environment and token."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def oauth_access_options(command: _Command) -> _Command:
    """Headers, environment, token and OAuth."""
    for option in reversed((*_OPTIONS, *_OAUTH)):
        command = option(command)
    return command


def parse_headers(given: Sequence[str]) -> dict[str, str]:
    """`NAME: VALUE` pairs.

    Raises:
        click.UsageError: one is not such a pair; its value is not repeated in the message.
    """
    headers = {}
    for header in given:
        name, colon, value = header.partition(":")
        if not colon or not name.strip() or " " in name.strip():
            raise click.UsageError(f"--header: expected 'NAME: VALUE', got {name.strip()[:40]!r} …")
        headers[name.strip()] = value.strip()
    return headers


def parse_env(given: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE` pairs, and names whose value is taken from this process's environment.

    Raises:
        click.UsageError: a name without a value is not set here.
    """
    env = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals:
            if name not in os.environ:
                raise click.UsageError(f"--env {name}: not set in the environment; give a value: --env {name}=…")
            value = os.environ[name]
        env[name] = value
    return env


def target_of(
    server: Sequence[str],
    config: str | None,
    access: dict[str, Any],
    *,
    protocol: Any,
    timeout: float,
    cwd: str | None,
) -> Target:
    """Where the server to pull from is.

    Raises:
        click.UsageError: the options do not fit together.
        ToolsetError: the configuration cannot be read, or has no such server; the URL is none.
    """
    from dataclasses import replace

    from envace_sdk.tools.loading import is_url, url_parts
    from envace_sdk.tools.upstream import Target

    headers, env, oauth = parse_headers(access["header"]), parse_env(access["env"]), _oauth(access)
    if timeout <= 0:
        raise click.UsageError("--timeout: expected more than 0 seconds")
    if bool(server) == (config is not None):
        raise click.UsageError("give a command after --, a URL, or --from FILE#NAME")
    if config is not None:
        target = _from_config(config)
    elif is_url(server[0]):
        if len(server) > 1:
            raise click.UsageError("options go before the URL")
        target = Target(url=server[0])
    else:
        target = Target(command=tuple(server))
    if target.url is not None:
        url_parts(target.url)
    given_token = access["token"] is not None and "ENVACE_TOKEN" not in os.environ
    if target.url is None and (headers or given_token or oauth):
        raise click.UsageError("--header, --token and --oauth are for a URL; give a command its secrets with --env")
    if target.url is not None and (env or cwd):
        raise click.UsageError("--env and --cwd are for a command")
    return replace(
        target,
        headers={**target.headers, **headers},
        env={**target.env, **env},
        token=access["token"] if target.url is not None else None,
        oauth=oauth,
        handshake=protocol,
        timeout=timeout,
        cwd=Path(cwd) if cwd else target.cwd,
    )


def _from_config(config: str) -> Target:
    from envace_sdk.tools.loading import read_config

    path, _, name = config.rpartition("#") if "#" in config and not Path(config).exists() else (config, "", "")
    return read_config(Path(path).expanduser(), name or None)[1]


def _oauth(access: dict[str, Any]) -> OAuth | None:
    from envace_sdk.tools.upstream import OAuth

    client_id, secret, issuer = access["oauth_client_id"], access["oauth_client_secret"], access["oauth_issuer"]
    if client_id is None:
        if issuer is not None:
            raise click.UsageError("--oauth-issuer goes with --oauth-client-id")
        return OAuth(scope=access["oauth_scope"]) if access["oauth"] else None
    if access["oauth"]:
        raise click.UsageError("--oauth (a browser) and --oauth-client-id (client credentials) exclude each other")
    if secret is None or issuer is None:
        raise click.UsageError("--oauth-client-id needs a secret (ENVACE_OAUTH_CLIENT_SECRET) and --oauth-issuer")
    return OAuth(issuer=issuer, client_id=client_id, client_secret=secret, scope=access["oauth_scope"])


def named_source(source: str) -> tuple[str | None, str]:
    """Split `NAME=SOURCE`; an `=` inside a path or URL is not one."""
    name, equals, rest = source.partition("=")
    if equals and name and not set(name) & set("/\\:.?&") and not Path(source).exists():
        return name, rest
    return None, source
