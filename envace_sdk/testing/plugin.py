"""The pytest plugin: rehearsed worlds as fixtures, and tests that can call nothing real.

Every run of pytest imports this where the package is installed: what takes time to import waits until it is used.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from envace_sdk.inprocess import RehearsedTools
    from envace_sdk.rehearse import Environment

    from .guard import Guard

__all__ = ["Client", "Load"]

_GUARD = pytest.StashKey["Guard"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """What can be said in the project's configuration."""
    parser.addini("envace_toolset", "Toolset of tests whose `envace` marker names none: a name, a folder or a file.")
    parser.addini("envace_nothing_real", "Let no test call anything real.", type="bool", default=False)
    parser.addini("envace_allow", "Hosts and programs that may be called all the same.", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    config.addinivalue_line(
        "markers", "envace(toolset, seed=0, faults=None, clock=None, **options): the world of the fixture envace_tools"
    )
    config.addinivalue_line(
        "markers", "nothing_real(allow=(), loopback=True): the test fails if it calls something real"
    )


class Load:
    """Loads worlds: `load("retail", seed=3, faults="flaky")`. Environments are loaded once in a run."""

    def __init__(self, default: str) -> None:
        self._default = default
        self._environments: dict[str, Environment] = {}

    def __call__(self, toolset: Any = None, *, seed: int = 0, **options: Any) -> RehearsedTools:
        """A new world, as `RehearsedTools.load` makes it.

        Raises:
            pytest.UsageError: no toolset is named, here or in the configuration.
            EnvaceError: a file is wrong.
        """
        from envace_sdk.inprocess import RehearsedTools
        from envace_sdk.rehearse import Environment

        source = toolset or self._default
        if not source:
            raise pytest.UsageError("name a toolset: @pytest.mark.envace('retail'), or envace_toolset in the settings")
        if isinstance(source, Environment):
            return RehearsedTools.load(source, seed=seed, **options)
        own = {name: options.pop(name) for name in ("clock", "faults") if name in options}
        key = repr((str(source), sorted(options.items())))
        if key not in self._environments:
            self._environments[key] = Environment.load(source, **options)
        return RehearsedTools.load(self._environments[key], seed=seed, **own)


class Client:
    """Opens in-memory MCP clients: `async with envace_client() as client: await client.call_tool(…)`."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    def __call__(
        self, tools: RehearsedTools | None = None, *, mode: Literal["auto", "legacy"] = "auto", **options: Any
    ) -> AbstractAsyncContextManager[Any]:
        """An `mcp.Client` that is connected to a world: that of `envace_tools`, or another.

        Args:
            tools: of the world.
            mode: `legacy` for the protocol up to 2025-11-25, with its handshake.
            options: of `mcp.Client`.
        """
        import importlib

        world = self._request.getfixturevalue("envace_tools") if tools is None else tools
        server = importlib.import_module("envace_sdk.mcp_servers.server").RehearsedServer(
            world.worlds, world=world.name
        )
        client: AbstractAsyncContextManager[Any] = importlib.import_module("mcp").Client(server, mode=mode, **options)
        return client


@pytest.fixture(scope="session")
def envace_load(pytestconfig: pytest.Config) -> Load:
    """Loads any number of worlds: `envace_load("retail", seed=3, faults="flaky")`."""
    return Load(pytestconfig.getini("envace_toolset"))


@pytest.fixture
def envace_tools(request: pytest.FixtureRequest, envace_load: Load) -> RehearsedTools:
    """The tools of a new world, as the marker `envace` says."""
    marker = request.node.get_closest_marker("envace")
    return envace_load(*marker.args, **marker.kwargs) if marker else envace_load()


@pytest.fixture
def envace_client(request: pytest.FixtureRequest) -> Client:
    """Opens in-memory MCP clients of `envace_tools`, or of other worlds. Skipped without the extra `mcp`."""
    import importlib.util

    if importlib.util.find_spec("mcp") is None:
        pytest.skip("envace_client needs the extra mcp: pip install 'envace-sdk[mcp]'")
    return Client(request)


@pytest.fixture
def nothing_real(request: pytest.FixtureRequest) -> Guard:
    """Lets the test call nothing real; gives the guard, which notes what was refused."""
    guard: Guard = request.node.stash[_GUARD]
    return guard


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Put the guard up before the test's fixtures."""
    marker = item.get_closest_marker("nothing_real")
    wanted = marker is not None or "nothing_real" in getattr(item, "fixturenames", ())
    if not wanted and not item.config.getini("envace_nothing_real"):
        return
    from .guard import Guard

    options = dict(marker.kwargs) if marker is not None else {}
    allow = (*item.config.getini("envace_allow"), *options.pop("allow", ()))
    item.stash[_GUARD] = Guard(allow, **options).__enter__()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that called something real, whatever it made of the refusal."""
    guard = item.stash.get(_GUARD, None)
    try:
        outcome = yield
    except BaseException as error:
        from envace_sdk.errors import RealCallError

        if guard is None or not guard.calls or isinstance(error, RealCallError):
            raise
        raise RealCallError(guard.report()) from error
    if guard is not None:
        guard.check()
    return outcome


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Take the guard down after the test's fixtures."""
    guard = item.stash.get(_GUARD, None)
    if guard is not None:
        del item.stash[_GUARD]
        guard.__exit__()
