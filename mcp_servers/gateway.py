"""From the options of `envace-sdk gateway` to a running gateway."""

from __future__ import annotations

import asyncio
import getpass
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from envace_sdk.errors import ToolsetError
from envace_sdk.guard import Guard, RulePolicy, Webhook, load_policy, parse_policy
from envace_sdk.ledger import Ledger
from envace_sdk.logs import log_to_stderr
from envace_sdk.rehearse import Environment, Rehearser
from envace_sdk.tools.toolset import Toolset
from envace_sdk.tools.upstream import Target, pull_now
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.infer import infer

from .address import Address, Names
from .gateway_calls import Gate

if TYPE_CHECKING:
    from envace_sdk.models import ChatModel

__all__ = ["DEFAULT_POLICY", "Options", "rules_of", "run", "run_api"]

logger = logging.getLogger(__name__)

_GUESS: Final = 0.5
"""The confidence in rules that are inferred from what the server itself says."""

DEFAULT_POLICY: Final = """
rules:
  - name: reads
    when: risk.level == 'low'
    then: commit
    reason: by its rule it changes nothing
"""
"""Where no policy is given: what is known to change nothing passes, and a person is asked about all else."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to guard, and how.

    Without a target there is only the HTTP API, and the tools are needed.
    """

    target: Target | None = None
    name: str = ""
    """Of the real server, in policies, approvals and the ledger; default: the toolset's name."""
    tools: str | None = None
    """What to rehearse with, as `Environment.load` takes it; default: what the server lists, rules inferred."""
    dynamics: Path | None = None
    """Rules of what the tools do, where the toolset has none of its own."""
    seed_data: tuple[str, ...] = ()
    """What is known of the real world at the start."""
    complete: bool = False
    """Whether that is all there is, so that what is not in it is missing."""
    policy: Path | None = None
    ledger: str | None = None
    model: str | None = None
    samples: int = 1
    shadow: bool = False
    thread: str = ""
    approver: str = ""
    asked_by: str = ""
    patience: float = 300.0
    known_since: datetime | None = None
    """What the ledger says was observed since then is part of the known world."""
    webhook: str | None = None
    webhook_secret: str = field(default="", repr=False)
    address: Address | None = None
    """Where to listen for HTTP clients; None: one client on standard input and output."""
    token: str | None = field(default=None, repr=False)
    """That callers of the API must send."""
    allowed_hosts: tuple[str, ...] = ()
    trust_hints: bool = False
    """Whether to believe the server when it says of a tool that it only reads, or destroys nothing."""
    log_level: str = "warning"


def run(options: Options) -> int:
    """Guard a server until the client, the server or a signal ends it; gives the exit code.

    Raises:
        EnvaceError: the server, the toolset, the policy or the ledger cannot be used.
        OSError: the address cannot be listened on.
    """
    assert options.target is not None  # noqa: S101  the command line sees to it
    if options.address is not None:
        with options.address.listen() as listener, _gate(options) as gate:
            asyncio.run(_http(options, options.address, listener, gate))
        return 0
    from . import stdio

    with stdio.claim_stdio() as pipes:
        log_to_stderr(options.log_level)
        with _gate(options) as gate:
            return asyncio.run(_stdio(options, pipes, gate))


def run_api(options: Options) -> None:
    """Serve the HTTP API until a signal ends it.

    Raises:
        EnvaceError: the toolset, the policy or the ledger cannot be used.
        OSError: the address cannot be listened on.
    """
    assert options.address is not None  # noqa: S101  as above
    with options.address.listen() as listener, guarding(options) as (guard, name):
        asyncio.run(_api(options, options.address, listener, guard, name))


@contextmanager
def guarding(options: Options) -> Iterator[tuple[Guard, str]]:
    """The guard that the options ask for, and the server's name.

    Raises:
        EnvaceError: as `run`.
    """
    policy = load_policy(options.policy) if options.policy is not None else parse_policy(DEFAULT_POLICY, "default")
    model = _model(options)
    environment = _environment(options, model)
    webhooks = [Webhook(options.webhook, options.webhook_secret)] if options.webhook else []
    try:
        with _ledger(options, policy) as ledger:
            guard = Guard(
                environment,
                ledger,
                policy,
                samples=options.samples,
                shadow=options.shadow,
                complete=options.complete,
                trusted=[options.name or environment.toolset.name] if options.trust_hints else (),
                asked_by=options.asked_by,
                webhooks=webhooks,
            )
            try:
                if options.known_since is not None:
                    guard.catch_up(since=options.known_since)
                yield guard, options.name or environment.toolset.name
            finally:
                guard.close()
    finally:
        if model is not None:
            asyncio.run(model.close())


@contextmanager
def _gate(options: Options) -> Iterator[Gate]:
    with guarding(options) as (guard, name):
        approver = options.approver or _user()
        yield Gate(guard, server=name, approver=approver, ledger=_told(options.ledger))


async def _stdio(options: Options, pipes: object, gate: Gate) -> int:
    from .gateway_stdio import StdioGateway
    from .stdio import Pipes

    assert isinstance(pipes, Pipes)  # noqa: S101  imported late
    assert options.target is not None  # noqa: S101
    thread = options.thread or "gateway"
    return await StdioGateway(gate, options.target, thread=thread, patience=options.patience).run(pipes)


async def _http(options: Options, address: Address, listener: object, gate: Gate) -> None:
    import socket

    from . import http
    from .gateway_http import build_gateway

    assert isinstance(listener, socket.socket)  # noqa: S101
    assert options.target is not None  # noqa: S101
    log_to_stderr(options.log_level)
    names = Names(address, also=options.allowed_hosts)
    thread = options.thread or "gateway"
    app = build_gateway(gate, options.target, thread=thread, patience=options.patience, names=names)
    sys.stderr.write(f"guarding {options.target} at {address.url(listener.getsockname()[1])}/mcp\n")
    await http.serve(app, listener)


async def _api(options: Options, address: Address, listener: object, guard: Guard, name: str) -> None:
    import socket

    from . import http
    from .gateway_api import build_api

    assert isinstance(listener, socket.socket)  # noqa: S101
    assert options.token is not None  # noqa: S101
    log_to_stderr(options.log_level)
    names = Names(address, also=options.allowed_hosts)
    app = build_api(guard, server=name, token=options.token, names=names)
    sys.stderr.write(f"judging calls of {name} at {address.url(listener.getsockname()[1])}/v1\n")
    await http.serve(app, listener)


def _environment(options: Options, model: ChatModel | None) -> Environment:
    rehearser: Rehearser | None = None
    if model is not None:
        from envace_sdk.rehearse.model import ModelRehearser

        rehearser = ModelRehearser(model)
    if options.tools is not None:
        return Environment.load(options.tools, model=rehearser, dynamics=options.dynamics, seed_data=options.seed_data)
    target = options.target
    if target is None:
        raise ToolsetError("without a server to ask, say with --tools which tools there are")
    if target.command:
        target = replace(target, env={**os.environ, **target.env})  # as it will run
    catalogue = pull_now(target)
    named = catalogue.server.get("name")
    toolset = Toolset.from_catalogue(catalogue, name=named if isinstance(named, str) and named else "server")
    for finding in toolset.findings:
        if finding.severity == "error":
            logger.warning("not known to the guard, which refuses each call of it: %s", finding)
    if options.dynamics is not None or options.seed_data:
        return Environment.load(toolset, model=rehearser, dynamics=options.dynamics, seed_data=options.seed_data)
    return Environment(toolset, dynamics=rules_of(toolset), model=rehearser)


def rules_of(toolset: Toolset) -> Dynamics:
    """Inferred rules, which nobody has looked at: guesses, about a world of which nothing is known yet."""
    rules = infer(toolset)
    return Dynamics(
        collections={name: rule.model_copy(update={"open": True}) for name, rule in rules.collections.items()},
        tools={
            name: rule.model_copy(update={"confidence": min(rule.confidence, _GUESS)})
            for name, rule in rules.tools.items()
        },
    )


def _model(options: Options) -> ChatModel | None:
    if options.model is None:
        return None
    from envace_sdk.models import load_model

    return load_model(options.model)


def _ledger(options: Options, policy: RulePolicy) -> Ledger:
    where = options.ledger
    url = where if where is None or "://" in where else Path(where)
    return Ledger.open(url, approvers=policy.approvers or None)


def _told(ledger: str | None) -> str:
    """What to tell a model about the ledger: never the password in a database's URL."""
    if ledger is None:
        return ""
    return ledger if "://" not in ledger or ledger.startswith("sqlite:") else "URL"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        return "user of the client"
