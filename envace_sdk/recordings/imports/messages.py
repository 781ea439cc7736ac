"""Calls and answers in chat messages, whoever's form they have.

========================  =======================================  ================================================
form                      a call                                   its answer
========================  =======================================  ================================================
OpenTelemetry GenAI       part of type `tool_call`                 part of type `tool_call_response`
OpenAI chat completions   item of `tool_calls`, `function_call`    message with `tool_call_id`, of role `function`
OpenAI responses          item of type `function_call`             item of type `function_call_output`
LangChain                 item of `tool_calls`                     message with `tool_call_id`
Anthropic                 block of type `tool_use`                 block of type `tool_result`
Bedrock, Gemini           `toolUse`, `functionCall`                `toolResult`, `functionResponse`
========================  =======================================  ================================================

They are looked for in all of a value, in order, so that it does not matter what the messages are wrapped in.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from envace_sdk.errors import FixtureError
from envace_sdk.json import Json, Unset

from .seen import Place, Seen
from .values import arguments_of, is_wire_result, result_of

__all__ = ["answer_of", "history", "is_answer", "tells_of_calls"]

_MOST_OF_ONE_ID: Final = 20


@dataclass(frozen=True, slots=True)
class _Answer:
    place: Place
    call_id: str
    tool: str
    result: Json
    is_error: bool
    tells_errors: bool

    def seen(self) -> Seen:
        """What it tells of the call."""
        return Seen(
            self.tool,
            self.place,
            self.call_id,
            wrong_arguments="the call that this answers is not there",
            result=self.result,
            is_error=self.is_error,
            tells_errors=self.tells_errors,
        )


def history(values: Iterable[tuple[Json, Place]]) -> list[Seen]:
    """The calls in values that hold messages, in order, each with its answer where that is there too.

    An answer to a call that is not there is a call without arguments.
    """
    pairing = _Pairing()
    for value, place in values:
        for found in _found(value, place):
            if isinstance(found, _Answer):
                pairing.answer(found)
            else:
                pairing.call(found)
    return pairing.calls


def tells_of_calls(value: Json) -> bool:
    """Whether there is any call or answer in it."""
    return next(_found(value, Place(0)), None) is not None


def is_answer(value: Json | Unset) -> TypeGuard[Mapping[str, Json]]:
    """Whether it is a message that answers a call."""
    return isinstance(value, dict) and _answer(_unwrapped(value), Place(0)) is not None


def answer_of(value: Mapping[str, Json], place: Place) -> Seen:
    """What a message that answers a call tells of it."""
    answer = _answer(_unwrapped(value), place)
    return Seen("", place) if answer is None else answer.seen()


def _found(value: Json, place: Place) -> Iterator[Seen | _Answer]:
    """Calls and answers in the order of the document; what they hold themselves is not looked into."""
    stack: list[tuple[Json, str]] = [(value, place.field)]
    while stack:
        item, path = stack.pop()
        if isinstance(item, list):
            stack += [(member, f"{path}[{n}]") for n, member in reversed([*enumerate(item)])]
            continue
        if not isinstance(item, dict):
            continue
        answer = _answer(item, Place(place.line, path))
        if answer is not None:
            yield answer
            continue
        call = _call(item, Place(place.line, path))
        if call is not None:
            yield call
            continue
        members = [(member, f"{path}.{name}" if path else name) for name, member in item.items()]
        stack += reversed([(member, at) for member, at in members if isinstance(member, dict | list)])


def _call(item: Mapping[str, Json], place: Place) -> Seen | None:
    kind = item.get("type")
    function = item.get("function")
    if isinstance(function, dict) and "arguments" in function:
        return _seen(function.get("name"), function["arguments"], item.get("id"), place.member("function"))
    if kind == "tool_use":
        return _seen(item.get("name"), item.get("input"), item.get("id"), place, "input")
    if kind == "function_call":
        return _seen(item.get("name"), item.get("arguments"), item.get("call_id", item.get("id")), place)
    if kind == "tool_call" or (kind is None and place.field.rpartition("[")[0].endswith("tool_calls")):
        for member in ("args", "arguments"):
            if member in item:
                return _seen(item.get("name"), item[member], item.get("id"), place, member)
    return _nested_call(item, place)


def _nested_call(item: Mapping[str, Json], place: Place) -> Seen | None:
    """A call that is the one member of an object, named for what it is."""
    legacy = item.get("function_call")
    if isinstance(legacy, dict) and "arguments" in legacy:
        return _seen(legacy.get("name"), legacy["arguments"], None, place.member("function_call"))
    bedrock = item.get("toolUse")
    if isinstance(bedrock, dict) and "input" in bedrock:
        return _seen(bedrock.get("name"), bedrock["input"], bedrock.get("toolUseId"), place.member("toolUse"), "input")
    gemini = item.get("functionCall", item.get("function_call"))
    if isinstance(gemini, dict) and "args" in gemini:
        return _seen(gemini.get("name"), gemini["args"], gemini.get("id"), place.member("functionCall"), "args")
    return None


def _seen(name: Json, arguments: Json, call_id: Json, place: Place, member: str = "arguments") -> Seen | None:
    if not isinstance(name, str) or not name:
        return None
    identity = call_id if isinstance(call_id, str) else ""
    try:
        return Seen(name, place.member(member), identity, arguments_of(arguments))
    except FixtureError as error:
        return Seen(name, place.member(member), identity, wrong_arguments=str(error))


def _answer(item: Mapping[str, Json], place: Place) -> _Answer | None:
    kind, role = item.get("type"), item.get("role")
    if kind == "tool_call_response":
        result = item.get("response", item.get("result"))
        return _answer_of(place, item.get("id"), item.get("name"), result)
    if kind == "tool_result" and "tool_use_id" in item:
        told = item.get("is_error") is True
        return _answer_of(
            place, item["tool_use_id"], item.get("name"), item.get("content", ""), told, tells_errors=True
        )
    if kind == "function_call_output":
        return _answer_of(place, item.get("call_id"), None, item.get("output"))
    if isinstance(item.get("tool_call_id"), str) and "content" in item:
        return _message_answer(item, place)
    if role == "function" and "content" in item:
        return _answer_of(place, None, item.get("name"), item["content"])
    return _nested_answer(item, place)


def _message_answer(item: Mapping[str, Json], place: Place) -> _Answer:
    """Of a `ToolMessage`, or of a message of role `tool`."""
    status = item.get("status")
    result = result_of(item["content"])
    artifact = item.get("artifact")
    structured = artifact.get("structured_content") if isinstance(artifact, dict) else None
    if structured is not None and not is_wire_result(result):
        text = item["content"] if isinstance(item["content"], str) else ""
        result = {"content": [{"type": "text", "text": text}], "structuredContent": structured}
    answer = _answer_of(place, item["tool_call_id"], item.get("name"), result, status == "error")
    return replace(answer, tells_errors=status in ("success", "error"))


def _nested_answer(item: Mapping[str, Json], place: Place) -> _Answer | None:
    bedrock = item.get("toolResult")
    if isinstance(bedrock, dict) and "content" in bedrock:
        status, content = bedrock.get("status"), bedrock["content"]
        if isinstance(content, list):
            content = [_bedrock_block(block) for block in content]
            if len(content) == 1 and isinstance(content[0], dict) and "json" in content[0]:
                content = content[0]["json"]
        failed, call_id = status == "error", bedrock.get("toolUseId")
        return _answer_of(place, call_id, None, content, failed, tells_errors=status is not None)
    gemini = item.get("functionResponse", item.get("function_response"))
    if isinstance(gemini, dict) and "response" in gemini:
        return _answer_of(place, gemini.get("id"), gemini.get("name"), gemini["response"])
    return None


def _bedrock_block(block: Json) -> Json:
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return {"type": "text", "text": block["text"]}
    return block


def _answer_of(
    place: Place, call_id: Json, tool: Json, result: Json, is_error: bool = False, *, tells_errors: bool = False
) -> _Answer:
    found = result_of(result)
    told = is_wire_result(found) and "isError" in found
    return _Answer(
        place,
        call_id if isinstance(call_id, str) else "",
        tool if isinstance(tool, str) else "",
        found,
        is_error or (told and found["isError"] is True),
        tells_errors or told,
    )


def _unwrapped(value: Mapping[str, Json]) -> Mapping[str, Json]:
    """A message without what LangChain's `messages_to_dict` and `dumpd` put around it."""
    for name in ("data", "kwargs"):
        inner = value.get(name)
        if isinstance(inner, dict) and "tool_call_id" in inner and "tool_call_id" not in value:
            return inner
    return value


class _Pairing:
    """Gives each answer to the call it answers: by id, without one by the tool's name, else to the first that waits."""

    def __init__(self) -> None:
        self.calls: list[Seen] = []
        self._waiting: OrderedDict[int, None] = OrderedDict()
        self._by_id: dict[str, list[int]] = {}
        self._by_tool: dict[str, OrderedDict[int, None]] = {}

    def call(self, call: Seen) -> None:
        """A call was made; told twice in a row it is one, as LangChain tells it in its own and its provider's form."""
        for index in self._by_id.get(call.call_id, [])[-_MOST_OF_ONE_ID:]:
            known = self.calls[index]
            if known.tool == call.tool and (not known.arguments or not call.arguments or known.may_be(call)):
                self.calls[index] = known.completed(call) if known.arguments else call.completed(known)
                return
        index = len(self.calls)
        self.calls.append(call)
        self._waiting[index] = None
        self._by_tool.setdefault(call.tool, OrderedDict())[index] = None
        if call.call_id:
            self._by_id.setdefault(call.call_id, []).append(index)

    def answer(self, answer: _Answer) -> None:
        """A call was answered."""
        index = self._asked(answer)
        if index is None:
            self.calls.append(answer.seen())
            return
        call = self.calls[index]
        del self._waiting[index], self._by_tool[call.tool][index]
        if call.call_id:
            self._by_id[call.call_id].remove(index)
        self.calls[index] = replace(call.completed(answer.seen()), tells_errors=answer.tells_errors)

    def _asked(self, answer: _Answer) -> int | None:
        if answer.call_id:
            known = self._by_id.get(answer.call_id)
            if known:
                return known[0]
        candidates = self._by_tool.get(answer.tool, OrderedDict()) if answer.tool else self._waiting
        first = next(iter(candidates), None)
        # An answer with another id than the call has is an answer to something else.
        return None if first is None or (answer.call_id and self.calls[first].call_id) else first
