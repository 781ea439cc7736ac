"""From the options of `envace-sdk serve` to a running server."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import logging
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from envace_sdk.errors import ToolsetError
from envace_sdk.faults import Schedule, fault_plan
from envace_sdk.logs import log_to_stderr
from envace_sdk.rehearse import Environment, Rehearser, Worlds

from .address import Address

if TYPE_CHECKING:
    import socket

    from envace_sdk.models import ChatModel
    from envace_sdk.store import Store

    from .http import HttpOptions
    from .stdio import Pipes

__all__ = [
    "Options",
    "announce",
    "closing_model",
    "environments",
    "http_options",
    "load_model",
    "serve_http",
    "serve_stdio",
    "settling",
    "start_logging",
]

logger = logging.getLogger(__name__)

DEFAULT_WORLD: Final = "default"
MOST_WORLDS: Final = 10_000
"""Most worlds of a toolset that one process holds, unless said otherwise."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to serve, and how. The sources are what `Environment.load` takes, each with a name or None."""

    sources: tuple[tuple[str | None, str], ...]
    world: str = DEFAULT_WORLD
    seed: int = 0
    clock: datetime | None = None
    seed_data: tuple[str, ...] = ()
    fixtures: tuple[Path, ...] = ()
    ignore: tuple[str, ...] = ()
    recorded_only: bool = False
    dynamics: Path | None = None
    faults: str | None = None
    model: str | None = None
    store: str | None = None
    exact: bool = False
    page_size: int | None = None
    log_level: str = "warning"
    auth_token: str | None = field(default=None, repr=False)
    control_token: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    json_response: bool = False
    migrate: bool = False
    max_worlds: int | None = None
    max_request_bytes: int = 4 * 1024 * 1024
    max_depth: int = 100
    call_timeout: float | None = None
    grace: float = 3.0
    workers: int | None = None
    cache_worlds: int = 1_000
    store_connections: int = 8


def serve_stdio(options: Options) -> None:
    """Serve one toolset to one client, on standard input and output.

    Raises:
        EnvaceError: a source, or a file beside it, cannot be used.
    """
    from . import stdio

    with stdio.claim_stdio() as pipes:
        start_logging(options.log_level)
        model = load_model(options)
        with _realms(options, model) as (realms, store):
            asyncio.run(closing_model(model, _stdio(pipes, realms, store, options)))


async def _stdio(pipes: Pipes, realms: Mapping[str, Worlds], store: Store | None, options: Options) -> None:
    import anyio

    from . import stdio
    from .control import Control
    from .control_socket import open_socket
    from .exact import Splice
    from .server import RehearsedServer

    (worlds,) = realms.values()
    closing = anyio.Event()
    server = RehearsedServer(
        worlds,
        world=options.world,
        exact=options.exact,
        page_size=options.page_size,
        version=version("envace-sdk"),
        hang_up=closing.set,
    )
    if options.exact:
        server.catalogue.splice = Splice()
    async with open_socket(Control(realms, transport="stdio", store=store)):
        logger.info("serving %s on standard input and output, world %s", *realms, options.world)
        await stdio.serve(server, pipes, splice=server.catalogue.splice, closing=closing)


def serve_http(options: Options, address: Address) -> None:
    """Serve any number of toolsets over HTTP.

    Raises:
        EnvaceError: a source, or a file beside it, cannot be used.
        OSError: the address cannot be listened on.
    """
    start_logging(options.log_level)
    model = load_model(options)
    with address.listen() as listener, _realms(options, model) as (realms, store):
        asyncio.run(closing_model(model, _http(listener, address, realms, store, options)))


async def _http(
    listener: socket.socket, address: Address, realms: Mapping[str, Worlds], store: Store | None, options: Options
) -> None:
    from . import http
    from .control import Control
    from .control_socket import open_socket

    control = Control(realms, transport="http", store=store)
    ready = None if store is None else functools.partial(asyncio.to_thread, store.reachable)
    app = http.build_app(realms, control, http_options(options, address, ready))
    async with open_socket(control):
        announce(realms, address.url(listener.getsockname()[1]))
        await http.serve(app, listener, grace=options.grace)


def http_options(
    options: Options, address: Address, ready: Callable[[], Awaitable[bool]] | None, *, sessionless: bool = False
) -> HttpOptions:
    """How an app serves at this address."""
    from .address import Names
    from .http import HttpOptions

    guarded = options.auth_token is not None and not address.is_loopback
    return HttpOptions(
        names=None if guarded else Names(address, also=options.allowed_hosts),
        auth_token=options.auth_token,
        control_token=options.control_token,
        json_response=options.json_response,
        default_world=options.world,
        exact=options.exact,
        page_size=options.page_size,
        version=version("envace-sdk"),
        body_limit=options.max_request_bytes,
        depth_limit=options.max_depth,
        sessionless=sessionless,
        ready=ready,
    )


def announce(toolsets: Iterable[str], url: str) -> None:
    """Tell on standard error what is served where."""
    for toolset in toolsets:
        sys.stderr.write(f"serving {toolset} at {url}/{toolset}/mcp\n")
    sys.stderr.flush()


def load_model(options: Options) -> ChatModel | None:
    """The model that answers what no rule does, if one is wanted. Raises: ModelError."""
    if options.model is None:
        return None
    from envace_sdk import models

    return models.load_model(options.model)


async def closing_model(model: ChatModel | None, serving: Coroutine[None, None, None]) -> None:
    """Serve, and let go of the model afterwards."""
    try:
        await serving
    finally:
        if model is not None:
            await model.close()


@contextlib.contextmanager
def _realms(options: Options, model: ChatModel | None) -> Iterator[tuple[Mapping[str, Worlds], Store | None]]:
    """The worlds by toolset, and the store they are kept in."""
    with contextlib.ExitStack() as opened:
        store = None
        if options.store is not None:
            from envace_sdk.store import Store

            store = opened.enter_context(Store.open(options.store, migrate=True if options.migrate else None))
        realms: dict[str, Worlds] = {}
        with settling():
            for environment, faults in environments(options, model):
                realms[environment.toolset.name] = worlds = Worlds(
                    environment,
                    seed=options.seed,
                    clock=options.clock,
                    limit=options.max_worlds or MOST_WORLDS,
                    store=store,
                    faults=faults,
                    call_seconds=options.call_timeout,
                )
                worlds.get(options.world)
        yield realms, store


def environments(options: Options, model: ChatModel | None) -> list[tuple[Environment, Schedule | None]]:
    """What is served, each with the faults that its worlds meet. Raises: EnvaceError."""
    plan = fault_plan(options.faults)
    found: dict[str, tuple[Environment, Schedule | None]] = {}
    for name, source in options.sources:
        environment = _environment(name, source, options, model)
        # Of several toolsets, a plan may name tools of one.
        faults = None if plan is None else environment.schedule(plan, strict=len(options.sources) == 1)
        toolset = environment.toolset.name
        if toolset in found:
            raise ToolsetError(f"two toolsets are named {toolset!r}: name one anew, --tools NAME={source}")
        found[toolset] = (environment, faults)
    return list(found.values())


@contextlib.contextmanager
def settling() -> Iterator[None]:
    """What is loaded meanwhile stays for good: no collection walks through it, neither now nor later."""
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def _environment(name: str | None, source: str, options: Options, model: ChatModel | None) -> Environment:
    environment = Environment.load(
        source,
        name=name,
        dynamics=options.dynamics,
        fixtures=options.fixtures,
        seed_data=options.seed_data,
        ignore=options.ignore,
        model=_rehearser(model),
        recorded_only=options.recorded_only,
    )
    for finding in environment.toolset.findings:
        if finding.severity == "error":
            logger.warning("quarantined: %s", finding)
    if not environment.toolset.tools:
        logger.warning("%s has no tool to call", environment.toolset.name)
    quarantined = {finding.tool for finding in environment.toolset.findings}
    for tool in environment.check():
        if tool not in quarantined:
            logger.warning("the dynamics have a rule for %r, which is no tool of %s", tool, environment.toolset.name)
    return environment


def _rehearser(model: ChatModel | None) -> Rehearser | None:
    if model is None:
        return None
    from envace_sdk.rehearse.model import ModelRehearser

    return ModelRehearser(model)


def start_logging(level: str) -> None:
    """Log to standard error, warnings of libraries included."""
    log_to_stderr(level)
    if level != "debug":
        logging.getLogger("mcp").setLevel(logging.WARNING)  # its INFO tells of every session
