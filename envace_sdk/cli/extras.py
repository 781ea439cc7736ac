"""What commands load from the packages that stand on the core, and the addresses that these listen on."""

from __future__ import annotations

import importlib
from typing import Any

import click

__all__ = ["listening_address", "load"]


def load(module: str, *, command: str, extra: str) -> Any:
    """A module of `envace_sdk` that the core does not import.

    Raises:
        click.ClickException: a library is missing; the message says what to install.
    """
    try:
        return importlib.import_module(f"envace_sdk.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("envace_sdk"):
            raise
        raise click.ClickException(
            f"`envace-sdk {command}` needs the package {error.name!r}: pip install 'envace-sdk[{extra}]'"
        ) from error


def listening_address(text: str, *, command: str, allow_remote: bool, option: str = "--http") -> Any:
    """Where to listen: on this machine alone, unless `allow_remote`.

    Raises:
        click.UsageError: it is no address, or one that other machines can reach.
    """
    try:
        address = load("mcp_servers.address", command=command, extra="mcp").Address.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from error
    if not address.is_loopback and not allow_remote:
        raise click.UsageError(f"other machines can reach {address.host}; if that is wanted, add --allow-remote")
    return address
