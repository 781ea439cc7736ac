"""A caller who plays as a sensible agent would: it keeps to what it has seen, errs at times, and looks again."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from envace_sdk.json import Json
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.expressions import Scope, compile_expression
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.state import State
from envace_sdk.world.world import World

from .environment import Invented
from .words import WORDS

__all__ = ["Agent", "record"]

_FIELD = re.compile(r"(\w+)\.(\w+)")
_THOUGHTS = 5
_TRIED = 6
_LOOKS = frozenset({"read", "search", "compute"})


class Agent:
    """One caller. The same environment and seed play the same sessions.

    Args:
        invented: what to play.
        seed: of all its choices.
        unknown: how often it names something that is not there.
        optional: how often it gives an argument that it need not.
        caution: how often it thinks again about a call that would be refused.
    """

    def __init__(
        self,
        invented: Invented,
        seed: int | str,
        *,
        unknown: float = 0.14,
        optional: float = 0.5,
        caution: float = 0.3,
    ) -> None:
        self._invented = invented
        self._random = Random(f"{invented.name}/{seed}")
        self._unknown = unknown
        self._optional = optional
        self._caution = caution
        self._interpreter = Interpreter(invented.dynamics, invented.name)
        self._tools = {tool.name: tool for tool in invented.toolset}
        self._weights = [invented.play.weights.get(name, 1.0) for name in self._tools]
        self._recent: list[Json] = []
        self._last: tuple[ToolCall, bool, bool] | None = None
        self._looks: list[ToolCall] = []
        self._worked: Counter[str] = Counter()

    def begin(self) -> None:
        """A new session: nothing has been seen yet."""
        self._recent, self._last, self._looks = [], None, []

    def call(self, state: State) -> ToolCall:
        """The next call, on a world in that state."""
        call = self._wish(state)
        for attempt in range(_THOUGHTS):
            if self._random.random() >= self._caution or not self._is_refused(call, state):
                break
            call = self._calling(call.name if attempt % 2 == 0 else self._any(), state)
        return call

    def _wish(self, state: State) -> ToolCall:
        chance = self._random.random()
        openers = self._invented.play.openers
        if self._last is None:
            return self._calling(self._random.choice(openers) if openers and chance < 0.75 else self._any(), state)
        last, failed, wrote = self._last
        if failed and chance < 0.3:
            if chance < 0.1 or not openers:
                return last
            return self._calling(self._random.choice(openers), state)
        if wrote and chance < 0.38:
            if self._looks and chance < 0.1:
                return self._random.choice(self._looks[-4:])
            return self._calling(self._about(last), state)
        if self._looks and chance > 0.93:
            return self._random.choice(self._looks[-6:])
        return self._curious(state) if chance < 0.6 else self._calling(self._any(), state)

    def _curious(self, state: State) -> ToolCall:
        """Of a few tools, the one that was seen to work least often and would work now."""
        calls = [self._calling(name, state) for name in dict.fromkeys(self._any() for _ in range(_TRIED))]
        calls.sort(key=lambda call: self._worked[call.name] / self._invented.play.weights.get(call.name, 1.0))
        return next((call for call in calls if not self._is_refused(call, state)), calls[0])

    def _is_refused(self, call: ToolCall, state: State) -> bool:
        answer = self._interpreter.run(self._tools[call.name], call.arguments, state, Random(0))
        return answer is not None and answer.error is not None

    def saw(self, call: ToolCall, result: ToolResult, *, wrote: bool) -> None:
        """What became of it."""
        if not result.is_error:
            self._worked[call.name] += 1
            self._recent = [*self._recent, *_scalars(dict(call.arguments)), *_scalars(result.value())][-60:]
        rule = self._invented.dynamics.tools.get(call.name)
        if rule is not None and rule.effect in _LOOKS and call not in self._looks:
            self._looks.append(call)
        self._last = (call, result.is_error, wrote)

    def _any(self) -> str:
        return self._random.choices(list(self._tools), self._weights)[0]

    def _about(self, last: ToolCall) -> str:
        """A tool that looks at what the last call was about."""
        rules = self._invented.dynamics.tools
        touched = _collections(rules[last.name]) if last.name in rules else set()
        looks = [
            name
            for name in self._tools
            if name in rules and rules[name].effect in _LOOKS and _collections(rules[name]) & touched
        ]
        return self._random.choice(looks) if looks else self._any()

    def _calling(self, name: str, state: State) -> ToolCall:
        tool = self._tools[name]
        schema = tool.input_schema
        properties, required = schema.get("properties", {}), schema.get("required", [])
        arguments: dict[str, Json] = {}
        for argument, said in properties.items():
            if argument in required or self._random.random() < self._optional:
                arguments[argument] = self._value(tool, argument, said, arguments, state)
        return ToolCall(name, arguments)

    def _value(self, tool: Tool, argument: str, said: Any, given: dict[str, Json], state: State) -> Json:
        known = self._known(tool, argument, given, state)
        if known is None:
            return self._made_up(said)
        if self._random.random() < self._unknown or not known:
            strange = self._said_of(self._invented.play.strange, tool, argument)
            if strange:
                return self._random.choice(strange)
            return self._bent(self._random.choice(known) if known else self._made_up(said))
        seen = [value for value in known if any(value is one or value == one for one in self._recent[-25:])]
        return self._random.choice(seen if seen and self._random.random() < 0.6 else known)

    def _known(self, tool: Tool, argument: str, given: dict[str, Json], state: State) -> list[Json] | None:
        source = self._said_of(self._invented.play.values, tool, argument)
        if source is None or isinstance(source, list):
            return source
        field = _FIELD.fullmatch(source)
        if field:
            return [document[field[2]] for document in state.collection(field[1]).values()]
        scope = Scope({"args": given, "entity": None}, state, random=Random(0), dynamics=self._invented.dynamics)
        found = compile_expression(source)(scope)
        if not isinstance(found, list):
            raise TypeError(f"{self._invented.name}: values of {argument}: {source} is no list")
        return found

    @staticmethod
    def _said_of(said: Any, tool: Tool, argument: str) -> Any:
        return said.get(f"{tool.name}.{argument}", said.get(argument))

    def _bent(self, value: Json) -> Json:
        """Like the value, and not it."""
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int | float):
            return value + self._random.choice([7, 90, 1000])
        if isinstance(value, list):
            return [self._bent(item) for item in value]
        text = str(value)
        if text and text[-1].isdigit():
            return text[:-1] + str((int(text[-1]) + self._random.randint(3, 8)) % 10) + self._random.choice(["", "7"])
        return f"{self._random.choice(WORDS)}{self._random.choice(['', '-', '_'])}{text[-3:]}"

    def _made_up(self, said: Any) -> Json:
        """A value as the schema wants one."""
        random = self._random
        if "enum" in said:
            return random.choice(said["enum"])
        if "examples" in said and random.random() < 0.8:
            return random.choice(said["examples"])
        kind = said.get("type", "string")
        kind = random.choice(kind) if isinstance(kind, list) else kind
        if kind == "boolean":
            return random.random() < 0.5
        if kind == "null":
            return None
        if kind in ("integer", "number"):
            low, high = said.get("minimum", 0), said.get("maximum", 200)
            if kind == "integer":
                return random.randint(low, high)
            return round(random.uniform(low, high), random.choice([0, 1, 2]))
        if kind == "array":
            return [self._made_up(said.get("items", {})) for _ in range(random.randint(0, 3))]
        if kind == "object":
            return {name: self._made_up(one) for name, one in said.get("properties", {}).items()}
        return " ".join(random.choices(WORDS, k=random.randint(1, 3)))


def record(invented: Invented, *, episodes: int, calls: int, seed: int | str = 0, first: int = 0) -> list[Fixture]:
    """Sessions on fresh worlds of the original, as a recorder would have them; the first is numbered `first`.

    Every session has its own day and its own chance: what depends on them differs between sessions.
    """
    return asyncio.run(_recorded(invented, range(first, first + episodes), calls, Agent(invented, seed)))


async def _recorded(invented: Invented, numbers: Sequence[int], calls: int, agent: Agent) -> list[Fixture]:
    made: list[Fixture] = []
    for number in numbers:
        world = invented.environment.world(seed=number, clock=invented.day(number))
        agent.begin()
        for position in range(calls):
            call = agent.call(world.state)
            result, wrote = await _performed(invented, world, call)
            agent.saw(call, result, wrote=wrote)
            made.append(Fixture(call, result, f"session-{number:04}", position))
    return made


async def _performed(invented: Invented, world: World, call: ToolCall) -> tuple[ToolResult, bool]:
    before = world.state
    rehearsal = await invented.environment.call(world, call)
    result = rehearsal.result
    wrote = world.state.collections is not before.collections
    return ToolResult(result.content, result.structured, result.is_error), wrote


def _collections(rule: Any) -> set[str]:
    return {name for name in (rule.collection, *(change.collection for change in rule.also)) if name is not None}


def _scalars(value: Json) -> Iterator[Json]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value[:30]:
            yield from _scalars(item)
    elif value is not None and not isinstance(value, bool):
        yield value
        if isinstance(value, str) and " " in value:
            yield from value.replace("'", " ").split()
