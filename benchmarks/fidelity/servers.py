"""Real MCP servers, in their own processes, recorded by our recorder while a script talks to them."""

from __future__ import annotations

import asyncio
import fcntl
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from typing import Any, Self

from envace_sdk.mcp_servers.upstream import Connection, connect

from envace_sdk.tools.upstream import Target

from .play import LONGEST, SHORTEST, Answer, Call, Script, again, play, textual

__all__ = ["HOME", "PublicServer"]

HOME = Path(tempfile.gettempdir()) / "envace-fidelity"
"""Where the servers' data lie: at the same place in each episode, for paths are part of arguments and answers."""

INSTALLER = Path(__file__).parents[2] / "tests" / "support" / "public_servers.py"
RECORDER = (sys.executable, "-c", "from envace_sdk.cli.main import main; main()", "record", "--no-redact")


def _nothing(_: int) -> dict[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class PublicServer:
    """An environment that is a server from npm or PyPI."""

    name: str
    package: str
    count: int
    """Of episodes."""
    reads: frozenset[str]
    prepare: Callable[[Path, int], None]
    """Lays the same data into an empty folder; some have a few variants, told apart by the episode's number."""
    script: Callable[[Random, Path], Script]
    env: Callable[[int], Mapping[str, str]] = _nothing
    """Of the server's process, for an episode's number."""

    def episodes(self) -> list[str]:
        """Their names."""
        return [f"{self.name}-{n:03}" for n in range(self.count)]

    def record(self, folder: Path, sides: Mapping[str, str], seed: int) -> list[dict[str, Any]]:
        """Play the episodes that `sides` names, record each into the file of its side, and give the server's tools."""
        tools: list[dict[str, Any]] = []
        lines: dict[str, list[str]] = {side: [] for side in ("recorded", "heldout")}
        HOME.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch, (HOME / f"{self.name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another recording would use the same folder
            for name, side in sides.items():
                file = Path(scratch) / f"{name}.jsonl"
                tools = self._episode(name, file, seed)
                recorded = _named(file.read_text(encoding="utf-8").splitlines(), name)
                lines[side] += recorded[1 if lines[side] else 0 :]  # one header
        for side, text in lines.items():
            (folder / f"{side}.jsonl").write_text("".join(text), encoding="utf-8")
        return tools

    def _episode(self, name: str, file: Path, seed: int) -> list[dict[str, Any]]:
        data = HOME / self.name
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(parents=True)
        number = int(name.rpartition("-")[2])
        self.prepare(data, number)
        words, env = _command(self.package, data)
        target = Target(
            (*RECORDER, "-o", str(file), "--", *words),
            env={"TZ": "UTC", "LC_ALL": "C.UTF-8", **env, **self.env(number)},
            handshake="legacy",
        )
        random = Random(f"{seed} {name}")
        with _Client(target) as client:
            script = again(random, self.script(random, data), self.reads)
            for _ in play(script, client, random.randint(SHORTEST, LONGEST), client.tools):
                pass
        return client.tools


class _Client:
    """A client of the recorder, and through it of the server."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._runner = asyncio.Runner()
        self._connection: Connection
        self.tools: list[dict[str, Any]] = []

    def call(self, call: Call) -> Answer:
        """The text of the result, or of the error."""
        request = self._connection.ask_raw("tools/call", {"name": call.tool, "arguments": dict(call.arguments)})
        answer: Any = self._runner.run(request)
        if "error" in answer:
            return Answer(answer["error"]["message"], is_error=True)
        return Answer(textual(answer["result"]), answer["result"].get("isError") is True)

    def __enter__(self) -> Self:
        self._connection = self._runner.run(connect(self._target))
        catalogue: Any = self._runner.run(self._connection.list_tools_raw())
        self.tools = list(catalogue.definitions)
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._connection.close())
        self._runner.close()


def _named(lines: list[str], name: str) -> list[str]:
    """The lines of one session's recording, with the episode's name for the session's."""
    out = []
    for text in lines:
        line = json.loads(text)
        key = "id" if line["kind"] == "session" else "session"
        if key in line:
            line[key] = name
        out.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    return out


def _command(package: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    """The words and the environment that run a server, installed where it is missing."""
    spec = spec_from_file_location("public_servers", INSTALLER)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    server = next(one for one in module.SERVERS if one["package"] == package)
    words, env = module.command_of(server, folder)
    return words, env
