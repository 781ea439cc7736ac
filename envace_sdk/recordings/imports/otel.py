"""Spans of OpenTelemetry: the GenAI and MCP conventions, and what OpenInference, OpenLLMetry and others write.

Read are OTLP JSON (of the collector's file exporter, of the OTLP file exporters, of Tempo), the spans that the Python
console exporter prints, Jaeger's JSON, and spans with flat or nested attributes as Phoenix exports them.

The conventions: https://github.com/open-telemetry/semantic-conventions-genai (`execute_tool` spans, `tools/call` spans
of MCP, messages) and https://arize-ai.github.io/openinference/spec (TOOL spans).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from envace_sdk.errors import FixtureError
from envace_sdk.json import UNSET, Json, Unset

from .attributes import Attributes, nanoseconds
from .messages import answer_of, history, is_answer
from .seen import Place, Seen, Span
from .values import arguments_of, error_text, from_text, is_wire_result, result_of

__all__ = ["is_trace", "spans"]

_CONTAINERS: Final = ("resourceSpans", "resource_spans", "batches")
_SCOPES: Final = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans")

_TOOL: Final = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name", "langsmith.trace.name")
_ARGUMENTS: Final = (
    *("gen_ai.tool.call.arguments", "tool_arguments", "ai.toolCall.args", "gcp.vertex.agent.tool_call_args"),
    *("traceloop.entity.input", "input.value", "gen_ai.prompt"),
)
_RESULT: Final = (
    *("gen_ai.tool.call.result", "tool_response", "ai.toolCall.result", "gcp.vertex.agent.tool_response"),
    *("traceloop.entity.output", "output.value", "gen_ai.completion"),
)
_CALL_ID: Final = ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
_CONVERSATION: Final = ("gen_ai.conversation.id", "session.id", "mcp.session.id")
_MESSAGES: Final = ("gen_ai.input.messages", "gen_ai.output.messages", "pydantic_ai.all_messages")
_INDEXED_MESSAGES: Final = (*("llm.input_messages", "llm.output_messages", "gen_ai.prompt", "gen_ai.completion"),)
_PREFIXES: Final = ("execute_tool ", "tools/call ")


def is_trace(value: Json) -> bool:
    """Whether it is a span, or holds spans."""
    if not isinstance(value, dict):
        return False
    if any(isinstance(value.get(name), list) for name in _CONTAINERS) or _is_span(value):
        return True
    return is_trace(value.get("trace")) or _jaeger(value) is not None


def spans(value: Json, place: Place) -> Iterator[Span]:
    """The spans in a document."""
    if not isinstance(value, dict):
        return
    if isinstance(value.get("trace"), dict) and not _is_span(value):
        yield from spans(value["trace"], place.member("trace"))
    for name in _CONTAINERS:
        yield from _in_resources(value.get(name), place.member(name))
    jaeger = _jaeger(value)
    if jaeger is not None:
        for n, trace in enumerate(jaeger):
            for m, span in enumerate(trace["spans"]):
                if isinstance(span, dict):
                    yield _of_jaeger(span, place.member(f"data[{n}].spans[{m}]"))
    elif _is_span(value):
        yield _span(value, place, "")


def _in_resources(resources: Json, place: Place) -> Iterator[Span]:
    for resource, at in _objects(resources, place):
        described = resource.get("resource")
        attributes = Attributes(described.get("attributes") if isinstance(described, dict) else None)
        origin = attributes.text("service.instance.id", "service.name")
        for name in _SCOPES:
            for scope, within in _objects(resource.get(name), at.member(name)):
                for span, found in _objects(scope.get("spans"), within.member("spans")):
                    yield _span(span, found, origin)


def _objects(items: Json, place: Place) -> Iterator[tuple[dict[str, Json], Place]]:
    for n, item in enumerate(items if isinstance(items, list) else ()):
        if isinstance(item, dict):
            yield item, Place(place.line, f"{place.field}[{n}]")


def _is_span(value: Mapping[str, Json]) -> bool:
    if "context.trace_id" in value:
        return True
    if "name" not in value or not isinstance(value.get("attributes"), dict | list):
        return False
    context = value.get("context", value)
    return isinstance(context, dict) and any(name in context for name in ("traceId", "trace_id"))


def _jaeger(value: Mapping[str, Json]) -> list[dict[str, Json]] | None:
    data = value.get("data")
    if not isinstance(data, list):
        return None
    traces = [trace for trace in data if isinstance(trace, dict) and isinstance(trace.get("spans"), list)]
    return [trace for trace in traces if "traceID" in trace] or None


def _of_jaeger(span: Mapping[str, Json], place: Place) -> Span:
    attributes = Attributes(span.get("tags"))
    references = span.get("references")
    parents = [item for item in references if isinstance(item, dict)] if isinstance(references, list) else []
    failed = attributes.text("otel.status_code") == "ERROR" or attributes.get("error") is True
    logs = span.get("logs")
    return _span(
        {
            "name": span.get("operationName"),
            "trace_id": span.get("traceID"),
            "span_id": span.get("spanID"),
            "parent_id": parents[0].get("spanID") if parents else None,
            "start": nanoseconds(span.get("startTime"), unit=1000),
            "attributes": span.get("tags"),
            "status": {"code": 2 if failed else 0, "message": attributes.text("otel.status_description")},
            "events": [
                {"name": Attributes(log.get("fields")).text("event"), "attributes": log.get("fields")}
                for log in (logs if isinstance(logs, list) else ())
                if isinstance(log, dict)
            ],
        },
        place,
        "",
    )


def _span(span: Mapping[str, Json], place: Place, origin: str) -> Span:
    context = span.get("context")
    ids = context if isinstance(context, dict) else span
    attributes = Attributes(span.get("attributes", _flat(span)))
    made = Span(
        place,
        id=_id(ids, "spanId", "span_id", "context.span_id"),
        trace=_id(ids, "traceId", "trace_id", "context.trace_id"),
        parent=_id(span, "parentSpanId", "parent_span_id", "parent_id"),
        conversation=attributes.text(*_CONVERSATION),
        origin=origin,
        at=_start(span),
    )
    events = [*_events(span)]
    if _is_tool(span, attributes):
        made.call = _call(span, attributes, events, place)
    else:
        told = [_json(attributes.get(name)) for name in _MESSAGES]
        told += [attributes.indexed(name) for name in _INDEXED_MESSAGES]
        told += [_event_message(name, event) for name, event in events]
        made.history = history([([item for item in told if item is not UNSET], place.member("attributes"))])
    return made


def _flat(span: Mapping[str, Json]) -> dict[str, Json]:
    """The attributes of a row of a table, whose columns are named `attributes.…`."""
    return {name.removeprefix("attributes."): value for name, value in span.items() if name.startswith("attributes.")}


def _id(ids: Mapping[str, Json], *names: str) -> str:
    found = next((ids[name] for name in names if isinstance(ids.get(name), str)), "")
    return str(found).removeprefix("0x")


def _start(span: Mapping[str, Json]) -> int | None:
    names = ("startTimeUnixNano", "start_time_unix_nano", "start", "start_time", "startTime")
    return next((found for name in names if (found := nanoseconds(span.get(name))) is not None), None)


def _events(span: Mapping[str, Json]) -> Iterator[tuple[str, Attributes]]:
    events = span.get("events")
    for event in events if isinstance(events, list) else ():
        if isinstance(event, dict):
            yield str(event.get("name", "")), Attributes(event.get("attributes"))


def _is_tool(span: Mapping[str, Json], attributes: Attributes) -> bool:
    if attributes.text("mcp.method.name"):
        return attributes.text("mcp.method.name") == "tools/call"
    if attributes.text("gen_ai.operation.name") == "execute_tool":
        return True
    kinds = [attributes.text("openinference.span.kind") or span.get("span_kind")]
    kinds += [attributes.text("traceloop.span.kind"), attributes.text("langsmith.span.kind")]
    return any(isinstance(kind, str) and kind.lower() == "tool" for kind in kinds) or "ai.toolCall.name" in attributes


def _call(span: Mapping[str, Json], attributes: Attributes, events: list[tuple[str, Attributes]], place: Place) -> Seen:
    name = str(span.get("name", ""))
    tool = attributes.text(*_TOOL)
    if not tool:
        tool = next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)
    told, member = _first(attributes, _ARGUMENTS)
    if told is UNSET:
        told = _event(events, "gen_ai.tool.message", "content")
    given = _given(told, place.member(f"attributes.{member}"), tool, attributes.text(*_CALL_ID))
    result, _ = _first(attributes, _RESULT)
    if result is UNSET:
        result = _event(events, "gen_ai.choice", "message")
    return _ended(given, result, span, attributes, events)


def _first(attributes: Attributes, names: tuple[str, ...]) -> tuple[Json | Unset, str]:
    for name in names:
        found = attributes.get(name)
        if found is not UNSET:
            return found, name
    return UNSET, names[0]


def _given(told: Json | Unset, place: Place, tool: str, call_id: str) -> Seen:
    """A call with its arguments."""
    if told is UNSET:
        return Seen(tool, place, call_id)
    value, call_id = _unwrapped_input(_json(told), call_id)
    try:
        arguments = arguments_of(value)
    except FixtureError as error:
        return Seen(tool, place, call_id, wrong_arguments=str(error))
    return Seen(tool, place, call_id, arguments)


def _ended(
    given: Seen,
    told: Json | Unset,
    span: Mapping[str, Json],
    attributes: Attributes,
    events: list[tuple[str, Attributes]],
) -> Seen:
    """A call with how it ended."""
    failed, message = _status(span)
    failed = failed or attributes.text("error.type") != ""
    value = UNSET if told is UNSET else _unwrapped_output(_json(told))
    result: Json | Unset = UNSET
    call_id = given.call_id
    if is_answer(value):
        answer = answer_of(value, given.place)
        result, failed, call_id = answer.result, failed or answer.is_error, call_id or answer.call_id
    elif value is not UNSET and not (failed and value in (None, "")):
        result = result_of(value, is_encoded=True)
    if is_wire_result(result):
        failed = failed or result.get("isError") is True
    if failed and result is UNSET and given.arguments is not UNSET:
        said = _event(events, "exception", "exception.message")
        result = said if isinstance(said, str) and said else error_text(message) or UNSET
    code = attributes.text("rpc.response.status_code")
    is_protocol = failed and code.removeprefix("-").isdigit() and code.startswith("-") and len(code) < 8
    protocol_code = int(code) if is_protocol else None
    return replace(given, call_id=call_id, result=result, is_error=failed, code=protocol_code)


def _status(span: Mapping[str, Json]) -> tuple[bool, str]:
    """Whether it failed, and what is said of that."""
    status = span.get("status")
    if isinstance(status, dict):
        code = status.get("code", status.get("status_code"))
        message = status.get("message", status.get("description"))
    else:
        code, message = span.get("status_code", status), span.get("status_message")
    return code in (2, "2", "STATUS_CODE_ERROR", "ERROR", "error"), message if isinstance(message, str) else ""


def _json(value: Json | Unset) -> Json | Unset:
    return from_text(value) if isinstance(value, str) else value


def _unwrapped_input(value: Json, call_id: str) -> tuple[Json, str]:
    """Without what OpenLLMetry puts around it, which holds the id of the call too."""
    if not isinstance(value, dict):
        return value, call_id
    if "input_str" in value and "kwargs" in value:
        more = value["kwargs"] if isinstance(value["kwargs"], dict) else {}
        found = more.get("tool_call_id")
        inner = value.get("inputs")
        return (value["input_str"] if inner is None else inner), call_id or (found if isinstance(found, str) else "")
    if value.keys() == {"args", "kwargs"} and value["args"] == [] and isinstance(value["kwargs"], dict):
        return value["kwargs"], call_id
    return value, call_id


def _unwrapped_output(value: Json) -> Json:
    if isinstance(value, dict) and value.keys() == {"output", "kwargs"}:
        return _json(value["output"])
    return value


def _event(events: list[tuple[str, Attributes]], name: str, member: str) -> Json | Unset:
    return next((event.get(member) for found, event in events if found == name and member in event), UNSET)


def _event_message(name: str, event: Attributes) -> Json:
    """A message that was told of as an event, as the conventions up to version 1.36 have it."""
    told = [_json(event.get(member)) for member in _MESSAGES]
    if name == "gen_ai.tool.message":
        told.append({"role": "tool", "tool_call_id": event.text("id"), "content": event.get("content")})
    elif name in ("gen_ai.assistant.message", "gen_ai.choice"):
        told += [_json(event.get(member)) for member in ("tool_calls", "message", "content")]
    return [item for item in told if item is not UNSET]
