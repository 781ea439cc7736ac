"""How alike a learned world and the original answer calls that neither was learned from.

What depends on chance or on the day is free: it is found by playing a second original with other chance on another day,
and whatever then differs is not compared, except that later calls name it as each world does.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from envace_sdk.json import UNSET, Json
from envace_sdk.rehearse import Environment
from envace_sdk.tools.model import ToolCall, ToolResult
from envace_sdk.world.world import World

from .agent import Agent
from .environment import Invented

__all__ = ["Compared", "Share", "compare", "share"]

_Path: TypeAlias = tuple[str | int, ...]
_TOKEN = re.compile(r"\w+(?:[.:+-]\w+)*|\W")


@dataclass(frozen=True)
class Compared:
    """One fresh call, answered by the original and by the learned world."""

    tool: str
    call: ToolCall
    expected: ToolResult
    got: ToolResult | None
    """None: the learned world broke down; `trouble` says how."""
    layer: str
    confidence: float
    entailed: int
    """How many values of the expected answer are not free."""
    right: int
    """How many of them the learned world gives."""
    surplus: int = 0
    """How many values it gives that the original does not."""
    trouble: str = ""

    @property
    def same_status(self) -> bool:
        return self.got is not None and self.got.is_error == self.expected.is_error

    @property
    def is_right(self) -> bool:
        """Nothing that is not free differs."""
        return self.same_status and self.right == self.entailed and not self.surplus

    def __str__(self) -> str:
        got = self.trouble if self.got is None else f"{'error ' if self.got.is_error else ''}{self.got.first_text}"
        expected = f"{'error ' if self.expected.is_error else ''}{self.expected.first_text}"
        said = f"{self.tool}({dict(self.call.arguments)})\n  original: {expected}\n  learned:  {got}"
        return f"{said}\n  by {self.layer}, confidence {self.confidence:.2f}"


@dataclass(frozen=True)
class Share:
    """How much of some calls agrees."""

    calls: int
    status: float
    """Of successes and of errors, where there are both the mean of the two."""
    values: float
    """Of the values of successful answers, those that agree."""
    right: float
    """Of the calls, those whose answers agree wholly."""

    def __str__(self) -> str:
        return f"{self.calls:6} calls  status {self.status:.3f}  values {self.values:.3f}  right {self.right:.3f}"


def share(compared: Iterable[Compared]) -> Share:
    """Sum up."""
    found = list(compared)
    by_status = [[one.same_status for one in found if one.expected.is_error is failed] for failed in (False, True)]
    status = [sum(same) / len(same) for same in by_status if same]
    answered = [one for one in found if not one.expected.is_error]
    entailed = sum(one.entailed + one.surplus for one in answered)
    return Share(
        len(found),
        sum(status) / len(status) if status else 1.0,
        sum(one.right for one in answered) / entailed if entailed else 1.0,
        sum(one.is_right for one in found) / len(found) if found else 1.0,
    )


def compare(
    invented: Invented, learned: Environment, *, episodes: int, calls: int, seed: str = "fresh", first: int = 1000
) -> list[Compared]:
    """Fresh sessions on the original and on the learned world, side by side."""
    return asyncio.run(_compared(invented, learned, range(first, first + episodes), calls, Agent(invented, seed)))


async def _compared(
    invented: Invented, learned: Environment, numbers: Iterable[int], calls: int, agent: Agent
) -> list[Compared]:
    made: list[Compared] = []
    for number in numbers:
        day = invented.day(number)
        world = invented.environment.world(seed=number, clock=day)
        other = _Follower(
            invented.environment,
            number + 500_000,
            invented.environment.world(seed=number + 500_000, clock=day + timedelta(days=400, hours=5, minutes=13)),
        )
        twin = _Follower(learned, number, learned.world(seed=number, clock=day))
        agent.begin()
        for _ in range(calls):
            call = agent.call(world.state)
            before = world.state
            expected = (await invented.environment.call(world, call)).result
            agent.saw(call, expected, wrote=world.state.collections is not before.collections)
            made.append(await _answered(call, expected, other, twin))
    return made


class _Follower:
    """A world that is played along, and what it calls the things that chance named."""

    def __init__(self, environment: Environment, seed: int, world: World) -> None:
        self._environment = environment
        self.world = world
        self.names: dict[Json, Json] = {}
        self.layer = ""
        self.confidence = 0.0

    async def answer(self, call: ToolCall) -> ToolResult:
        arguments = {name: self._named(value) for name, value in call.arguments.items()}
        rehearsal = await self._environment.call(self.world, ToolCall(call.name, arguments))
        self.layer, self.confidence = rehearsal.layer, rehearsal.confidence
        return rehearsal.result

    def _named(self, value: Json) -> Json:
        if isinstance(value, dict):
            return {name: self._named(one) for name, one in value.items()}
        if isinstance(value, list):
            return [self._named(one) for one in value]
        return self.names.get(value, value) if isinstance(value, str) else value


async def _answered(call: ToolCall, expected: ToolResult, other: _Follower, twin: _Follower) -> Compared:
    leaves = dict(_leaves(expected))
    second = dict(_leaves(await other.answer(call)))
    free = {path for path, value in leaves.items() if not _same(value, second.get(path, UNSET))}
    _learn_names(leaves, second, free, other.names)
    try:
        result = await twin.answer(call)
    except Exception as error:
        trouble = f"{type(error).__name__}: {error}"
        return Compared(call.name, call, expected, None, "", 1.0, len(leaves) - len(free), 0, 0, trouble)
    got = dict(_leaves(result))
    _learn_names(leaves, got, free, twin.names)
    bound = [path for path in leaves if path not in free]
    right = sum(path in got and _same(leaves[path], got[path]) for path in bound)
    surplus = sum(path not in leaves for path in got)
    return Compared(call.name, call, expected, result, twin.layer, twin.confidence, len(bound), right, surplus)


def _learn_names(
    ours: Mapping[_Path, Json], theirs: Mapping[_Path, Json], free: Iterable[_Path], names: dict[Json, Json]
) -> None:
    for path in free:
        one, two = ours[path], theirs.get(path)
        if isinstance(one, str) and isinstance(two, str) and one not in names:
            names[one] = two


def _leaves(result: ToolResult) -> Iterator[tuple[_Path, Json]]:
    """The single values of an answer; of a text, its words, so that one free word does not free the rest."""
    value = result.value()
    if not isinstance(value, str):
        yield from _values(value, ())
        return
    for place, token in enumerate(_TOKEN.findall(value)):
        yield (place,), token


def _values(value: Json, path: _Path) -> Iterator[tuple[_Path, Json]]:
    if isinstance(value, dict) and value:
        for name, one in value.items():
            yield from _values(one, (*path, name))
    elif isinstance(value, list) and value:
        for place, one in enumerate(value):
            yield from _values(one, (*path, place))
    else:
        yield path, value


def _same(one: Json, two: Json) -> bool:
    if isinstance(one, bool) or isinstance(two, bool):
        return one is two
    return bool(one == two)
