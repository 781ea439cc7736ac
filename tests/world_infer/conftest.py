"""Toolsets written in one line a tool, and a client that knows no more of them than a naive agent would."""

from __future__ import annotations

import asyncio
import json
import re
from random import Random

import pytest

from envace_sdk.rehearse import Environment
from envace_sdk.tools import Toolset
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.infer import infer
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.state import State

_TYPES = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "num": {"type": "number"},
    "bool": {"type": "boolean"},
    "obj": {"type": "object"},
    "any": {},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "date-time"},
    "uuid": {"type": "string", "format": "uuid"},
}


def _parts(text):
    """Split at the commas that no bracket encloses."""
    depth, found = 0, [""]
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == "," and not depth:
            found.append("")
        else:
            found[-1] += char
    return [part.strip() for part in found if part.strip()]


def _described(text):
    """A part and its description: what follows a # that no bracket encloses."""
    depth = 0
    for place, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if char == "#" and not depth:
            return text[:place], text[place + 1 :]
    return text, ""


def _type(text):
    text = text.strip()
    if text.startswith("{"):
        return _object(text[1:-1])
    if text.startswith("["):
        return {"type": "array", "items": _type(text[1:-1])}
    if text.startswith("/"):
        return {"type": "string", "pattern": text[1:-1]}
    if "|" in text:
        return {"type": "string", "enum": [value.strip() for value in text.split("|")]}
    return dict(_TYPES[text])


def _object(text):
    schema = {"type": "object", "properties": {}}
    for part in _parts(text):
        part, description = _described(part)
        part, _, default = part.partition("=")
        name, _, kind = part.partition(":")
        name = name.strip()
        found = _type(kind or "str")
        if description:
            found["description"] = description.strip()
        if default.strip():
            try:
                found["default"] = json.loads(default)
            except ValueError:
                found["default"] = default.strip()
        schema["properties"][name.rstrip("!")] = found
        if name.endswith("!"):
            schema.setdefault("required", []).append(name.rstrip("!"))
    return schema


def parse_tools(text):
    """Tools from lines like `create_note(title!, tags: [str], kind: a|b = a) -- Creates a note. @!readOnly`."""
    tools = []
    for line in text.strip().splitlines():
        if not line.strip() or line.strip().startswith("//"):
            continue
        line, _, description = line.partition(" -- ")
        line, at, hint = line.partition(" @")
        description += f" @{hint}" if at else ""
        line, _, output = line.partition(" => ")
        name, _, arguments = line.strip().partition("(")
        definition = {"name": name.strip(), "inputSchema": _object(arguments.rstrip().removesuffix(")"))}
        hints = {f"{hint}Hint": not denied for denied, hint in re.findall(r"@(!?)(\w+)", description)}
        description = re.sub(r"\s*@!?\w+", "", description).strip()
        if description:
            definition["description"] = description
        if hints:
            definition["annotations"] = hints
        if output:
            definition["outputSchema"] = _type(output)
        tools.append(Tool(definition))
    return tools


class Client:
    """Calls tools on a world that nothing but inference made."""

    def __init__(self, tools, *, dynamics=None):
        self.tools = {tool.name: tool for tool in tools}
        self.dynamics = dynamics or infer(tools)
        self.interpreter = Interpreter(Dynamics.parse(self.dynamics.dump()))
        self.interpreter.check()
        self.state = State.start(dynamics=self.dynamics)
        self.random = Random(7)

    def answer(self, name, /, **arguments):
        found = self.interpreter.run(self.tools[name], arguments, self.state, self.random)
        if found is not None:
            self.state = found.state.tick() if found.state is not self.state else self.state
        return found

    def __call__(self, name, /, **arguments):
        """The answer of a successful call."""
        found = self.answer(name, **arguments)
        assert found is not None, f"{name}: nothing answers"
        assert found.error is None, f"{name}: {found.error}"
        return json.loads(json.dumps(found.value))

    def error(self, name, /, **arguments):
        """The outcome of a call that fails, and its error text."""
        found = self.answer(name, **arguments)
        assert found is not None, f"{name}: nothing answers"
        assert found.error is not None, f"{name}: {found.value}"
        return found.outcome, found.error


class LadderClient:
    """The same on the whole ladder, which also holds arguments against their schemas."""

    def __init__(self, tools):
        definitions = [dict(tool.definition) for tool in tools]
        self.environment = Environment(Toolset.from_definitions(definitions, name="twin"))
        self.world = self.environment.world()

    def answer(self, name, /, **arguments):
        return asyncio.run(self.environment.call(self.world, ToolCall(name, arguments)))

    def __call__(self, name, /, **arguments):
        """The answer of a successful call."""
        found = self.answer(name, **arguments)
        assert not found.result.is_error, f"{name}: {found.result.first_text}"
        return found.result.value()

    def error(self, name, /, **arguments):
        """The outcome of a call that fails, and its error text."""
        found = self.answer(name, **arguments)
        assert found.result.is_error, f"{name}: {found.result.first_text}"
        return found.outcome, found.result.first_text


def leaves(value, name=""):
    """Every named scalar, and every list of scalars, in a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, key)
    elif isinstance(value, list) and any(isinstance(inner, dict | list) for inner in value):
        for inner in value:
            yield from leaves(inner, name)
    else:
        yield re.sub(r"[^a-z0-9]", "", name.lower()), value


def objects(value):
    """Every object anywhere in a JSON value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)


def holds(answer, expected):
    """Whether one object of the answer says all that is expected, whatever wraps it."""
    wanted = list(leaves(expected))
    return any(all(pair in list(leaves(found)) for pair in wanted) for found in objects(answer))


def find_id(answer, name):
    """The id in an answer: under the name other tools ask for it by, as `id`, or the only one that looks like one."""
    found = dict(reversed(list(leaves(answer))))
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    for candidate in (plain, "id", "uuid", "key"):
        if candidate in found:
            return found[candidate]
    ids = [value for key, value in found.items() if key.endswith(("id", "ref", "code", "number"))]
    assert len(ids) == 1, f"no id called {name!r} in {answer}"
    return ids[0]


@pytest.fixture
def tools_of():
    return parse_tools


@pytest.fixture
def client_of():
    def make(text):
        return Client(parse_tools(text))

    return make


@pytest.fixture
def ladder_of():
    def make(text):
        return LadderClient(parse_tools(text))

    return make


@pytest.fixture
def naive():
    """How a naive agent looks into answers."""

    class Naive:
        holds = staticmethod(holds)
        find_id = staticmethod(find_id)
        leaves = staticmethod(leaves)

    return Naive
