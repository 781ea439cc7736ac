"""What commands load from the packages that stand on the core, and the addresses that these listen on."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any, Final

import click

__all__ = ["listening_address", "load"]


_NEEDED: Final = {
    "mcp": ("mcp", "prometheus_client", "starlette", "uvicorn"),
    "plot": ("matplotlib",),
    "studio": ("jinja2", "starlette", "uvicorn"),
    "train": ("torch", "transformers", "accelerate", "safetensors", "tensorboard"),
}
"""By extra, what its modules import, some of them only when they are at work."""


def load(module: str, *, command: str, extra: str) -> Any:
    """A module of `envace_sdk` that the core does not import.

    Raises:
        click.ClickException: a library is missing, or the module itself; the message says what to install.
    """
    for package in _NEEDED[extra]:
        if importlib.util.find_spec(package) is None:
            raise click.ClickException(
                f"`envace-sdk {command}` needs the package {package}: pip install 'envace-sdk[{extra}]'"
            )
    try:
        return importlib.import_module(f"envace_sdk.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("envace_sdk."):
            raise
        raise click.ClickException(
            f"{error.name} is not beside {Path(__file__).parents[1]}: that is the source folder, which Python found "
            "before the installed package. Install the clone with `pip install -e .`, or start Python elsewhere"
        ) from error


def listening_address(
    text: str, *, command: str, allow_remote: bool, option: str = "--http", extra: str = "mcp"
) -> Any:
    """Where to listen: on this machine alone, unless `allow_remote`.

    Raises:
        click.UsageError: it is no address, or one that other machines can reach.
    """
    try:
        address = load("mcp_servers.address", command=command, extra=extra).Address.parse(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from error
    if not address.is_loopback and not allow_remote:
        raise click.UsageError(f"other machines can reach {address.host}; if that is wanted, add --allow-remote")
    return address
