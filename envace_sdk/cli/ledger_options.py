"""Which ledger a command looks into, and who is at the terminal."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from envace_sdk.ledger import Ledger

__all__ = [
    "LEDGER",
    "approvers_option",
    "by_option",
    "check_run",
    "ledger_option",
    "me",
    "open_ledger",
    "read_approvers",
]

LEDGER: Final = "ENVACE_LEDGER"
_MOST_NAMED: Final = 5
_Command = TypeVar("_Command", bound=Callable[..., Any])


def ledger_option(command: _Command) -> _Command:
    """Adds `--ledger`."""
    return click.option(
        "--ledger",
        "where",
        metavar="FILE|URL",
        envvar=LEDGER,
        show_envvar=True,
        help="A SQLite file or a database URL; default: your own ledger.",
    )(command)


def approvers_option(command: _Command) -> _Command:
    """Adds `--approvers`; `read_approvers` reads it."""
    return click.option(
        "--approvers",
        type=click.Path(exists=True, dir_okay=False),
        envvar="ENVACE_APPROVERS",
        show_envvar=True,
        help="A YAML file that says who may approve, and their roles: `ann: [finance]`.",
    )(command)


def by_option(command: _Command) -> _Command:
    """Adds `--by`."""
    return click.option("--by", metavar="NAME", help="Who you are; default: your user name here.")(command)


def open_ledger(where: str | None, *, approvers: Mapping[str, list[str]] | None = None) -> Ledger:
    """The ledger that is meant; one that is not there is not made.

    Raises:
        ClickException: there is none.
        StoreError: it cannot be opened.
    """
    from envace_sdk.ledger import Ledger
    from envace_sdk.ledger.database import default_path
    from envace_sdk.store.engine import absent

    is_url = where is not None and "://" in where
    place: Path | str = (where if is_url else Path(where)) if where is not None else default_path()
    path = absent(place) if isinstance(place, str) else place
    if path is not None and not path.is_file():
        raise click.ClickException(f"{path}: there is no ledger; a guard makes it, or say --ledger")
    return Ledger.open(place, approvers=approvers)


def me() -> str:
    """The user at this terminal."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"


def read_approvers(file: str | None) -> dict[str, list[str]] | None:
    """The roles of each person who may approve, from a file. Raises: ClickException when it holds something else."""
    if file is None:
        return None
    import yaml

    try:
        found = yaml.safe_load(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise click.ClickException(f"{file}: cannot be read: {error}") from error
    if not isinstance(found, dict) or not all(
        isinstance(name, str) and isinstance(roles, list) and all(isinstance(role, str) for role in roles)
        for name, roles in found.items()
    ):
        raise click.ClickException(f"{file}: expected names with lists of roles, `ann: [finance]`")
    return found


def check_run(opened: Ledger, run: str | None) -> None:
    """Let a run through that is in the ledger: a mistyped one has nothing that could be wrong. Raises: LedgerError."""
    from envace_sdk.errors import LedgerError

    names = [] if run is None else [one.name for one in reversed(opened.runs())]
    if run is not None and run not in names:
        known = ", ".join(map(repr, names[:_MOST_NAMED])) or "none"
        raise LedgerError(f"the ledger {opened.database.place} has no run {run!r} (its latest: {known})")
