"""What recordings alone can answer: the measure that anything better is held against."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from envace_sdk.errors import SchemaError
from envace_sdk.json import UNSET, Json
from envace_sdk.jsonschema import Validator, compile_schema
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool, ToolCall, ToolResult

from .knowledge import call_key
from .outline import leaves_of
from .players import Played

__all__ = ["CheckedReplay", "ExactReplay", "NearestReplay"]

_SHORTEST: Final = 3
"""Characters of an argument that is also substituted inside of texts."""
_MOST_WORDS: Final = 50
_RARE: Final = 200
"""In how many calls of a tool a word may stand to count."""


class ExactReplay:
    """Answers a recorded call as it was last recorded, whatever has happened since; has nothing to say to others."""

    name = "exact replay"

    def __init__(self, fixtures: Sequence[Fixture]) -> None:
        self._answers = {call_key(f.call): f.result for f in fixtures if f.is_call}

    async def start(self, episode: str) -> ExactReplay:  # noqa: ARG002  a replay has no state
        """Itself: there is no state."""
        return self

    async def answer(self, call: ToolCall) -> Played:
        """As recorded, or a miss."""
        found = self._answers.get(call_key(call))
        return Played.miss(f"{call.name}: not recorded") if found is None else Played(found, "recording")

    async def observe(self, call: ToolCall, result: ToolResult) -> None:
        """Nothing is learned."""


class NearestReplay:
    """Answers as the most similar recorded call of the tool was, with that one's arguments replaced by the given ones.

    The most similar is the one with the most equal arguments, then the most equal words in them, then the arguments of
    the same names, then the first.
    """

    name = "nearest recording, arguments substituted"

    def __init__(self, fixtures: Sequence[Fixture]) -> None:
        self._nearest = _Nearest(fixtures)

    async def start(self, episode: str) -> NearestReplay:  # noqa: ARG002
        """Itself: there is no state."""
        return self

    async def answer(self, call: ToolCall) -> Played:
        """As the nearest recording, or a miss where the tool was never recorded."""
        return self._nearest.answer(call)

    async def observe(self, call: ToolCall, result: ToolResult) -> None:
        """Nothing is learned."""


class CheckedReplay:
    """As `NearestReplay`, with checks and counts.

    It refuses arguments that the schema forbids, and answers the nth equal call of an episode as the nth recorded one.
    """

    name = "the same, inputs validated, nth answer to the nth equal call"

    def __init__(self, fixtures: Sequence[Fixture], tools: Mapping[str, Tool]) -> None:
        self._nearest = _Nearest(fixtures)
        self._series: dict[str, list[ToolResult]] = {}
        for fixture in fixtures:
            if fixture.is_call:
                self._series.setdefault(call_key(fixture.call), []).append(fixture.result)
        self._validators: dict[str, Validator] = {}
        for name, tool in tools.items():
            try:
                self._validators[name] = compile_schema(tool.input_schema, where=f"{name}.inputSchema")
            except SchemaError:
                continue

    async def start(self, episode: str) -> _CheckedSession:  # noqa: ARG002
        """A session that counts its calls."""
        return _CheckedSession(self._nearest, self._series, self._validators)


class _CheckedSession:
    def __init__(
        self,
        nearest: _Nearest,
        series: Mapping[str, Sequence[ToolResult]],
        validators: Mapping[str, Validator],
    ) -> None:
        self._nearest = nearest
        self._series = series
        self._validators = validators
        self._times: Counter[str] = Counter()

    async def answer(self, call: ToolCall) -> Played:
        """Refused, as recorded the nth time, or as the nearest."""
        validator = self._validators.get(call.name)
        if validator is not None and not validator.is_valid(dict(call.arguments)):
            return Played(ToolResult.text(f"Invalid arguments for {call.name}", is_error=True), "arguments")
        key = call_key(call)
        series = self._series.get(key)
        if not series:
            return self._nearest.answer(call)
        times = self._times[key]
        self._times[key] += 1
        return Played(series[min(times, len(series) - 1)], "recording")

    async def observe(self, call: ToolCall, result: ToolResult) -> None:
        """Nothing is learned."""


class _Nearest:
    """Recorded calls, found by their arguments. Of equal ones the first counts."""

    def __init__(self, fixtures: Sequence[Fixture]) -> None:
        self._fixtures: dict[str, list[Fixture]] = {}
        self._names: dict[str, list[frozenset[str]]] = {}
        self._holders: dict[tuple[str, str], list[int]] = {}
        known: set[str] = set()
        for fixture in fixtures:
            key = call_key(fixture.call)
            if not fixture.is_call or key in known:
                continue
            known.add(key)
            tool = fixture.call.name
            place = len(self._fixtures.setdefault(tool, []))
            self._fixtures[tool].append(fixture)
            self._names.setdefault(tool, []).append(_names(fixture.call))
            for feature in _features(fixture.call):
                self._holders.setdefault((tool, feature), []).append(place)

    def answer(self, call: ToolCall) -> Played:
        """As the nearest one was answered."""
        known = self._fixtures.get(call.name)
        if not known:
            return Played.miss(f"{call.name}: the tool was never recorded")
        scores: Counter[int] = Counter()
        for feature, weight in _features(call).items():
            holders = self._holders.get((call.name, feature), ())
            if weight > 1 or len(holders) <= _RARE:
                for place in holders:
                    scores[place] += weight
        best = max(scores.values(), default=0)
        candidates = [place for place, score in scores.items() if score == best] if scores else range(len(known))
        names, all_names = _names(call), self._names[call.name]
        place = min(candidates, key=lambda place: (len(names ^ all_names[place]), place))
        return Played(_substituted(known[place], call), "recording")


def _names(call: ToolCall) -> frozenset[str]:
    return frozenset(leaf.key_path for leaf in leaves_of(dict(call.arguments)))


def _features(call: ToolCall) -> dict[str, int]:
    """What calls can have in common, with its weight: equal arguments, and words of arguments."""
    found: dict[str, int] = {}
    for leaf in leaves_of(dict(call.arguments)):
        found[f"={leaf.path}={leaf.text}"] = 1000
        for word in leaf.text.split()[:_MOST_WORDS]:
            found.setdefault(f"?{leaf.key_path}={word}", 1)
    return found


def _substituted(fixture: Fixture, call: ToolCall) -> ToolResult:
    theirs = {leaf.path: leaf.value for leaf in leaves_of(dict(fixture.call.arguments))}
    ours = {leaf.path: leaf.value for leaf in leaves_of(dict(call.arguments))}
    swaps = [
        (value, ours[path])
        for path, value in theirs.items()
        if path in ours and ours[path] != value and not isinstance(value, bool | list | dict) and value is not None
    ]
    if not swaps:
        return fixture.result
    swaps.sort(key=lambda swap: -len(str(swap[0])))
    result = fixture.result
    content = tuple(_swapped_block(block, swaps) for block in result.content)
    structured = result.structured if result.structured is UNSET else _swapped(result.structured, swaps)
    return replace(result, content=content, structured=structured, wire=None)


def _swapped_block(block: Mapping[str, Json], swaps: Sequence[tuple[Json, Json]]) -> Mapping[str, Json]:
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str):
        return block
    try:
        value = json.loads(text) if text[:1] in ("{", "[") else UNSET
    except (ValueError, RecursionError):
        value = UNSET
    shown = _swapped(text, swaps) if value is UNSET else json.dumps(_swapped(value, swaps), ensure_ascii=False)
    return {**block, "text": shown}


def _swapped(value: Json, swaps: Sequence[tuple[Json, Json]]) -> Json:
    if isinstance(value, dict):
        return {name: _swapped(part, swaps) for name, part in value.items()}
    if isinstance(value, list):
        return [_swapped(item, swaps) for item in value]
    for old, new in swaps:
        if type(old) is type(value) and old == value:
            return new
    if isinstance(value, str):
        for old, new in swaps:
            text = str(old)
            if len(text) >= _SHORTEST and text in value:
                value = value.replace(text, str(new))
    return value
