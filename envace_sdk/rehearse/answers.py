"""From what the dynamics answer to what the tool answers: completed to its output schema, and remembered."""

from __future__ import annotations

from random import Random

from envace_sdk.json import UNSET, Json, Unset
from envace_sdk.jsonschema import compile_schema, generate
from envace_sdk.tools.model import Tool, ToolCall, ToolResult
from envace_sdk.world.answer import Touch
from envace_sdk.world.dynamics import Dynamics
from envace_sdk.world.interpret import Answer
from envace_sdk.world.state import State

from .base import Context, Layer, Rehearsal
from .remember import KeyTakenError, remember
from .rewritten import rewritten
from .shapes import carried

__all__ = ["REWRITTEN", "fit", "present"]

REWRITTEN = 0.2
"""Confidence in an answer for which a value of the caller's, or of the world's, had to give way to the schema."""


def present(answer: Answer, call: ToolCall, context: Context, layer: Layer, dynamics: Dynamics) -> Rehearsal:
    """The rehearsal that an interpreted rule amounts to.

    Raises:
        UnsatisfiableError: the tool's output schema admits nothing.
    """
    rule, tool = answer.rule, context.tool
    confidence, reason, writes, state = answer.confidence, rule.reason, answer.writes, answer.state
    unseen: frozenset[Touch] = frozenset()
    if answer.error is not None:
        result, state = ToolResult.text(answer.error, is_error=True), context.state
        if answer.outcome == "not_found":
            unseen = frozenset(touch for touch in answer.reads if _is_unseen(touch, state))
    elif answer.is_text and tool.output_schema is None:
        result = ToolResult.text(answer.value)
    else:
        known = UNSET if answer.is_text else answer.value
        value = fit(tool, known, call, state, context.random)
        if value is not known and not answer.is_text:
            given = call.arguments if rule.effect in {"create", "update"} else {}
            changed = rewritten(answer.value, value, given)
            if changed:
                confidence = min(confidence, REWRITTEN)
                reason = "; ".join(filter(None, (reason, changed)))
            try:
                state, writes = remember(answer, value, context.state, dynamics)
            except KeyTakenError as taken:
                result = ToolResult.text(str(taken), is_error=True)
                return Rehearsal(result, context.state, layer, "conflict", confidence, reason)
        text = answer.value if answer.is_text else None
        result = ToolResult.json(value, structured=tool.output_schema is not None, text=text)
    return Rehearsal(result, state, layer, answer.outcome, confidence, reason, writes=writes, unseen=unseen)


def _is_unseen(touch: Touch, state: State) -> bool:
    collection, key = state.collection(touch[0]), touch[1]
    return key is None or (key not in collection and not collection.was_removed(key))


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
