"""From what the dynamics answer to what the tool answers: completed to its output schema, and remembered."""

from __future__ import annotations

from random import Random

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.jsonschema import compile_schema, generate
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.interpret import Answer, Emitted
from envace_sdk.world.state import State

from .base import Context, Layer, Rehearsal
from .shapes import carried

__all__ = ["fit", "present"]


def present(answer: Answer, call: ToolCall, context: Context, layer: Layer) -> Rehearsal:
    """The rehearsal that an interpreted rule amounts to.

    Raises:
        UnsatisfiableError: the tool's output schema admits nothing.
    """
    rule, tool = answer.rule, context.tool
    if answer.error is not None:
        result, state = ToolResult.text(answer.error, is_error=True), context.state
    elif answer.is_text and tool.output_schema is None:
        result, state = ToolResult.text(answer.value), answer.state
    else:
        known = UNSET if answer.is_text else answer.value
        value = fit(tool, known, call, answer.state, context.random)
        state = answer.state
        if value is not known and not answer.is_text:
            state = _remember(answer.value, value, answer.entities, state)
        text = answer.value if answer.is_text else None
        result = ToolResult.json(value, structured=tool.output_schema is not None, text=text)
    return Rehearsal(result, state, layer, answer.outcome, answer.confidence, rule.reason, writes=answer.writes)


def fit(tool: Tool, known: Json | Unset, call: ToolCall, state: State, random: Random) -> Json:
    """`known` itself where the output schema admits it (or there is none), else completed to an instance of it.

    Raises:
        UnsatisfiableError: the schema admits nothing.
    """
    schema = tool.output_schema
    if schema is None or (known is not UNSET and compile_schema(schema, where=tool.name).is_valid(known)):
        return None if known is UNSET else known
    if not known:
        known = carried(schema, call.arguments)
    return generate(schema, random=random, clock=state.clock, known=known, hints=call.arguments, name=tool.name)


def _remember(before: Json, after: Json, entities: tuple[Emitted, ...], state: State) -> State:
    """What completion added to an entity is from now on a fact of the world."""
    for emitted in entities:
        shown, completed = _at(before, emitted.pointer), _at(after, emitted.pointer)
        held = state.get(emitted.collection, emitted.key)
        if not isinstance(completed, dict) or not isinstance(shown, dict) or held is None:
            continue
        news = {
            field: value
            for field, value in completed.items()
            if shown.get(field, UNSET) == held.get(field, UNSET) and held.get(field, UNSET) != value
        }
        if news:
            state = state.put(emitted.collection, emitted.key, {**held, **news})
    return state


def _at(value: Json, pointer: tuple[str | int, ...]) -> Json:
    for step in pointer:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value
