"""Runs of LangSmith and of LangChain's tracers, as exports, queries and `Run` objects give them.

The form: https://docs.langchain.com/langsmith/run-data-format
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from envace_sdk.errors import FixtureError
from envace_sdk.json import UNSET, Json, Unset

from .attributes import nanoseconds
from .messages import answer_of, history, is_answer
from .seen import Place, Seen, Span
from .values import arguments_of, error_text, from_text, result_of

__all__ = ["is_run", "runs", "spans"]

_THREAD: Final = ("session_id", "thread_id", "conversation_id")
"""What LangSmith knows a thread by, in the metadata of a run."""


def is_run(value: Json) -> bool:
    """Whether it is a run, or the answer to a query for runs."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("runs"), list):
        return any(map(is_run, value["runs"]))
    return isinstance(value.get("run_type"), str) and ("inputs" in value or "outputs" in value or "id" in value)


def runs(value: Json, place: Place) -> Iterator[tuple[Mapping[str, Json], Place]]:
    """All runs in a document, also those within others."""
    stack = [(value, place)]
    while stack:
        item, at = stack.pop()
        if not isinstance(item, dict):
            continue
        if "run_type" in item:
            yield item, at
        for name in ("child_runs", "runs"):
            inner = item.get(name)
            if isinstance(inner, list):
                found = [(child, at.member(f"{name}[{n}]")) for n, child in enumerate(inner)]
                stack += reversed(found)


def spans(found: list[tuple[Mapping[str, Json], Place]]) -> list[Span]:
    """Runs as spans. A run that is told of several times, when it began and when it ended, is put together."""
    whole: dict[str, dict[str, Json]] = {}
    places: dict[str, Place] = {}
    for n, (run, place) in enumerate(found):
        identity = _text(run, "id") or f"#{n}"
        told = whole.setdefault(identity, {})
        told |= {name: value for name, value in run.items() if value is not None}
        places.setdefault(identity, place)
    roots = _roots(whole)
    return [_span(run, identity, roots[identity], places[identity]) for identity, run in whole.items()]


def _roots(whole: Mapping[str, Mapping[str, Json]]) -> dict[str, str]:
    """The trace of each run: as it says, or the first of its ancestors."""
    roots: dict[str, str] = {}
    for identity in whole:
        path: dict[str, None] = {}
        at = identity
        while at not in roots and at not in path:
            path[at] = None
            parent = _text(whole[at], "parent_run_id")
            if _text(whole[at], "trace_id") or parent not in whole:
                break
            at = parent
        root = roots.get(at) or _text(whole[at], "trace_id") or at
        roots |= dict.fromkeys(path, root)
    return roots


def _span(run: Mapping[str, Json], identity: str, trace: str, place: Place) -> Span:
    extra = _json(run.get("extra"))
    extra = extra if isinstance(extra, dict) else {}
    metadata = extra.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    made = Span(
        place,
        id=identity,
        trace=trace,
        parent=_text(run, "parent_run_id"),
        conversation=next((found for name in _THREAD if (found := _text(metadata, name))), ""),
        at=nanoseconds(run.get("start_time"), unit=10**6),  # a number is JavaScript's, in milliseconds
    )
    inputs, outputs = _json(run.get("inputs")), _json(run.get("outputs"))
    if str(run.get("run_type")).lower() == "tool":
        made.call = _ended(_given(run, inputs, _text(extra, "tool_call_id"), place), run, outputs)
    else:
        made.history = history([(inputs, place.member("inputs")), (outputs, place.member("outputs"))])
    return made


def _given(run: Mapping[str, Json], inputs: Json, call_id: str, place: Place) -> Seen:
    """A call with its arguments."""
    tool, at = _text(run, "name"), place.member("inputs")
    if inputs is None:
        return Seen(tool, at, call_id)
    is_text = isinstance(inputs, dict) and inputs.keys() == {"input"} and isinstance(inputs["input"], str)
    if is_text:
        # Tracers used to write the arguments as text; then again, `input` may be the name of the one argument.
        try:
            arguments = arguments_of(inputs["input"]) if inputs["input"] else inputs
        except FixtureError:
            arguments = inputs
        return Seen(tool, at, call_id, arguments, are_arguments_sure=False)
    try:
        return Seen(tool, at, call_id, arguments_of(inputs))
    except FixtureError as error:
        return Seen(tool, at, call_id, wrong_arguments=str(error))


def _ended(given: Seen, run: Mapping[str, Json], outputs: Json) -> Seen:
    """A call with how it ended."""
    error = run.get("error")
    if isinstance(error, str) and error:
        return replace(given, result=error_text(error), is_error=True)
    value = _output(outputs, given.call_id)
    result: Json | Unset = UNSET
    is_error, call_id = run.get("status") == "error", given.call_id
    if is_answer(value):
        answer = answer_of(value, given.place)
        result, is_error, call_id = answer.result, is_error or answer.is_error, call_id or answer.call_id
    elif value is not UNSET:
        result = result_of(value)
    return replace(given, call_id=call_id, result=result, is_error=is_error)


def _output(outputs: Json, call_id: str) -> Json | Unset:
    """The value in a tool's outputs: under `output` where it is not an object itself."""
    if outputs is None:
        return UNSET
    if not isinstance(outputs, dict) or outputs.keys() != {"output"}:
        return outputs
    value = outputs["output"]
    update = value.get("update") if isinstance(value, dict) else None
    if isinstance(update, dict) and isinstance(update.get("messages"), list):  # LangGraph's `Command`
        answers = [message for message in update["messages"] if is_answer(message)]
        mine = [message for message in answers if call_id and answer_of(message, Place(0)).call_id == call_id]
        return next(iter(mine or answers), value)
    return value


def _json(value: Json) -> Json:
    """What stands in a table as text of JSON."""
    return from_text(value) if isinstance(value, str) else value


def _text(item: Mapping[str, Json], name: str) -> str:
    found = item.get(name)
    return found if isinstance(found, str) else ""
