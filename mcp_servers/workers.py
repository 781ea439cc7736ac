"""Several processes that serve the same worlds on one port, from one PostgreSQL database."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import socket
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from envace_sdk.faults import Schedule
from envace_sdk.rehearse import Environment
from envace_sdk.rehearse.shared import SharedWorlds

from . import serving
from .address import Address
from .serving import Options
from .supervisor import Supervisor

if TYPE_CHECKING:
    from envace_sdk.store.turns import Turns

    from .metrics import Metrics

__all__ = ["serve_workers"]

logger = logging.getLogger(__name__)

MOST_WORLDS: Final = 1_000_000
"""Most worlds of a toolset that are stored, unless said otherwise."""
_METRICS: Final = "PROMETHEUS_MULTIPROC_DIR"


def serve_workers(options: Options, address: Address) -> None:
    """Serve any number of toolsets over HTTP with `options.workers` processes.

    Raises:
        EnvaceError: a source, a file beside it, or the database cannot be used; or the workers keep dying.
        OSError: the address cannot be listened on.
    """
    serving.start_logging(options.log_level)
    with address.listen() as listener, tempfile.TemporaryDirectory(prefix="envace-metrics-") as folder:
        with _turns(options) as turns:
            turns.prepare(migrate=True if options.migrate else None)
        os.environ[_METRICS] = folder  # before the library is imported, which looks only then
        from .metrics import Metrics

        metrics = Metrics()
        # Loaded once, and shared by the workers as long as none changes it. A model may have threads and connections,
        # which no fork survives: with one, each worker loads for itself.
        loaded = None
        if options.model is None:
            with serving.settling():
                loaded = serving.environments(options, None)
            serving.announce([environment.toolset.name for environment, _ in loaded], _url(address, listener))
            _warn(loaded)
        Supervisor(
            functools.partial(_work, options, address, listener, loaded, metrics),
            options.workers or 1,
            options.grace,
            stopping=listener.close,
            died=_forget,
            restarted=metrics.restarted,
        ).run()


def _turns(options: Options) -> Turns:
    from envace_sdk.store.turns import Turns

    return Turns(options.store or "", connections=options.store_connections, limit=options.max_worlds or MOST_WORLDS)


def _url(address: Address, listener: socket.socket) -> str:
    return address.url(listener.getsockname()[1])


def _forget(pid: int) -> None:
    from prometheus_client import multiprocess

    multiprocess.mark_process_dead(pid)  # type: ignore[no-untyped-call]


def _warn(loaded: Sequence[tuple[Environment, Schedule | None]]) -> None:
    for environment, _ in loaded:
        if environment.recorded.dialogues:
            logger.warning(
                "%s: recorded questions to clients are asked only of those that speak 2026-07-28: with --workers, "
                "clients of older revisions have no session",
                environment.toolset.name,
            )


def _work(
    options: Options,
    address: Address,
    listener: socket.socket,
    loaded: Sequence[tuple[Environment, Schedule | None]] | None,
    metrics: Metrics,
    number: int,
    lifeline: int,
) -> None:
    """What one worker does, until it is told to end."""
    model = serving.load_model(options) if loaded is None else None
    if loaded is None:
        with serving.settling():
            loaded = serving.environments(options, model)
        if number == 0:
            serving.announce([environment.toolset.name for environment, _ in loaded], _url(address, listener))
            _warn(loaded)
    serve = _serve(options, address, listener, loaded, metrics, number, lifeline)
    asyncio.run(serving.closing_model(model, serve))


async def _serve(
    options: Options,
    address: Address,
    listener: socket.socket,
    loaded: Sequence[tuple[Environment, Schedule | None]],
    metrics: Metrics,
    number: int,
    lifeline: int,
) -> None:
    from envace_sdk.store import Store
    from envace_sdk.store.engine import connect

    from . import http
    from .control import Control
    from .control_socket import open_socket

    with contextlib.ExitStack() as opened:
        turns = opened.enter_context(_turns(options))
        store = opened.enter_context(Store(connect(options.store)))
        realms = {}
        for environment, faults in loaded:
            worlds = SharedWorlds(
                environment,
                turns,
                seed=options.seed,
                clock=options.clock,
                held=options.cache_worlds,
                faults=faults,
                call_seconds=options.call_timeout,
                watcher=metrics,
            )
            opened.callback(worlds.close)
            realms[environment.toolset.name] = worlds
        control = Control(realms, transport="http", store=store, shared=True)
        # By a connection of its own: those of the turns may all be at work, and the server is ready all the same.
        ready = functools.partial(asyncio.to_thread, store.reachable)
        app = http.build_app(realms, control, serving.http_options(options, address, ready, sessionless=True), metrics)
        serve = http.serve(app, listener, grace=options.grace, lifeline=lifeline)
        if number:
            await serve
        else:  # any worker can answer for all worlds; `envace-sdk world` finds this one
            async with open_socket(control):
                await serve
