"""An episode: a script of calls, played against something that answers them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Protocol

from envace_sdk.jsonschema import compile_schema

__all__ = ["LONGEST", "SHORTEST", "Answer", "Call", "Player", "Script", "again", "play", "split_of", "textual"]

SHORTEST, LONGEST = 8, 25
"""Calls in an episode."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of one tool."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call was answered with: the value, or the text of an MCP result."""

    value: Any
    is_error: bool


Script = Generator[Call, Answer, None]
"""Yields calls and is sent their answers. Scripts draw only from the `Random` they are given."""


class Player(Protocol):
    """Something that answers calls."""

    def call(self, call: Call) -> Answer:
        """The answer to one call."""
        ...


def play(
    script: Script, player: Player, calls: int, tools: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Call, Answer]]:
    """Play at most so many calls of a script.

    Raises:
        ValueError: the script makes a call that the tool's schema forbids.
    """
    schemas = {tool["name"]: tool["inputSchema"] for tool in tools}
    call = next(script, None)
    while call is not None and calls > 0:
        if not compile_schema(schemas[call.tool]).is_valid(dict(call.arguments)):
            raise ValueError(f"{call.tool}: arguments do not fit the schema: {call.arguments}")
        answer = player.call(call)
        yield call, answer
        calls -= 1
        try:
            call = script.send(answer)
        except StopIteration:
            return


def again(random: Random, script: Script, reads: frozenset[str], *, chance: float = 0.12) -> Script:
    """A script with some of its earlier reads repeated in between."""
    done: list[Call] = []
    call = next(script, None)
    while call is not None:
        answer = yield call
        if call.tool in reads:
            done.append(call)
        while done and random.random() < chance:
            yield random.choice(done[-4:])
        try:
            call = script.send(answer)
        except StopIteration:
            return


def split_of(names: Sequence[str], seed: int) -> dict[str, str]:
    """Which side each episode is on: they are shuffled by the seed, and dealt out in turn."""
    dealt = sorted(names)
    Random(seed).shuffle(dealt)
    sides = {name: ("recorded", "heldout")[place % 2] for place, name in enumerate(dealt)}
    return {name: sides[name] for name in names}


def textual(result: Mapping[str, Any]) -> str:
    """The text of an MCP result."""
    return "\n".join(block.get("text", "") for block in result.get("content", []))
