"""From created to gone, on toolsets that come with nothing: no output schemas, no rules, no recordings.

Each file under `data/stories` is a toolset in its own domain and naming style, with the words of one story.
"""

import json
import re
from pathlib import Path

import pytest
from served import http_server

from envace_sdk.rehearse import Environment, Worlds
from envace_sdk.tools.toolset import Toolset

pytestmark = pytest.mark.anyio

STORIES = sorted((Path(__file__).parents[1] / "data" / "stories").glob("*.json"))


def _plain(name):
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _leaves(value, name=""):
    """Every named scalar anywhere in a JSON value."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    else:
        yield _plain(name), value


def _objects(value):
    """Every object anywhere in a JSON value."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


class _Caller:
    def __init__(self, client):
        self._client = client

    async def text(self, name, arguments, *, fails=False):
        result = await self._client.call_tool(name, arguments)
        assert result.is_error is fails, (name, arguments, result.content)
        return result.content[0].text

    async def value(self, name, arguments):
        return json.loads(await self.text(name, arguments))


def _id(answer, name):
    """The id in the answer to a create: under the name that the other tools ask for it by, or just `id`."""
    found = dict(reversed(list(_leaves(answer))))
    return found[_plain(name)] if _plain(name) in found else found["id"]


def _holds(answer, expected):
    """Whether one object of the answer says all that is expected."""
    wanted = dict(_leaves(expected))
    return any(wanted.items() <= dict(_leaves(found)).items() for found in _objects(answer))


def _lists(answer, identity):
    return identity in [value for _, value in _leaves(answer)]


TOLD = pytest.mark.parametrize(
    "told", [json.loads(path.read_text()) for path in STORIES], ids=lambda told: told["name"]
)


@TOLD
async def test_what_is_created_lives_until_it_is_deleted(told, connect):
    environment = Environment(Toolset.from_definitions(told["tools"], name=told["name"]))
    with http_server(Worlds(environment)) as base:
        await _play(told["story"], connect(f"{base}/mcp"))


@TOLD
@pytest.mark.slow
async def test_what_is_created_lives_until_it_is_deleted_on_stdio(told, connect, stdio, tmp_path):
    source = tmp_path / "tools.json"
    source.write_text(json.dumps({"tools": told["tools"]}))
    await _play(told["story"], connect(stdio("--tools", source)))


async def _play(story, connected):
    async with connected as client:
        call = _Caller(client)
        made = await call.value(story["create"], story["first"])
        assert _holds(made, story["first"])
        one = _id(made, story["id"])
        two = _id(await call.value(story["create"], story["second"]), story["id"])
        assert one != two

        key, other = {story["id"]: one}, {story["id"]: two}
        assert _holds(await call.value(story["get"], key), story["first"])
        assert _holds(await call.value(story["get"], other), story["second"])

        await call.text(story["update"], {**key, **story["changes"]})
        got = await call.text(story["get"], key)
        assert _holds(json.loads(got), story["changes"])
        assert got == await call.text(story["get"], key)
        assert _holds(await call.value(story["get"], other), story["second"])

        everything = await call.value(story["list"], {})
        assert _lists(everything, one)
        assert _lists(everything, two)
        assert _holds(everything, story["changes"])
        some = await call.value(story["list"], story["only_first"])
        assert _lists(some, one)
        assert not _lists(some, two)

        await call.text(story["delete"], key)
        assert str(one) in await call.text(story["get"], key, fails=True)
        await call.text(story["update"], {**key, **story["changes"]}, fails=True)
        rest = await call.value(story["list"], {})
        assert not _lists(rest, one)
        assert _lists(rest, two)
        assert await call.value(story["get"], other)
