"""Small recorded episodes and scripted players for tests of the fidelity scorer."""

import asyncio

from envace_sdk.evaluate import Episode, Exam, Played, examine
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.tools.toolset import Toolset


def result(value, *, is_error=False):
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, str):
        return ToolResult.text(value, is_error=is_error)
    found = ToolResult.json(value, structured=False)
    return ToolResult(found.content, is_error=is_error)


def episode(name, *calls):
    """Calls are (tool, arguments, answer), or (tool, arguments, answer, True) for an error."""
    return Episode(
        name,
        tuple(
            Fixture(ToolCall(tool, arguments), result(value, is_error=bool(failed)), name, place)
            for place, (tool, arguments, value, *failed) in enumerate(calls)
        ),
    )


def fixtures(*episodes):
    return [fixture for each in episodes for fixture in each.calls]


def toolset(*names, **definitions):
    """Tools by name, with whatever their arguments; keyword arguments are further members of one's definition."""
    all_names = dict.fromkeys([*names, *definitions])
    return Toolset.from_definitions(
        [
            {"name": name, "inputSchema": {"type": "object", "properties": {"id": {}}}, **definitions.get(name, {})}
            for name in all_names
        ],
        name="examined",
    )


def exam_of(episodes, known=(), tools=None):
    called = {fixture.call.name for each in (*episodes, *known) for fixture in each.calls}
    return Exam(tools or toolset(*sorted(called)), episodes, fixtures(*known))


class Scripted:
    """Answers with what `script(recorded fixture, call)` returns; the recorded answer by default."""

    def __init__(self, episodes, script=lambda fixture, call: fixture.result, name="scripted"):
        self.name = name
        self.script = script
        self.episodes = {each.name: each for each in episodes}
        self.observed = []
        self.asked = []

    async def start(self, name):
        return _Playing(self, self.episodes[name])


class _Playing:
    def __init__(self, player, episode):
        self.player = player
        self.calls = iter(episode.calls)

    async def answer(self, call):
        self.player.asked.append(call)
        found = self.player.script(next(self.calls), call)
        return found if isinstance(found, Played) else Played(result(found))

    async def observe(self, call, observed):
        self.player.observed.append((call, observed))


def report_on(episodes, script=lambda fixture, call: fixture.result, *, known=(), tools=None, loop="closed", only=()):
    exam = exam_of(episodes, known, tools)
    return asyncio.run(examine(exam, [Scripted(episodes, script)], loop=loop, only=only))[0]
