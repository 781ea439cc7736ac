"""From the options of `envace-sdk studio` to a running server."""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import uvicorn

from envace_sdk.mcp_servers.address import Address, Names
from envace_sdk.store import Store

from .app import build_app
from .examined import Examination
from .ledgers import Ledgers
from .toolsets import Toolsets

__all__ = ["Options", "run"]

_SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class Options:
    """What to look at, and who may."""

    address: Address
    by: str
    ledger: str | None = None
    tools: tuple[tuple[str | None, str], ...] = ()
    """What `Environment.load` takes, each with a name or None; none: the shipped toolsets."""
    store: str | None = None
    """Where the worlds of the tools are kept; None: in memory."""
    runs: tuple[Path, ...] = ()
    """Folders of training runs, or of folders of them."""
    recordings: tuple[Path, ...] = ()
    """What the one toolset is examined against."""
    approvers: Mapping[str, list[str]] | None = None
    token: str | None = field(default=None, repr=False)
    """Needed where other machines can reach the address; made where it is and there is none."""
    allowed_hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises: ValueError when the token is too short to keep anybody out."""
        if self.token is not None and len(self.token) < _SHORTEST_TOKEN:
            raise ValueError(f"a token of {len(self.token)} characters can be guessed: {_SHORTEST_TOKEN} at least")


def run(options: Options) -> None:
    """Serve until a signal ends it.

    Raises:
        EnvaceError: the ledger, the store or a toolset cannot be opened.
        OSError: the address cannot be listened on.
    """
    address, token = options.address, options.token
    if token is None and not address.is_loopback:
        token = secrets.token_urlsafe(24)
        sys.stderr.write(f"token: {token}\n")
    ledgers = Ledgers(options.ledger, options.approvers)
    ledgers.get()  # one that cannot be opened is told of now, not on a page
    toolsets = Toolsets(options.tools, None if options.store is None else Store.open(options.store))
    only = toolsets.only
    exam = Examination(only.environment, options.recordings) if only and options.recordings else None
    names = Names(address, also=options.allowed_hosts)
    app = build_app(
        names=names, token=token, by=options.by, ledgers=ledgers, toolsets=toolsets, runs=options.runs, exam=exam
    )
    with address.listen() as listener:
        sys.stderr.write(f"studio at {address.url(listener.getsockname()[1])}\n")
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, ws="none", lifespan="on"
        )
        asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
