"""What goes wrong with recordings: each function makes a worse recording of a good one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeAlias

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import ToolCall, ToolResult

__all__ = ["SPOILERS", "Spoiler", "odd_texts"]

Spoiler: TypeAlias = Callable[[list[Fixture], Random], list[Fixture]]

_PLAIN = ["NaN", "Infinity", "-inf", "1e999", "null", "true", "None", "", " ", "-0", "1.0", "0x1f", "1_000", "[]", "{}"]
_BROKEN = ["{", "}", "{args.id}", "{{", "{1/0}", "'", '"', "\\", "\\n", "[", "[1, 2", '{"a":', "<b>", "%s", "$(ls)"]
_STRANGE = [
    "\n",
    "\x00",
    "\u2028",
    "\ud800",
    "\u202eabc",
    "👩‍👩‍👧",
    "é" * 300,
    "a" * 10_000,
    "9" * 23,
    "2026-13-45T99:99:99Z",
]
_ODD = [*_PLAIN, *_BROKEN, *_STRANGE]


def odd_texts() -> list[str]:
    """Texts that are easily taken for something else."""
    return list(_ODD)


def _shuffled(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """Calls out of their order, within their sessions and among them."""
    mixed = random.sample(recorded, len(recorded))
    return [replace(fixture, position=place) for place, fixture in enumerate(mixed)]


def _contradicting(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """Answers of other calls of the same tool."""
    answers: dict[str, list[ToolResult]] = {}
    for fixture in recorded:
        answers.setdefault(fixture.call.name, []).append(fixture.result)
    return [
        replace(fixture, result=random.choice(answers[fixture.call.name])) if random.random() < 0.5 else fixture
        for fixture in recorded
    ]


def _torn(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """Sessions of which the beginning, the end or something in the middle is lost."""
    return [fixture for fixture in recorded if random.random() < 0.5]


def _one_a_session(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """Nobody kept what belongs together."""
    return [replace(fixture, episode=f"{n}", position=0) for n, fixture in enumerate(recorded)]


def _all_one_session(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """Nobody kept apart what does not belong together."""
    return [replace(fixture, episode="", position=place) for place, fixture in enumerate(recorded)]


def _odd(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """Odd texts in answers, and as whole answers."""

    def bent(value: Json) -> Json:
        if isinstance(value, dict):
            return {name: bent(one) for name, one in value.items()}
        if isinstance(value, list):
            return [bent(one) for one in value]
        return random.choice(_ODD) if random.random() < 0.15 else value

    made = []
    for fixture in recorded:
        result = fixture.result
        if random.random() < 0.2:
            result = ToolResult.text(random.choice(_ODD), is_error=random.random() < 0.3)
        elif not result.is_error:
            value = bent(result.value())
            result = ToolResult.text(value) if isinstance(value, str) else ToolResult.json(value, structured=False)
        call = ToolCall(fixture.call.name, dict(bent(dict(fixture.call.arguments))))
        made.append(replace(fixture, call=call, result=result))
    return made


def _mistyped(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """Answers and arguments of types that they never have."""
    others: list[Json] = [
        None,
        True,
        0,
        -1.5,
        10**30,
        "text",
        [],
        {},
        [[]],
        [None, 1, "a"],
        {"": ""},
        {"a": {"b": [{}]}},
    ]

    def result() -> ToolResult:
        value = random.choice(others)
        return ToolResult.json(value, structured=random.random() < 0.5)

    made = []
    for fixture in recorded:
        if random.random() < 0.4:
            fixture = replace(fixture, result=result())
        if random.random() < 0.2:
            arguments = {name: random.choice(others) for name in fixture.call.arguments} | {"not a field": 1}
            fixture = replace(fixture, call=ToolCall(fixture.call.name, arguments))
        made.append(fixture)
    return made


def _bodiless(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """Answers without text: pictures, nothing, protocol errors."""
    bodies = [
        ToolResult(()),
        ToolResult(({"type": "image", "data": "AAAA", "mimeType": "image/png"},)),
        ToolResult(({"type": "text"}, {"type": "text", "text": "second"})),
        ToolResult(({"type": "text", "text": "no"},), is_error=True, fault={"code": -32602, "message": "no"}),
        ToolResult((), is_error=True),
    ]
    return [
        replace(fixture, result=random.choice(bodies)) if random.random() < 0.4 else fixture for fixture in recorded
    ]


def _foreign(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """Calls of tools that are not in the toolset, and requests that call none."""
    made = []
    for fixture in recorded:
        if random.random() < 0.3:
            made.append(replace(fixture, call=ToolCall(f"{fixture.call.name}_gone", fixture.call.arguments)))
        if random.random() < 0.1:
            made.append(replace(fixture, method="resources/read", call=ToolCall("resources/read", {"uri": "x:y"})))
        made.append(fixture)
    return made


def _giant(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """A few answers that are far too long or too deep."""
    deep: Json = "end"
    for _ in range(300):
        deep = {"in": [deep]}
    giants = [
        ToolResult.text("x" * 1_000_000),
        ToolResult.text("word " * 100_000),
        ToolResult.text("line: 1\n" * 50_000),
        ToolResult(({"type": "text", "text": json.dumps(deep)},)),
        ToolResult.json([{"id": n, "name": f"n{n}"} for n in range(5_000)], structured=False),
        ToolResult.json({f"k{n}": n for n in range(5_000)}, structured=False),
        ToolResult.text("boom " * 100_000, is_error=True),
    ]
    places = random.sample(range(len(recorded)), min(len(giants), len(recorded)))
    made = list(recorded)
    for place, giant in zip(places, giants, strict=False):
        made[place] = replace(made[place], result=giant)
    return made


def _repeated(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """The same session over and over, under one name and under several."""
    return [
        replace(fixture, episode=f"{fixture.episode}{tail}")
        for tail in ("", "", "-again", "-more")
        for fixture in recorded
    ]


def _failing(recorded: list[Fixture], random: Random) -> list[Fixture]:
    """Errors that have nothing to do with the call: the network, the limits, the mood of the server."""
    errors = ["timeout", "429 Too Many Requests", "Internal error", "connection reset by peer"]
    return [
        replace(fixture, result=ToolResult.text(random.choice(errors), is_error=True))
        if random.random() < 0.25
        else fixture
        for fixture in recorded
    ]


SPOILERS: dict[str, Spoiler] = {
    "shuffled": _shuffled,
    "contradicting": _contradicting,
    "torn": _torn,
    "one a session": _one_a_session,
    "all one session": _all_one_session,
    "odd": _odd,
    "mistyped": _mistyped,
    "bodiless": _bodiless,
    "foreign": _foreign,
    "giant": _giant,
    "repeated": _repeated,
    "failing": _failing,
}
