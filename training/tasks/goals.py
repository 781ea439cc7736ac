"""Making goals: what somebody may want in a world, tried there."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Final

from envace_sdk.errors import EnvaceError
from envace_sdk.json import Json
from envace_sdk.jsonschema import compile_schema, generate
from envace_sdk.rehearse.shapes import properties
from envace_sdk.tools.model import Tool, ToolCall
from envace_sdk.world.diff import diff
from envace_sdk.world.keys import key_text
from envace_sdk.world.state import State

from .arguments import Arguments
from .atlas import Atlas
from .facts import Fact, facts_of, said
from .goal import Aim, Goal, Kind, Step, Wanted, called, cel, refusal_said
from .ways import Way, found_keys, tell, tried
from .words import details, listed, request_of, sentence, words

__all__ = ["Goals"]

_EFFECTS: Final[dict[str, frozenset[str]]] = {
    "read": frozenset({"read"}),
    "search": frozenset({"search"}),
    "compute": frozenset({"compute"}),
    "change": frozenset({"create", "update", "delete"}),
    "refused": frozenset({"create", "update", "delete", "read"}),
}
_TRIES: Final = 12
_MOST_FOUND: Final = 4
_ON_THE_WAY: Final = 0.5
"""Weight of a call that only leads to what is wanted."""


class Goals:
    """Makes goals that can be had, or provably cannot, in one environment.

    Args:
        atlas: the names and values of its world.
        hidden: how often a key has to be found out, where it can be.
    """

    def __init__(self, atlas: Atlas, *, hidden: float = 0.5) -> None:
        self._atlas = atlas
        self._arguments = Arguments(atlas)
        self._hidden = hidden
        self._rules = atlas.environment.dynamics.tools

    def tools(self, kind: Kind) -> list[Tool]:
        """The tools that goals of a kind can be about."""
        wanted = _EFFECTS[kind]
        return [
            tool
            for tool in self._atlas.environment.toolset
            if tool.name in self._rules and self._rules[tool.name].effect in wanted
        ]

    async def make(self, kind: Kind, tool: Tool, state: State, random: Random, shown: Collection[str]) -> Goal | None:
        """A goal of a kind about a tool, or None where none was found in a few tries.

        Args:
            kind: what is wanted.
            tool: the tool it is about.
            state: the world before.
            random: the source of chance.
            shown: the tools that the witness may use.
        """
        makers = {
            "read": self._read,
            "search": self._search,
            "compute": self._compute,
            "change": self._change,
            "refused": self._refused,
        }
        for _ in range(_TRIES):
            try:
                goal = await makers[kind](tool, state, random, shown)
            except EnvaceError:  # a schema that admits nothing, a key that is none: other values may do
                goal = None
            if goal is not None:
                return goal
        return None

    async def _read(self, tool: Tool, state: State, random: Random, shown: Collection[str]) -> Goal | None:
        arguments = self._arguments.draw(tool, random, optional=0.1)
        name = self._atlas.key_argument(tool)
        if arguments is None or name is None or name not in arguments:
            return None
        aim = await self._succeeding(tool, arguments, state)
        if aim is None:
            return None
        collection = self._rules[tool.name].collection or ""
        way = await self._way(collection, arguments[name], state, random, shown)
        rehearsal = await tried(self._atlas, aim.call, state)
        found = facts_of(rehearsal.result.value() if rehearsal else None, self._rules[tool.name], way.subject, random)
        if not found:
            return None
        rest = {key: value for key, value in arguments.items() if key != name}
        fields = listed(f"the {fact.name}" for fact in found)
        ask = random.choice(["What is {f} of {s}?", "Tell me {f} of {s}.", "I would like to know {f} of {s}."])
        ask = ask if len(found) == 1 else ask.replace("What is", "What are")
        request = " ".join(filter(None, [ask.format(f=fields, s=way.subject), details(rest, {})]))
        return self._informed("read", f"read/{tool.name}/{way.kind}", request, way, aim, found, state)

    async def _compute(self, tool: Tool, state: State, random: Random, shown: Collection[str]) -> Goal | None:
        arguments = self._arguments.draw(tool, random)
        aim = None if arguments is None else await self._succeeding(tool, arguments, state)
        if aim is None or arguments is None:
            return None
        hidden, way, told = await self._hide(tool, arguments, state, random, shown)
        rehearsal = await tried(self._atlas, aim.call, state)
        asked = details(arguments, told)
        found = facts_of(rehearsal.result.value() if rehearsal else None, self._rules[tool.name], asked, random)
        if not found:
            return None
        fields = listed(f"the {fact.name}" for fact in found)
        opener = random.choice(["Please {r} and tell me {f}.", "I need you to {r}. What I want to know: {f}."])
        request = f"{opener.format(r=request_of(tool), f=fields)} {asked}".strip()
        template = f"compute/{tool.name}/{way.kind if hidden else 'key'}"
        return self._informed("compute", template, request, way, aim, found, state)

    async def _search(self, tool: Tool, state: State, random: Random, shown: Collection[str]) -> Goal | None:  # noqa: ARG002
        rule = self._rules[tool.name]
        field = self._atlas.key_field(rule.collection) if rule.collection else None
        arguments = self._arguments.draw(tool, random)
        narrowing = {name for name in arguments or {} if name in rule.filters}
        if arguments is None or field is None or not narrowing:
            return None
        aim = await self._succeeding(tool, arguments, state)
        rehearsal = None if aim is None else await tried(self._atlas, aim.call, state)
        if aim is None or rehearsal is None:
            return None
        keys = found_keys(self._atlas, rule, rehearsal.result.value())
        asked = details(arguments, {})
        if not 1 <= len(keys) <= _MOST_FOUND or any(len(key) < 3 or key in asked for key in keys):
            return None
        noun, key_word = self._atlas.noun(rule.collection or ""), words(field)
        opener = random.choice(
            [
                f"Please {request_of(tool)} and give me the {key_word} of each {noun} you find.",
                f"I am looking for every {noun} that fits this; tell me the {key_word} of each.",
            ]
        )
        wanted = [
            *(Wanted(f"The answer names {key}.", said([key])) for key in keys),
            Wanted(f"{tool.name} was called.", called(aim.call, tool), _ON_THE_WAY),
        ]
        reply = sentence(f"I found {listed(keys)}")
        template = f"search/{tool.name}/{'+'.join(sorted(narrowing))}"
        return Goal("search", template, f"{opener} {asked}", (Step(aim.call),), reply, tuple(wanted), aim, state)

    async def _change(self, tool: Tool, state: State, random: Random, shown: Collection[str]) -> Goal | None:
        arguments = self._arguments.draw(tool, random)
        if arguments is None:
            return None
        call = ToolCall(tool.name, arguments)
        rehearsal = await tried(self._atlas, call, state)
        if rehearsal is None or rehearsal.result.is_error or not diff(state, rehearsal.state):
            return None
        aim = Aim(tool, call, "success")
        _, way, told = await self._hide(tool, arguments, state, random, shown)
        request = self._asked(tool, arguments, told, random)
        wanted = (Wanted(f"{tool.name} was called as asked.", called(call, tool)),)
        steps = (*map(Step, way.calls), Step(call))
        reply = sentence(f"Done: {request_of(tool)}. {details(arguments, {})}".strip())
        return Goal("change", f"change/{tool.name}/{way.kind}", request, steps, reply, wanted, aim, rehearsal.state)

    async def _refused(self, tool: Tool, state: State, random: Random, shown: Collection[str]) -> Goal | None:
        arguments = self._arguments.draw(tool, random)
        if arguments is None:
            return None
        if random.random() < 0.4:
            arguments = self._astray(tool, arguments, random)
        call = ToolCall(tool.name, arguments)
        rehearsal = await tried(self._atlas, call, state)
        if rehearsal is None or not rehearsal.result.is_error or diff(state, rehearsal.state):
            return None
        aim = Aim(tool, call, rehearsal.outcome, rehearsal.result.first_text)
        _, way, told = await self._hide(tool, arguments, state, random, shown)
        looked = [f"attempted({cel(step.name)}, {cel(dict(step.arguments))})" for step in way.calls]
        tries = " + ".join([f"attempted({cel(tool.name)}{self._subject_of(tool, arguments)})", *looked])
        # One item: having tried is worth nothing to whoever then says that it is done.
        says = "It was tried, or looked into, and the answer says that it cannot be done."
        wanted = (Wanted(says, f"{tries} > 0 && {refusal_said()}"),)
        steps = (*map(Step, way.calls), Step(call, rehearsal.outcome))
        reply = sentence(f"I am sorry, I cannot do that: {aim.error.rstrip('.')}")
        template = f"refused/{tool.name}/{rehearsal.outcome}/{way.kind}"
        request = self._asked(tool, arguments, told, random)
        return Goal("refused", template, request, steps, reply, wanted, aim, state)

    def _informed(
        self, kind: Kind, template: str, request: str, way: Way, aim: Aim, found: Sequence[Fact], state: State
    ) -> Goal:
        wanted = (
            *(Wanted(f"The answer tells the {fact.name}.", said(fact.forms)) for fact in found),
            Wanted(f"{aim.tool.name} was called.", called(aim.call, aim.tool), _ON_THE_WAY),
        )
        reply = sentence(listed(f"the {fact.name} is {fact.forms[0]}" for fact in found))
        return Goal(kind, template, request, (*map(Step, way.calls), Step(aim.call)), reply, wanted, aim, state)

    async def _succeeding(self, tool: Tool, arguments: Mapping[str, Json], state: State) -> Aim | None:
        call = ToolCall(tool.name, arguments)
        rehearsal = await tried(self._atlas, call, state)
        return None if rehearsal is None or rehearsal.result.is_error else Aim(tool, call, "success")

    async def _hide(
        self, tool: Tool, arguments: Mapping[str, Json], state: State, random: Random, shown: Collection[str]
    ) -> tuple[str, Way, dict[str, str]]:
        """An argument that names an entity, the way in which that is told, and the words for it."""
        for name, schema in properties(tool.input_schema).items():
            value = arguments.get(name)
            collection = self._atlas.refers(tool, name, schema) if isinstance(value, str | int) else None
            if collection is not None and state.get(collection, key_text(value)) is not None:
                way = await self._way(collection, value, state, random, shown)
                return name, way, {name: way.value}
        return "", Way("key", "", ""), {}

    async def _way(self, collection: str, key: Json, state: State, random: Random, shown: Collection[str]) -> Way:
        return await tell(self._atlas, state, collection, key_text(key), random, hidden=self._hidden, shown=shown)

    def _asked(self, tool: Tool, arguments: Mapping[str, Json], told: Mapping[str, str], random: Random) -> str:
        opener = random.choice(["Please {r}.", "I need you to {r}.", "Could you {r}?", "I want to {r}."])
        return f"{opener.format(r=request_of(tool))} {details(arguments, told)}".strip()

    def _astray(self, tool: Tool, arguments: Mapping[str, Json], random: Random) -> dict[str, Json]:
        """The arguments with a key that is nobody's."""
        name = self._atlas.key_argument(tool)
        rule = self._rules[tool.name]
        made = dict(arguments)
        if name in made and rule.collection is not None and rule.effect != "create":
            schema = properties(tool.input_schema).get(name, True)
            for _ in range(_TRIES):
                key = _altered(made[name], random)
                key = (
                    key
                    if compile_schema(schema).is_valid(key)
                    else generate(schema, random=random, clock=self._atlas.state.clock, name=name)
                )
                if self._atlas.document(rule.collection, key_text(key)) is None:
                    return {**made, name: key}
        return made

    def _subject_of(self, tool: Tool, arguments: Mapping[str, Json]) -> str:
        name = self._atlas.key_argument(tool)
        return f", {cel({name: arguments[name]})}" if name is not None and name in arguments else ""


def _altered(key: Json, random: Random) -> Json:
    """The key with other digits, which looks as if it could be one."""
    if not isinstance(key, str):
        return key
    return re.sub(r"\d", lambda _: str(random.randrange(10)), key) if re.search(r"\d{3}", key) else key
