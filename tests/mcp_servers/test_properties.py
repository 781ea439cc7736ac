"""What holds for every toolset and every sequence of calls, through a client in the same process."""

import asyncio
import json
import os
from random import Random

import jsonschema
from envace_sdk.mcp_servers.server import RehearsedServer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp.types import INVALID_PARAMS

from envace_sdk.errors import UnsatisfiableError
from envace_sdk.jsonschema import generate
from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.tools.toolset import Toolset
from envace_sdk.world.state import DEFAULT_CLOCK

SETTINGS = settings(
    max_examples=200 if os.environ.get("CI") else 25, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
NAMES = st.sampled_from(
    ["id", "name", "status", "user_id", "createdAt", "tags", "total", "é", "x.y", "email", "limit", ""]
)
VERBS = ["create", "get", "update", "list", "delete", "search", "compute", "send"]
NOUNS = ["order", "user", "orders", "thing", "Notizen"]

finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def _objects(draw, inner):
    properties = draw(st.dictionaries(NAMES, inner, max_size=4))
    schema = {"type": "object", "properties": properties}
    if properties and draw(st.booleans()):
        schema["required"] = sorted(draw(st.sets(st.sampled_from(sorted(properties)))))
    if draw(st.booleans()):
        schema["additionalProperties"] = draw(st.booleans())
    return schema


leaves = st.one_of(
    st.sampled_from(
        [
            {"type": "string"},
            {"type": "string", "format": "date-time"},
            {"type": "string", "format": "email"},
            {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3}$"},
            {"type": "string", "minLength": 3, "maxLength": 5},
            {"type": "integer"},
            {"type": "integer", "minimum": 3, "maximum": 9},
            {"type": "integer", "minimum": 9, "maximum": 3},
            {"type": "number", "multipleOf": 0.5},
            {"type": "boolean"},
            {"type": "null"},
            {"type": ["string", "null"]},
            {"enum": ["open", "closed", 3, None]},
            {"const": {"a": [1]}},
            {},
            True,
        ]
    ),
    st.builds(lambda value: {"const": value}, json_values),
)

trees = st.recursive(
    leaves,
    lambda inner: st.one_of(
        _objects(inner),
        st.builds(lambda items, low: {"type": "array", "items": items, "minItems": low}, inner, st.integers(0, 2)),
        st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"oneOf": parts}, st.lists(inner, min_size=1, max_size=2)),
    ),
    max_leaves=6,
)


references = st.builds(lambda part: {"$ref": "#/$defs/part", "$defs": {"part": part}}, trees)
schemas = trees | references


@st.composite
def _tools(draw):
    verb, noun = draw(st.sampled_from(VERBS)), draw(st.sampled_from(NOUNS))
    definition = {
        "name": draw(st.sampled_from([f"{verb}_{noun}", f"{verb}{noun.title()}", f"{noun}.{verb}"])),
        "inputSchema": draw(_objects(leaves)),
    }
    if draw(st.booleans()):
        definition["outputSchema"] = draw(schemas)
    if draw(st.booleans()):
        definition["annotations"] = {"readOnlyHint": draw(st.booleans())}
    if draw(st.booleans()):
        definition["description"] = draw(st.text(max_size=30))
    return definition


toolsets = st.lists(_tools(), min_size=1, max_size=6, unique_by=lambda tool: tool["name"])
calls = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 99), json_values), min_size=1, max_size=8)
seeds = st.integers(0, 3)


def _environment(definitions):
    return Environment(Toolset.from_definitions(definitions, name="any"))


def _call(definitions, choice):
    """A call of one of the tools, or of none; its arguments fit the schema, or are anything."""
    place, seed, anything = choice
    if place >= len(definitions):
        return "no_such_tool", {}
    tool = definitions[place]
    if isinstance(anything, dict):
        return tool["name"], anything
    try:
        arguments = generate(tool["inputSchema"], random=Random(seed), clock=DEFAULT_CLOCK)
    except UnsatisfiableError:
        arguments = {}
    return tool["name"], arguments


async def _answers(worlds, definitions, choices, *, world="default", mode="auto"):
    """The result of each call in wire form; for an error of the protocol, its code."""
    answers = []
    async with Client(RehearsedServer(worlds, world=world), mode=mode) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        for choice in choices:
            name, arguments = _call(definitions, choice)
            try:
                result = await client.call_tool(name, arguments)
            except MCPError as error:
                answers.append(error.code if name not in listed else repr(error))
            else:
                answers.append(result.model_dump(mode="json", by_alias=True))
    return answers


@SETTINGS
@given(toolsets, calls, seeds, st.sampled_from(["auto", "legacy"]))
def test_the_server_never_raises_and_every_success_fits_its_schema(definitions, choices, seed, mode):
    worlds = Worlds(_environment(definitions), seed=seed)
    answers = asyncio.run(_answers(worlds, definitions, choices, mode=mode))
    for choice, answer in zip(choices, answers, strict=True):
        if answer == INVALID_PARAMS:
            continue
        assert isinstance(answer, dict), answer
        if answer["isError"]:
            continue
        name, _ = _call(definitions, choice)
        (tool,) = (tool for tool in definitions if tool["name"] == name)
        if "outputSchema" in tool:
            value = answer["structuredContent"] if mode == "auto" else json.loads(answer["content"][0]["text"])
            jsonschema.Draft202012Validator(tool["outputSchema"]).validate(value)


@SETTINGS
@given(toolsets, calls, seeds)
def test_equal_seeds_give_equal_bytes(definitions, choices, seed):
    runs = [
        json.dumps(asyncio.run(_answers(Worlds(_environment(definitions), seed=seed), definitions, choices)))
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


@SETTINGS
@given(toolsets, calls, calls, calls)
def test_a_fork_and_its_origin_do_not_see_each_other(definitions, before, here, there):
    async def run():
        worlds = Worlds(_environment(definitions))
        await _answers(worlds, definitions, before)
        state = worlds.get().state
        worlds.fork("default", "control")
        worlds.fork("default", "fork")
        await _answers(worlds, definitions, there, world="fork")
        assert worlds.get().state is state
        mine = await _answers(worlds, definitions, here)
        undisturbed = await _answers(worlds, definitions, here, world="control")
        assert _unnamed(mine) == _unnamed(undisturbed)

    asyncio.run(run())


def _unnamed(answers):
    """Answers without the name of the world, which only the label tells."""
    return json.dumps(answers).replace('"world": "control"', '"world": "default"')


@st.composite
def _crud(draw):
    """A CRUD toolset of one noun, its naming style and its fields drawn."""
    noun = draw(st.sampled_from(["ticket", "invoice", "patient", "widget", "route"]))
    fields = draw(
        st.dictionaries(
            st.sampled_from(["title", "color", "amount", "isOpen", "note", "weight"]),
            st.sampled_from([{"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {"type": "number"}]),
            min_size=1,
            max_size=4,
        )
    )
    snake = draw(st.booleans())
    key = f"{noun}_id" if snake else f"{noun}Id"
    identity = {key: {"type": "string"}}

    def tool(verb, properties, required, plural=""):
        name = f"{verb}_{noun}{plural}" if snake else f"{verb}{noun.title()}{plural}"
        schema = {"type": "object", "properties": properties, "required": required}
        return {"name": name, "description": f"{verb.title()} {noun}{plural}.", "inputSchema": schema}

    tools = {
        "create": tool("create", fields, list(fields)),
        "get": tool("get", identity, [key]),
        "update": tool("update", {**identity, **fields}, [key]),
        "list": tool("list", {}, [], "s"),
        "delete": tool("delete", identity, [key]),
    }
    made = [{field: draw(_value(schema)) for field, schema in fields.items()} for _ in range(draw(st.integers(1, 3)))]
    changed = {field: draw(_value(schema)) for field, schema in fields.items() if draw(st.booleans())}
    return tools, key, made, changed


def _value(schema):
    values = {
        "string": st.text(max_size=8),
        "integer": st.integers(-1000, 1000),
        "boolean": st.booleans(),
        "number": st.floats(-1000, 1000),
    }
    return values[schema["type"]]


@SETTINGS
@given(_crud(), seeds)
def test_what_was_written_is_what_is_read(crud, seed):
    tools, key, made, changed = crud

    async def run():
        worlds = Worlds(_environment(list(tools.values())), seed=seed)
        async with Client(RehearsedServer(worlds)) as client:

            async def value(verb, arguments):
                result = await client.call_tool(tools[verb]["name"], arguments)
                assert not result.is_error, result.content
                return json.loads(result.content[0].text)

            keys = []
            for document in made:
                answer = await value("create", document)
                assert document.items() <= answer.items()
                keys.append(answer[key])
            assert len(set(keys)) == len(made)
            for identity, document in zip(keys, made, strict=True):
                assert document.items() <= (await value("get", {key: identity})).items()
            if changed:
                await value("update", {key: keys[0], **changed})
            assert {**made[0], **changed}.items() <= (await value("get", {key: keys[0]})).items()
            await value("delete", {key: keys[0]})
            gone = await client.call_tool(tools["get"]["name"], {key: keys[0]})
            assert gone.is_error
            left = json.dumps(await value("list", {}))
            assert [identity for identity in keys if json.dumps(identity) in left] == keys[1:]

    asyncio.run(run())
