"""GorillaFileSystem and TicketAPI of the PyPI package `bfcl-eval`, on its own call sequences and ours."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Self

from envace_sdk.jsonschema import compile_schema

from .play import LONGEST, SHORTEST, Answer, Call, Script, again, play

__all__ = ["PACKAGE", "Entry", "PythonClass"]

PACKAGE = "bfcl-eval"
WORKER = Path(__file__).with_name("bfcl_worker.py")
TYPES = {"dict": "object", "float": "number", "tuple": "array"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the data set, as far as it concerns one class."""

    config: Mapping[str, Any]
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class PythonClass:
    """An environment that is a Python class of the package."""

    name: str
    document: str
    """Of its functions: the file's stem."""
    variants: int
    """Episodes made of each entry."""
    reads: frozenset[str]
    script: Callable[[Random, Entry], Script]
    sound: Callable[[Mapping[str, Any]], bool] = lambda _: True
    """Whether a beginning has the shape that the class needs; some entries do not, and all their calls crash."""

    def episodes(self) -> list[str]:
        """Their names."""
        return [f"{self.name}-{n:03}" for n in range(len(self.entries()) * self.variants)]

    def tools(self) -> list[dict[str, Any]]:
        """The package's own documents of the functions, as MCP definitions."""
        lines = _lines(f"multi_turn_func_doc/{self.document}.json")
        return [
            {"name": line["name"], "description": line["description"], "inputSchema": _schema(line["parameters"])}
            for line in lines
        ]

    def entries(self) -> list[Entry]:
        """What the package has for this class: where it begins, and the calls that are held to be right."""
        tools = {tool["name"]: tool["inputSchema"] for tool in self.tools()}
        answers = {line["id"]: line["ground_truth"] for line in _lines("possible_answer/BFCL_v4_multi_turn_base.json")}
        found = []
        for line in _lines("BFCL_v4_multi_turn_base.json"):
            if self.name in line["involved_classes"]:
                config = line["initial_config"].get(self.name, {})
                if not self.sound(config):
                    continue
                calls = (_call(text, tools) for turn in answers[line["id"]] for text in turn)
                found.append(Entry(config, tuple(call for call in calls if call is not None)))
        return found

    def record(self, folder: Path, sides: Mapping[str, str], seed: int) -> list[dict[str, Any]]:
        """Play the episodes that `sides` names, write each to the file of its side, and give the tools."""
        entries, tools = self.entries(), self.tools()
        texts: dict[str, list[str]] = {side: [] for side in ("recorded", "heldout")}
        with _Worker(self.name) as worker:
            for name, side in sides.items():
                random = Random(f"{seed} {name}")
                entry = entries[int(name.rpartition("-")[2]) // self.variants]
                worker.load(entry.config)
                script = again(random, self.script(random, entry), self.reads)
                for call, answer in play(script, worker, random.randint(SHORTEST, LONGEST), tools):
                    texts[side].append(_line(name, call, answer))
        for side, lines in texts.items():
            (folder / f"{side}.jsonl").write_text("".join(lines), encoding="utf-8")
        return tools


class _Worker:
    """The class, in a process of the package's own virtual environment."""

    def __init__(self, name: str) -> None:
        self._process = subprocess.Popen(
            [_home() / "bin" / "python", WORKER, name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )

    def load(self, config: Mapping[str, Any]) -> None:
        """Begin anew."""
        self._ask({"load": config})

    def call(self, call: Call) -> Answer:
        """The answer of the method."""
        reply = self._ask({"call": call.tool, "arguments": call.arguments})
        return Answer(reply["result"], reply["is_error"])

    def _ask(self, request: Mapping[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def _home() -> Path:
    """The virtual environment, made where it is missing. The two classes need nothing that the package depends on."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "envace-sdk" / "venvs" / "bfcl"
    if not any(base.glob("lib/python*/site-packages/bfcl_eval/data")):
        venv.create(base, with_pip=True, clear=True)
        pip = [base / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, PACKAGE], check=True)
    return base


def _lines(name: str) -> list[dict[str, Any]]:
    data = next(_home().glob("lib/python*/site-packages/bfcl_eval/data"))
    return [json.loads(line) for line in (data / name).read_text(encoding="utf-8").splitlines()]


def _schema(schema: Any) -> Any:
    """A schema in the package's dialect as JSON Schema."""
    if not isinstance(schema, dict):
        return schema
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "type":
            if value != "any":
                out[key] = TYPES.get(value, value)
        elif key == "properties":
            out[key] = {name: _schema(part) for name, part in value.items()}
        elif key == "items":
            out[key] = _schema(value)
        elif (key, value) != ("default", "None"):  # Python's None, which no caller would spell out
            out[key] = value
    return out


def _call(text: str, tools: Mapping[str, Mapping[str, Any]]) -> Call | None:
    """A call as the data set spells it, e.g. `sort('a.txt')`; None where it is not of this class or not valid."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in tools:
        return None
    schema = tools[node.func.id]
    arguments = dict(zip(schema["properties"], map(ast.literal_eval, node.args), strict=False))
    arguments |= {word.arg: ast.literal_eval(word.value) for word in node.keywords if word.arg is not None}
    return Call(node.func.id, arguments) if compile_schema(schema).is_valid(arguments) else None


def _line(episode: str, call: Call, answer: Answer) -> str:
    line = {
        "episode": episode,
        "tool": call.tool,
        "arguments": dict(call.arguments),
        "result": answer.value,
        "is_error": answer.is_error,
    }
    return json.dumps(line, ensure_ascii=False) + "\n"
