"""`envace-sdk version`."""

from __future__ import annotations

from importlib.metadata import version as distribution_version

import click

__all__ = ["version"]


@click.command()
def version() -> None:
    """Print the version of envace-sdk."""
    click.echo(distribution_version("envace-sdk"))
