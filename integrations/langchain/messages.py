"""Between the guard's outcomes and the messages that a model reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from langchain_core.messages import ToolMessage

from envace_sdk.errors import Refused
from envace_sdk.evidence import Claimed, Observed, label
from envace_sdk.guard import Outcome, as_result
from envace_sdk.json import UNSET, Json
from envace_sdk.tools.model import ToolResult

__all__ = ["labelled", "notice", "read", "refusal", "refusal_text", "replayed", "unexecuted"]

_EDITED: Final = (
    "A person changed the arguments of this call before it was executed; what was executed is {arguments}. "
    "That was on purpose: do not make the original call again."
)


def refusal_text(refused: Refused) -> str:
    """A refusal in words that cannot be taken for a result, with the prediction framed as one."""
    return "\n".join(filter(None, [str(refused), refused.prediction]))


def refusal(refused: Refused, *, name: str, call_id: str | None) -> ToolMessage:
    """The answer to a call that was not executed."""
    wanted = {} if refused.arguments is None else {"arguments": dict(refused.arguments)}
    artifact = {"executed": False, "verdict": refused.kind, "reasons": list(refused.reasons), **wanted}
    return _error(refusal_text(refused), name, call_id, artifact)


def unexecuted(reason: str, *, name: str, call_id: str | None) -> ToolMessage:
    """The answer to a call that never came before the guard's policy."""
    return _error(f"{name} was not executed: {reason}", name, call_id, {"executed": False, "reasons": [reason]})


def _error(text: str, name: str, call_id: str | None, artifact: dict[str, Json]) -> ToolMessage:
    return ToolMessage(text, name=name, tool_call_id=call_id or "", status="error", artifact=artifact)


def replayed(outcome: Outcome, *, name: str, call_id: str | None) -> ToolMessage:
    """The recorded outcome of a call that was executed before."""
    result = outcome.result
    content: Any = _text(result)
    artifact: dict[str, Json] = {"replayed": True}
    if result.structured is not UNSET:
        artifact["structured_content"] = result.structured
    message = ToolMessage(content, name=name, tool_call_id=call_id or "", artifact=artifact)
    message.status = "error" if result.is_error else "success"
    return labelled(message, call_id, outcome.evidence)  # type: ignore[no-any-return]


def read(call_id: str | None) -> Callable[[Any], ToolResult]:
    """Reads what LangChain's executor returned for a call: a message, a command, several of them, or plain data."""

    def reads(value: Any) -> ToolResult:
        message = next(_messages(value, call_id), None)
        if message is None:
            return ToolResult.text(f"({type(value).__name__})") if _is_command(value) else as_result(value)
        structured = message.artifact.get("structured_content", UNSET) if isinstance(message.artifact, dict) else UNSET
        return ToolResult(tuple(_blocks(message.content)), structured, is_error=message.status == "error")

    return reads


def labelled(value: Any, call_id: str | None, evidence: Observed | Claimed) -> Any:
    """What an executor returned, with the evidence of the call's message in its `additional_kwargs`, and no other."""

    def change(message: ToolMessage) -> ToolMessage:
        return message.model_copy(update={"additional_kwargs": label(evidence, message.additional_kwargs)})

    return _changed(value, call_id, change)


def notice(value: Any, call_id: str | None, arguments: Mapping[str, Json]) -> Any:
    """The answer to a call that a person edited, which says so: the model's own message still holds the original."""
    text = _EDITED.format(arguments=json.dumps(dict(arguments), ensure_ascii=False, default=str))

    def change(message: ToolMessage) -> ToolMessage:
        said = message.content
        content: Any = f"{text}\n{said}" if isinstance(said, str) else [{"type": "text", "text": text}, *said]
        return message.model_copy(update={"content": content})

    return _changed(value, call_id, change)


def _changed(value: Any, call_id: str | None, change: Callable[[ToolMessage], ToolMessage]) -> Any:
    """What an executor returned, with a change to the messages in it that answer the call."""
    if isinstance(value, ToolMessage):
        return change(value) if call_id in {None, value.tool_call_id} else value
    if isinstance(value, list):
        return [_changed(item, call_id, change) for item in value]
    if _is_command(value) and isinstance(value.update, dict) and isinstance(value.update.get("messages"), list):
        return replace(value, update={**value.update, "messages": _changed(value.update["messages"], call_id, change)})
    return value


def _messages(value: Any, call_id: str | None) -> Iterator[ToolMessage]:
    """The messages among what was returned that answer the call."""
    if isinstance(value, ToolMessage):
        if call_id is None or value.tool_call_id == call_id:
            yield value
    elif isinstance(value, list):
        for item in value:
            yield from _messages(item, call_id)
    elif _is_command(value) and isinstance(value.update, dict):
        yield from _messages(value.update.get("messages"), call_id)


def _is_command(value: Any) -> bool:
    # By name: langchain-core alone knows no commands.
    return any(kind.__name__ == "Command" and kind.__module__.startswith("langgraph") for kind in type(value).__mro__)


def _blocks(content: Any) -> Iterator[dict[str, Json]]:
    for block in [content] if isinstance(content, str) else content:
        yield dict(block) if isinstance(block, Mapping) else {"type": "text", "text": str(block)}


def _text(result: ToolResult) -> str | list[dict[str, Json]]:
    if all(block.get("type") == "text" for block in result.content):
        return "\n".join(str(block.get("text", "")) for block in result.content)
    return [dict(block) for block in result.content]
