"""Files that commands make: written at one stroke, and over none that something else has made."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from envace_sdk.files import write_whole

__all__ = ["check_output", "write_output"]

_BEGINNING: Final = 4096
"""Bytes in which a file says by what it was made."""


def check_output(path: Path, mark: str, *, force: bool) -> None:
    """See that a file may be written, before the work for it is done.

    Args:
        path: of the file.
        mark: what the beginning of a file holds that the same command has made.
        force: whether any file may be overwritten.

    Raises:
        ClickException: it may not, or cannot.
    """
    if path.is_dir():
        raise click.ClickException(f"{path}: is a folder; name a file in it")
    if not path.parent.is_dir():
        raise click.ClickException(f"{path}: there is no folder {path.parent}")
    if force or not path.exists():
        return
    try:
        with path.open("rb") as file:
            is_own = mark.encode() in file.read(_BEGINNING)
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be read: {error.strerror or error}") from error
    if not is_own:
        raise click.ClickException(f"{path} is there, and this command has not made it: --force overwrites it")


def write_output(path: Path, data: bytes) -> None:
    """Write a file: after this it is there as a whole, or as it was.

    Raises:
        ClickException: it cannot be written.
    """
    try:
        write_whole(path, data)
    except OSError as error:
        raise click.ClickException(f"{path}: cannot be written: {error.strerror or error}") from error
