"""Servers in a thread of the test process: a client elsewhere in it reaches them as it would any other."""

import asyncio
import contextlib

import uvicorn
from anyio.from_thread import start_blocking_portal
from envace_sdk.mcp_servers.address import Address, Names
from envace_sdk.mcp_servers.control import Control
from envace_sdk.mcp_servers.control_socket import open_socket
from envace_sdk.mcp_servers.http import HttpOptions, build_app


@contextlib.contextmanager
def http_server(worlds, *, wrap=lambda app: app, **options):
    """Serves these worlds over HTTP; gives the base URL. The app is wrapped, if so wanted."""
    address = Address("127.0.0.1", 0)
    realms = {worlds.environment.toolset.name: worlds}
    options = HttpOptions(**{"names": Names(address), **options})
    with serving(wrap(build_app(realms, Control(realms, transport="http"), options))) as base:
        yield base


def unlabelled(app):
    """Has an app not say that its answers are rehearsed, so that it can stand for a real one."""

    async def wrapped(scope, receive, send):
        async def sent(message):
            if "body" in message:  # as long as it was, whatever the headers announced
                message = {**message, "body": message["body"].replace(b"dev.envace/evidence", b"dev.nobody/evidence")}
            await send(message)

        await app(scope, receive, sent)

    return wrapped


@contextlib.contextmanager
def serving(app):
    """Serves an ASGI app; gives the base URL."""
    address = Address("127.0.0.1", 0)
    with contextlib.ExitStack() as running:
        listener = running.enter_context(address.listen())
        portal = running.enter_context(start_blocking_portal())
        running.enter_context(portal.wrap_async_context_manager(_uvicorn(app, listener)))
        yield address.url(listener.getsockname()[1])


@contextlib.asynccontextmanager
async def _uvicorn(app, listener):
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    yield
    server.should_exit = True
    await serving


@contextlib.contextmanager
def control_server(worlds):
    """Opens the control socket of these worlds; gives its path."""
    control = Control({worlds.environment.toolset.name: worlds}, transport="test")
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(open_socket(control)) as path:
        yield path
