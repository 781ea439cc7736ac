"""`envace-sdk doctor`: what is installed here, and does it work."""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click

__all__ = ["doctor"]


@click.command(
    epilog="""\b
Exit codes: 0 all that is needed works, 1 something that is needed does not.
Extras that are not installed are named with the command that installs them; that is no failure.
""",
)
def doctor() -> None:
    """Say what is installed and works on this machine, and what to do about the rest."""
    healthy = True
    for name, required, check in _CHECKS:
        try:
            found = check()
            mark, text = click.style("ok", fg="green"), found
        except Exception as error:  # whatever is wrong with a part, the others are still examined
            healthy = healthy and not required
            mark = click.style("FAILS", fg="red") if required else click.style("absent", fg="yellow")
            text = str(error) or type(error).__name__
        click.echo(f"{mark:>18}  {name:<18} {text}")
    sys.exit(0 if healthy else 1)


def _python() -> str:
    return f"{sys.version.split()[0]} at {sys.executable}"


def _core() -> str:
    for module in ("alembic", "celpy", "immutables", "jsonschema_rs", "mimesis", "pydantic", "rfc8785", "sqlalchemy"):
        importlib.import_module(module)
    return f"envace-sdk {version('envace-sdk')} with its dependencies"


def _extra(extra: str, *distributions: str) -> Callable[[], str]:
    def check() -> str:
        try:
            return ", ".join(f"{name} {version(name)}" for name in distributions)
        except PackageNotFoundError as missing:
            raise RuntimeError(f"{missing.name} is not installed: pip install 'envace-sdk[{extra}]'") from missing

    return check


def _toolsets() -> str:
    from envace_sdk.rehearse import Environment
    from envace_sdk.tools import shipped

    def described() -> Iterator[str]:
        for name, folder in sorted(shipped().items()):
            environment = Environment.load(folder)
            if environment.toolset.quarantined:
                raise RuntimeError(f"{name}: {environment.toolset.findings[0]}")
            yield f"{name} ({len(environment.toolset)} tools)"

    return ", ".join(described())


def _store() -> str:
    from envace_sdk.store import Store

    with tempfile.TemporaryDirectory() as folder:
        Store.open(f"sqlite:///{Path(folder) / 'doctor.db'}").close()
    return "SQLite opens and migrates"


_CHECKS: tuple[tuple[str, bool, Callable[[], str]], ...] = (
    ("Python", True, _python),
    ("core", True, _core),
    ("toolsets", True, _toolsets),
    ("store", True, _store),
    ("MCP server", False, _extra("mcp", "mcp", "uvicorn", "starlette")),
    ("PostgreSQL", False, _extra("postgres", "psycopg")),
)
