"""Toolsets, servers and clients that the tests of the MCP servers share."""

import contextlib
import gc
import hashlib
import json
import logging
import os
import subprocess
import sys
import venv
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest
from envace_sdk.mcp_servers.server import RehearsedServer
from mcp import Client, StdioServerParameters

from envace_sdk.cli.main import main
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.dynamics import Dynamics

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from envace_sdk.cli.main import main; main()"]
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"

TEXT = {"type": "string"}
ITEM = {
    "type": "object",
    "properties": {"item_id": TEXT, "title": TEXT, "done": {"type": "boolean"}},
    "required": ["item_id", "title", "done"],
}
DYNAMICS = """
collections:
  items: {key: item_id, noun: item, mint: "I-{n}"}
tools:
  add_item: {effect: create, collection: items, take: [title], set: {done: false}}
  get_item: {effect: read, collection: items, key: args.item_id}
  finish_item: {effect: update, collection: items, key: args.item_id, set: {done: true}}
  list_items: {effect: search, collection: items, filters: {done: {field: done}}, returns: {wrap: items}}
  item_titles: {effect: compute, returns: {value: "world.items.map(key, world.items[key].title)"}}
  first_item: {effect: compute, returns: {value: "null"}}
  broken_item: {effect: compute, returns: {value: "world.items['nothing'].title + 1"}}
"""


def _tool(name, description, properties=None, required=(), **more):
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    return {"name": name, "description": description, "inputSchema": schema, **more}


def item_tools():
    """A to-do list; with a vendor key, a list and a null as results, and a rule that fails."""
    return [
        _tool("add_item", "Adds an item.", {"title": TEXT}, ["title"], outputSchema=ITEM, **{"x-vendor": {"k": 1.0}}),
        _tool("get_item", "Gets an item.", {"item_id": TEXT}, ["item_id"], outputSchema=ITEM),
        _tool("finish_item", "Marks an item as done.", {"item_id": TEXT}, ["item_id"], outputSchema=ITEM),
        _tool("list_items", "Lists items.", {"done": {"type": "boolean"}}),
        _tool("item_titles", "All titles.", outputSchema={"type": "array", "items": TEXT}),
        _tool("first_item", "The first item, or null.", outputSchema={"anyOf": [ITEM, {"type": "null"}]}),
        _tool("broken_item", "Has a rule that cannot be evaluated."),
    ]


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def tools():
    return item_tools()


@pytest.fixture
def folder(tmp_path):
    """The to-do list as a toolset's folder."""
    path = tmp_path / "todo"
    path.mkdir()
    (path / "tools.json").write_text(json.dumps({"tools": item_tools()}))
    (path / "dynamics.yaml").write_text(DYNAMICS)
    return path


@pytest.fixture
def worlds(tools):
    environment = Environment(Toolset.from_definitions(tools, name="todo"), dynamics=Dynamics.parse(DYNAMICS))
    return Worlds(environment)


@pytest.fixture
def server(worlds):
    return RehearsedServer(worlds, version="1")


@pytest.fixture(params=["auto", "legacy"])
def mode(request):
    """Both eras, as the Python client calls them."""
    return request.param


@pytest.fixture(autouse=True)
def runtime(tmp_path_factory, monkeypatch):
    """Control sockets of tests are their own. The path of a socket must be short."""
    path = tmp_path_factory.mktemp("run")
    monkeypatch.setenv("ENVACE_RUNTIME_DIR", str(path))
    return path


@pytest.fixture
def command():
    """The words that start the command line in a process of its own; that takes a second or two."""
    return COMMAND


@pytest.fixture
def cli(runtime, monkeypatch, capsys):
    """Runs the command line in this process; gives its exit code and what it printed."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["envace-sdk", *map(str, words)])
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = leaving.code
        finally:
            root.handlers[:] = handlers
            root.setLevel(level)
            logging.captureWarnings(False)
            gc.unfreeze()
        return SimpleNamespace(code=code, **capsys.readouterr()._asdict())

    return run


@pytest.fixture
def stdio(runtime):
    """Parameters that start `envace-sdk serve …` on standard input and output."""

    def parameters(*arguments):
        words = [*COMMAND[1:], "serve", *map(str, arguments)]
        return StdioServerParameters(command=COMMAND[0], args=words, env=dict(os.environ))

    return parameters


@pytest.fixture
def connect(mode):
    """Opens a client of the current era, with a bound on how long it may take."""

    @contextlib.asynccontextmanager
    async def connected(target):
        try:
            with anyio.fail_after(60):
                async with Client(target, mode=mode) as client:
                    yield client
        except BaseExceptionGroup as group:
            raise _only(group) from None

    return connected


def _only(error):
    """A failed assertion as it was, not inside the groups of the task groups it went through."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def cache():
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "envace-sdk"


@pytest.fixture(scope="session")
def inspector():
    """Runs the MCP Inspector, installed where it is missing, and gives back the finished process."""
    folder = cache() / "node" / INSPECTOR.replace("/", "__")
    script = folder / "node_modules" / ".bin" / "mcp-inspector"
    if not script.exists():
        folder.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), INSPECTOR]
        subprocess.run(install, check=True)

    def run(*arguments):
        command = [str(script), "--cli", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    return run


@pytest.fixture(scope="session")
def old_python():
    """The Python of a virtual environment with an `mcp` 1.x, built where it is missing."""
    lock = ROOT / "locks" / "mcp-1.x.txt"
    digest = hashlib.sha256(lock.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = cache() / "venvs" / f"mcp-1.x-{digest}"
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--require-hashes", "-r", lock]
        subprocess.run(install, check=True)
        (folder / ".ready").touch()
    return python
