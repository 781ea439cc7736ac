"""The rehearsing role: what it is told about one call, so that it answers as the real server would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from envace_sdk.json import Json
from envace_sdk.models.model import Message
from envace_sdk.tools.model import Tool, ToolCall

from .act import Step
from .format import Style
from .response import RESPONSE, render_response
from .signatures import schema_outline, signature
from .strictjson import write_json

__all__ = ["rehearse_prompt"]

_TAGGED: Final = RESPONSE[0] + "{}" + RESPONSE[1]
_TASK: Final = (
    "You stand in for the server behind a tool. For each call, write what the real server would answer, and nothing "
    "else: "
    + _TAGGED.format('{"result": …}')
    + ", or where it would refuse, "
    + _TAGGED.format('{"error": "…"}')
    + ".\n"
    "- Known facts, earlier calls and recorded answers bind you: agree with them, in content and in form.\n"
    "- Carry over ids, names and values from the arguments exactly.\n"
    "- Refuse a call that is malformed: an argument missing, unknown, of the wrong type or out of its bounds.\n"
    "- Refuse a call about something that does not exist, or in a state that does not allow it. Do not make a call "
    "succeed because somebody would like it to."
)
_SHORT: Final = (
    "You are the server behind a tool. Write only its answer: "
    + _TAGGED.format('{"result": …}')
    + ", or to refuse a wrong call, "
    + _TAGGED.format('{"error": "…"}')
    + "."
)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is told about the world, in the order in which it is given up for want of room: from the front of each."""

    history: Sequence[Step]
    examples: Sequence[Step]
    entities: Sequence[tuple[str, Json]]


def rehearse_prompt(
    tool: Tool,
    call: ToolCall,
    *,
    examples: Sequence[Step] = (),
    entities: Mapping[str, Sequence[Json]] | None = None,
    history: Sequence[Step] = (),
    style: Style = "json",
    budget: int | None = None,
) -> tuple[Message, ...]:
    """The prompt for the response to one call: a system message, recorded calls as worked examples, the call.

    Args:
        tool: the tool that is called.
        call: the call; malformed arguments and all.
        examples: calls of this tool that were recorded, with what the real server answered; nearest first. They stand
            as turns of the conversation, the nearest right before the call.
        entities: by collection, the things in the world that the call touches.
        history: earlier calls in this world with their answers, oldest first.
        style: `compact` for small models: shorter words, and schemas as outlines.
        budget: the most characters of all messages. The oldest history goes first, then the furthest examples, then
            entities from the last; the task, the tool and the call always stay.
    """
    known = _Known(
        history,
        tuple(reversed(examples)),
        [(name, entity) for name, found in reversed(list((entities or {}).items())) for entity in reversed(found)],
    )
    prompt = _prompt(tool, call, known, style)
    while budget is not None and sum(len(message.content) for message in prompt) > budget:
        excess = sum(len(message.content) for message in prompt) - budget
        less = _less(known, excess)
        if less is None:
            break
        known = less
        prompt = _prompt(tool, call, known, style)
    return prompt


def _prompt(tool: Tool, call: ToolCall, known: _Known, style: Style) -> tuple[Message, ...]:
    system = f"{_SHORT if style == 'compact' else _TASK}\n\n{_described(tool, style)}"
    messages = [Message("system", system)]
    for example, result in known.examples:
        messages += [Message("user", _asked(example)), Message("assistant", render_response(result))]
    parts = []
    if known.history:
        parts.append("Earlier calls:\n" + "\n".join(_step(step) for step in known.history))
    if known.entities:
        facts = [f"{write_json(name)[1:-1]}: {write_json(entity)}" for name, entity in reversed(known.entities)]
        parts.append("Known facts:\n" + "\n".join(facts))
    messages.append(Message("user", "\n\n".join([*parts, _asked(call)])))
    return tuple(messages)


def _described(tool: Tool, style: Style) -> str:
    if style == "compact":
        result = "" if tool.output_schema is None else f"\nResult: {schema_outline(tool.output_schema)}"
        return f"Tool: {signature(tool)}{result}"
    shown = {
        key: tool.definition[key]
        for key in ("name", "description", "inputSchema", "outputSchema")
        if key in tool.definition
    }
    return f"Tool: {write_json(shown)}"


def _asked(call: ToolCall) -> str:
    return f"Call: {_written(call)}"


def _step(step: Step) -> str:
    call, result = step
    return f"{_written(call)} -> {render_response(result)[len(RESPONSE[0]) : -len(RESPONSE[1])]}"


def _written(call: ToolCall) -> str:
    return f"{write_json(call.name)[1:-1]} {write_json(dict(call.arguments))}"


def _less(known: _Known, excess: int) -> _Known | None:
    """What is known, less what can best be spared: `excess` characters of it or more; None: nothing is left."""
    if known.history:
        return _Known(
            known.history[_count([len(_step(s)) + 1 for s in known.history], excess) :], known.examples, known.entities
        )
    if known.examples:
        sizes = [len(_asked(call)) + len(render_response(result)) for call, result in known.examples]
        return _Known((), known.examples[_count(sizes, excess) :], known.entities)
    if known.entities:
        sizes = [len(write_json(entity)) + len(name) + 3 for name, entity in known.entities]
        return _Known((), (), known.entities[_count(sizes, excess) :])
    return None


def _count(sizes: Sequence[int], excess: int) -> int:
    """How many from the front make up the excess."""
    taken = 0
    for count, size in enumerate(sizes, 1):
        taken += size
        if taken >= excess:
            return count
    return len(sizes)
