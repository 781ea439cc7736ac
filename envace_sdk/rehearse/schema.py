"""The last layer: what the schemas alone allow.

Where the dynamics know the kind of entity but not the entity, it is invented, put into the world, and the rule is then
interpreted as if it had always been there: so whatever is asked next agrees with it. Where they do not, the answer is
an instance of the tool's answer schema that carries the call's arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from envace_sdk.json import UNSET, Json
from envace_sdk.jsonschema import generate
from envace_sdk.tools.fixture import Fixture
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.dynamics import Dynamics, ToolRule
from envace_sdk.world.interpret import Interpreter
from envace_sdk.world.keys import get_path, key_text, set_path
from envace_sdk.world.mint import mint
from envace_sdk.world.state import State

from .answers import present
from .base import Context, Rehearsal
from .keyschemas import KeySchemas
from .precedents import Precedents
from .shapes import answer_schema, carried, entity_schema, properties

__all__ = ["SchemaRehearser"]

INVENTED = 3
"""How many entities stand in for a collection of which nothing is known when it is first searched."""

CONFIDENCE = 0.2
"""Of an invented answer: its form is right, its values are guesses."""


class SchemaRehearser:
    """Always answers; it only knows what is well-formed, so it is asked last."""

    def __init__(
        self,
        tools: Sequence[Tool],
        dynamics: Dynamics,
        interpreter: Interpreter,
        keys: KeySchemas,
        fixtures: Sequence[Fixture] = (),
        precedents: Precedents | None = None,
    ) -> None:
        self._tools = tools
        self._dynamics = dynamics
        self._interpreter = interpreter
        self._keys = keys
        self._fixtures = fixtures
        self._precedents = precedents

    async def rehearse(self, call: ToolCall, context: Context) -> Rehearsal | None:
        """Invent what the world lacks, or the answer itself.

        Raises:
            DynamicsError: the rule that an invented entity opens the way for cannot be evaluated.
            UnsatisfiableError: the tool's output schema admits nothing.
        """
        if self._precedents is not None and (r := self._precedents.rehearse(call, context)) is not None:
            return r
        rule = self._dynamics.tools.get(call.name)
        if rule is not None and rule.collection is not None:
            state = self._populate(rule, rule.collection, call, context)
            answer = self._interpreter.run(context.tool, call.arguments, state, context.random)
            if answer is not None:
                rehearsal = present(answer, call, context, "schema", self._dynamics)
                return _guessed(rehearsal, state if rehearsal.result.is_error else rehearsal.state, state)
        return _guessed(self._instance(call, context), context.state)

    def _populate(self, rule: ToolRule, collection: str, call: ToolCall, context: Context) -> State:
        """The state with the entity that the call names in it, or with a few where it searches among none."""
        state = context.state
        if rule.effect in {"read", "update", "delete"}:
            key = self._interpreter.key(context.tool, call.arguments, state)
            return state if key is None else self._invent(collection, key, {}, call, state, context)
        if rule.effect == "search" and not len(state.collection(collection)):
            wanted = {
                narrowing.field: value
                for argument, narrowing in rule.filters.items()
                if narrowing.op == "equals" and (value := get_path(call.arguments, argument)) not in (UNSET, None)
            }
            for _ in range(INVENTED):
                state = self._invent(collection, None, wanted, call, state, context)
        return state

    def _invent(
        self,
        collection: str,
        key: Json | None,
        wanted: Mapping[str, Json],
        call: ToolCall,
        state: State,
        context: Context,
    ) -> State:
        held = state.collection(collection)
        schema = entity_schema(collection, self._tools, self._dynamics, list(islice(held.values(), 5)))
        fields = self._dynamics.collections[collection].key_fields
        if key is None:
            wish = {**schema, "properties": {**properties(schema), **properties(self._keys(collection))}}
            key = mint(collection, self._dynamics.collections[collection], state, context.random, wish)
        parts = key if isinstance(key, list) and len(fields) > 1 else [key]
        known: Json = {}
        for field, value in (*wanted.items(), *zip(fields, parts, strict=False)):
            known = set_path(known, field, value)
        entity = generate(
            schema, random=context.random, clock=state.clock, known=known, hints=call.arguments, name=collection
        )
        if not isinstance(entity, dict):
            return state
        for field, value in zip(fields, parts, strict=False):
            made = get_path(entity, field)
            if made is UNSET or key_text(made) != key_text(value):
                entity = set_path(entity, field, value)  # it is what was asked for, whatever its schema would have
        return state.put(collection, key_text(key), entity)

    def _instance(self, call: ToolCall, context: Context) -> Rehearsal:
        tool = context.tool
        if tool.output_schema is None and (text := _retold(call, self._fixtures)) is not None:
            return Rehearsal(ToolResult.text(text), context.state, "schema")
        schema = answer_schema(tool, self._fixtures)
        value = generate(
            schema,
            random=context.random,
            clock=context.state.clock,
            known=carried(schema, call.arguments),
            hints=call.arguments,
            name=tool.name,
        )
        result = ToolResult.json(value, structured=tool.output_schema is not None)
        return Rehearsal(result, context.state, "schema")


def _guessed(rehearsal: Rehearsal, state: State, supposed: State | None = None) -> Rehearsal:
    reason = "invented: only the schema speaks for it"
    return Rehearsal(rehearsal.result, state, "schema", rehearsal.outcome, CONFIDENCE, reason, supposed=supposed)


def _retold(call: ToolCall, fixtures: Sequence[Fixture]) -> str | None:
    """The words in which the nearest recording answered, with this call's arguments in the place of its own."""
    told = [
        f for f in fixtures if f.call.name == call.name and isinstance(f.result.value(), str) and not f.result.is_error
    ]
    if not told:
        return None
    nearest = max(told, key=lambda f: sum(call.arguments.get(k) == v for k, v in f.call.arguments.items()))
    text = nearest.result.first_text
    for old, new in _replaced(nearest.call.arguments, call.arguments):
        text = text.replace(old, new)
    return text


def _replaced(old: Mapping[str, Json], new: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name, value in old.items():
        other = new.get(name)
        if isinstance(value, str) and isinstance(other, str) and len(value) > 1 and value != other:
            yield value, other
