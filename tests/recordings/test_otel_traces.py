"""Spans in every way they are written, and what of several spans is one call."""

import json

import pytest

from envace_sdk.recordings import Recording, read_recording


def loaded(tmp_path, *documents, **options):
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return Recording.load(path, **options)


def span(tool="get", at=1, trace="t", **more):
    """As the console exporter of the Python SDK prints it."""
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, **more.pop("attributes", {})}
    made = {
        "name": f"execute_tool {tool}",
        "context": {"trace_id": trace, "span_id": more.pop("id", f"s{at}")},
        "kind": "SpanKind.INTERNAL",
        "parent_id": more.pop("parent", None),
        "start_time": f"2026-01-01T00:00:{at:02d}.000000Z",
        "status": {"status_code": "UNSET"},
        "attributes": attributes,
        "events": [],
    }
    return {**made, **more}


def content(arguments, result):
    return {"gen_ai.tool.call.arguments": arguments, "gen_ai.tool.call.result": result}


def typed(value):
    """OTLP's `AnyValue`."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]}}
    return {"kvlistValue": {"values": [{"key": name, "value": typed(item)} for name, item in value.items()]}}


def otlp(attributes, **more):
    listed = [{"key": name, "value": typed(value)} for name, value in attributes.items()]
    return {"traceId": "t", "spanId": "s", "name": "x", "startTimeUnixNano": "5", "attributes": listed, **more}


VALUES = {"id": 7, "ratio": 0.5, "ok": True, "tags": ["a", "b"], "inner": {"n": [1, {"m": "x"}]}}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get", **content(VALUES, VALUES)}


@pytest.mark.parametrize(
    "document",
    [
        {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": [otlp(TOOL)]}]}]},
        {"resource_spans": [{"scope_spans": [{"spans": [otlp(TOOL)]}]}]},
        {"batches": [{"instrumentationLibrarySpans": [{"spans": [otlp(TOOL)]}]}]},
        {"trace": {"resourceSpans": [{"scopeSpans": [{"spans": [otlp(TOOL)]}]}]}},
        [otlp(TOOL)],
        otlp(TOOL),
        span(attributes=content(json.dumps(VALUES), json.dumps(VALUES))),
        {"name": "x", "trace_id": "t", "attributes": TOOL},
        {
            "name": "get",
            "context": {"trace_id": "t", "span_id": "s"},
            "span_kind": "TOOL",
            "attributes": {
                "tool": {"name": "get"},
                "input": {"value": VALUES},
                "output": {"value": json.dumps(VALUES)},
            },
        },
        {
            "context.trace_id": "t",
            "attributes.openinference.span.kind": "TOOL",
            "attributes.tool.name": "get",
            "attributes.input.value": json.dumps(VALUES),
            "attributes.output.value": json.dumps(VALUES),
        },
        {
            "data": [
                {
                    "traceID": "t",
                    "spans": [
                        {
                            "traceID": "t",
                            "spanID": "s",
                            "operationName": "execute_tool get",
                            "startTime": 1767225600000000,
                            "tags": [
                                {"key": "gen_ai.operation.name", "type": "string", "value": "execute_tool"},
                                {"key": "gen_ai.tool.call.arguments", "type": "string", "value": json.dumps(VALUES)},
                                {"key": "gen_ai.tool.call.result", "type": "string", "value": json.dumps(VALUES)},
                            ],
                        }
                    ],
                }
            ]
        },
    ],
    ids=["otlp", "snake", "tempo", "tempo-2", "list", "bare", "console", "flat", "phoenix", "phoenix-table", "jaeger"],
)
def test_a_span_is_a_call_however_it_is_written(tmp_path, document):
    recording = loaded(tmp_path, document, strict=True)
    [call] = recording
    assert (call.tool, call.arguments, call.result, call.is_error) == ("get", VALUES, VALUES, False)
    assert call.episode == "t"


@pytest.mark.parametrize(
    ("attributes", "result"),
    [
        ({"ai.toolCall.name": "get", "ai.toolCall.args": '{"a": 1}', "ai.toolCall.result": '"done"'}, "done"),
        ({"gen_ai.operation.name": "execute_tool", "tool_arguments": '{"a": 1}', "tool_response": "done"}, "done"),
        (
            {"mcp.method.name": "tools/call", **content({"a": 1}, {"content": [{"type": "text", "text": "done"}]})},
            "done",
        ),
        (
            {
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "get",
                "traceloop.entity.input": '{"args": [], "kwargs": {"a": 1}}',
                "traceloop.entity.output": '"done"',
            },
            "done",
        ),
        ({"openinference.span.kind": "TOOL", "input.value": "{'a': 1}", "output.value": "done"}, "done"),
        ({"gen_ai.operation.name": "execute_tool", **content('{"a": 1}', "7")}, "7"),
        ({"gen_ai.operation.name": "execute_tool", **content('{"a": 1}', '{"n": NaN}')}, '{"n": NaN}'),
    ],
    ids=["vercel", "pydantic-ai", "mcp", "traceloop", "openinference", "number", "no-json"],
)
def test_the_names_of_other_instrumentations_are_known(tmp_path, attributes, result):
    document = {"name": "execute_tool get", "trace_id": "t", "attributes": {**attributes, "gen_ai.tool.name": "get"}}
    [call] = loaded(tmp_path, document, strict=True)
    assert (call.tool, call.arguments, call.result) == ("get", {"a": 1}, result)


def test_content_may_stand_in_events_of_the_span(tmp_path):
    events = [
        {"name": "gen_ai.tool.message", "attributes": {"role": "tool", "content": '{"a": 1}', "id": "c1"}},
        {"name": "gen_ai.choice", "attributes": {"message": '[{"type": "text", "text": "done"}]', "id": "c1"}},
    ]
    [call] = loaded(tmp_path, span(events=events), strict=True)
    assert (call.arguments, call.result) == ({"a": 1}, "done")


@pytest.mark.parametrize(
    "failed",
    [
        {"status": {"status_code": "ERROR", "description": "no such order"}},
        {"status": {"code": 2, "message": "no such order"}},
        {
            "status": {
                "code": "STATUS_CODE_ERROR",
                "message": "ValueError('no such order')Traceback (most recent call last):",
            }
        },
        {"status_code": "ERROR", "status_message": "no such order", "status": None},
        {
            "status": {"status_code": "ERROR"},
            "events": [{"name": "exception", "attributes": {"exception.message": "no such order"}}],
        },
    ],
)
def test_a_failed_span_is_an_error_with_what_it_said(tmp_path, failed):
    [call] = loaded(tmp_path, span(attributes={"gen_ai.tool.call.arguments": "{}"}, **failed), strict=True)
    assert (call.result, call.is_error) == ("no such order", True)


def test_a_failure_that_says_nothing_is_left_out_since_its_words_would_be_made_up(tmp_path):
    attributes = {"gen_ai.tool.call.arguments": "{}", "error.type": "ValueError"}
    recording = loaded(tmp_path, span(attributes=attributes))
    assert recording.calls == ()
    assert "what the error said is not told" in recording.findings[0].message


def test_an_error_of_the_protocol_stays_one(tmp_path):
    attributes = {"gen_ai.tool.call.arguments": "{}", "error.type": "-32602", "rpc.response.status_code": "-32602"}
    status = {"status_code": "ERROR", "description": "Unknown tool: get"}
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps(span(attributes=attributes, status=status)))
    [exchange] = read_recording(path).exchanges
    assert exchange.error == {"code": -32602, "message": "Unknown tool: get"}


def test_calls_are_in_the_order_they_began_in_and_conversations_in_the_order_of_their_first(tmp_path):
    def said(text, conversation):
        return {"gen_ai.conversation.id": conversation, **content("{}", text)}

    recording = loaded(
        tmp_path,
        span(at=4, attributes=said("four", "late")),
        span(at=3, attributes=said("three", "early"), trace="u"),
        span(at=1, attributes=said("one", "early")),
    )
    results = {name: [call.result for call in calls] for name, calls in recording.episodes.items()}
    assert results == {"early": ["one", "three"], "late": ["four"]}
    assert list(results) == ["early", "late"]


def test_a_span_without_a_conversation_is_in_that_of_its_trace(tmp_path):
    agent = {**span(at=1), "attributes": {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c"}}
    recording = loaded(tmp_path, agent, span(at=2, attributes=content("{}", "x"), parent="s1"))
    assert list(recording.episodes) == ["c"]


def test_calls_that_are_the_whole_of_their_traces_are_one_episode_of_their_server(tmp_path):
    def line(n):
        resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
        one = otlp({**TOOL, "n": n}, traceId=f"t{n}", startTimeUnixNano=str(n))
        return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [one]}]}]}

    assert {name: len(calls) for name, calls in loaded(tmp_path, line(1), line(2)).episodes.items()} == {"shop": 2}


def test_what_framework_client_and_server_trace_of_one_call_is_one_call(tmp_path):
    attributes = {"mcp.method.name": "tools/call"}
    recording = loaded(
        tmp_path,
        span(at=1, attributes={"gen_ai.tool.call.arguments": '{"a": 1}'}),
        {**span(at=2, parent="s1"), "name": "POST", "attributes": {}},
        span(at=3, parent="s2", attributes={**attributes, **content({"a": 1}, "done")}),
        span(at=4, parent="s3", attributes=attributes),
        span("other", at=5, parent="s1", attributes=content({"a": 1}, "inner")),
    )
    assert [(call.tool, call.arguments, call.result) for call in recording] == [
        ("get", {"a": 1}, "done"),
        ("other", {"a": 1}, "inner"),
    ]
    assert recording.findings == ()


def chat(at, *messages):
    return {
        **span(at=at),
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(messages)},
    }


def asked(call_id, arguments, tool="get"):
    return {"role": "assistant", "parts": [{"type": "tool_call", "id": call_id, "name": tool, "arguments": arguments}]}


def answered(call_id, response):
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": response}]}


def test_calls_that_only_messages_tell_of_are_read_once_for_all_histories(tmp_path):
    first, second = [asked("c1", {"a": 1}), answered("c1", "one")], [asked("c2", {"a": 1}), answered("c2", "two")]
    recording = loaded(tmp_path, chat(1), chat(2, *first), chat(3, *first, *second))
    assert [(call.arguments, call.result) for call in recording] == [({"a": 1}, "one"), ({"a": 1}, "two")]
    assert ["does not tell errors" in finding.message for finding in recording.findings].count(True) == 1


def test_calls_without_ids_are_told_apart_by_their_order(tmp_path):
    first, second = [asked(None, {"a": 1}), answered(None, "one")], [asked(None, {"a": 1}), answered(None, "two")]
    recording = loaded(tmp_path, chat(2, *first), chat(3, *first, *second))
    assert [call.result for call in recording] == ["one", "two"]


def test_messages_complete_the_spans_of_tools_whose_content_was_not_recorded(tmp_path):
    history = [asked("c1", {"a": 1}), answered("c1", "one"), asked("c2", {"a": 2}), answered("c2", "two")]
    recording = loaded(
        tmp_path,
        span(at=1, attributes={"gen_ai.tool.call.id": "c1"}),
        span(at=2, attributes={"gen_ai.tool.call.id": "c2"}),
        chat(3, *history),
    )
    assert [(call.arguments, call.result) for call in recording] == [({"a": 1}, "one"), ({"a": 2}, "two")]


def test_a_call_that_only_messages_tell_of_stands_between_those_that_were_traced(tmp_path):
    traced = {"gen_ai.tool.call.id": "c1", **content('{"a": 1}', "one")}
    later = {"gen_ai.tool.call.id": "c3", **content('{"a": 3}', "three")}
    history = [asked("c1", {"a": 1}), answered("c1", "one"), asked("c2", {"a": 2}, "local"), answered("c2", "two")]
    recording = loaded(tmp_path, span(at=1, attributes=traced), chat(3, *history), span(at=4, attributes=later))
    assert [(call.tool, call.result) for call in recording] == [("get", "one"), ("local", "two"), ("get", "three")]


def test_messages_may_be_spread_over_indexed_attributes(tmp_path):
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "assistant",
        "llm.input_messages.0.message.tool_calls.0.tool_call.id": "c1",
        "llm.input_messages.0.message.tool_calls.0.tool_call.function.name": "get",
        "llm.input_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"a": 1}',
        "llm.input_messages.1.message.role": "tool",
        "llm.input_messages.1.message.tool_call_id": "c1",
        "llm.input_messages.1.message.content": "done",
    }
    [call] = loaded(tmp_path, {**span(), "attributes": attributes})
    assert (call.tool, call.arguments, call.result) == ("get", {"a": 1}, "done")


def test_messages_may_be_events_as_they_once_were(tmp_path):
    calls = [{"id": "c1", "type": "function", "function": {"name": "get", "arguments": '{"a": 1}'}}]
    events = [
        {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps(calls)}},
        {"name": "gen_ai.tool.message", "attributes": {"id": "c1", "content": "done"}},
    ]
    [call] = loaded(tmp_path, {**span(), "attributes": {"gen_ai.operation.name": "chat"}, "events": events})
    assert (call.tool, call.arguments, call.result) == ("get", {"a": 1}, "done")


def test_spans_of_one_id_that_say_otherwise_are_named(tmp_path):
    one, other = span(attributes=content("{}", "one")), span(attributes=content("{}", "other"))
    recording = loaded(tmp_path, one, one, other)
    assert [call.result for call in recording] == ["one"]
    assert {(finding.line, finding.severity) for finding in recording.findings} == {(0, "warning"), (3, "error")}


def test_what_is_wrong_with_a_span_is_named_by_its_place(tmp_path):
    wrong = span(attributes=content("[1]", "x"))
    unfinished = span(at=2, attributes={"gen_ai.tool.call.arguments": "{}"})
    untimed = {**span(at=3, attributes=content("{}", "x")), "start_time": "yesterday"}
    recording = loaded(tmp_path, wrong, unfinished, untimed, {"resourceMetrics": []})
    assert [(f.line, f.field, f.severity) for f in recording.findings] == [
        (1, "attributes.gen_ai.tool.call.arguments", "error"),
        (2, "attributes.gen_ai.tool.call.arguments", "error"),
        (3, "", "warning"),
        (4, "", "warning"),
    ]
    assert len(recording) == 1
