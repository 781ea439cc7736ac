"""Runs of LangSmith: what the forms and years of tracers put into inputs and outputs."""

import json
from uuid import UUID

import pytest

from envace_sdk.recordings import Recording

TIME = "2026-01-01T00:00:{:02d}.000000+00:00"


def run(n=1, **more):
    made = {
        "id": str(UUID(int=n)),
        "name": "get",
        "run_type": "tool",
        "trace_id": "t",
        "start_time": TIME.format(n),
        "end_time": TIME.format(n),
        "inputs": {"a": 1},
        "outputs": {"output": "done"},
        "error": None,
    }
    return {**made, **more}


def loaded(tmp_path, *documents, **options):
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return Recording.load(path, **options)


def message(**more):
    return {"type": "tool", "content": "done", "tool_call_id": "c1", "status": "success", **more}


@pytest.mark.parametrize(
    "inputs",
    [
        {"a": 1},
        '{"a": 1}',
        {"input": "{'a': 1}"},
        {"input": '{"a": 1}'},
    ],
    ids=["object", "text of a table", "text of an old tracer", "json text"],
)
def test_arguments_are_read_however_they_were_traced(tmp_path, inputs):
    [call] = loaded(tmp_path, run(inputs=inputs), strict=True)
    assert call.arguments == {"a": 1}


def test_a_text_that_is_no_object_is_the_argument_named_input(tmp_path):
    [call] = loaded(tmp_path, run(inputs={"input": "paris (france)"}), strict=True)
    assert call.arguments == {"input": "paris (france)"}


def test_python_text_is_read_and_never_run(tmp_path):
    hostile = "{'a': __import__('os').system('true')}"
    [call] = loaded(tmp_path, run(inputs={"input": hostile}), strict=True)
    assert call.arguments == {"input": hostile}
    deep = "{'a': " + "-" * 90_000 + "1}"
    [call] = loaded(tmp_path, run(inputs={"input": deep}), strict=True)
    assert call.arguments == {"input": deep}


@pytest.mark.parametrize(
    ("outputs", "result"),
    [
        ({"output": "done"}, "done"),
        ({"output": '{"n": 1}'}, {"n": 1}),
        ({"output": 5}, 5),
        ({"n": 1}, {"n": 1}),
        ('{"output": "done"}', "done"),
        ({"output": message()}, "done"),
        ({"output": {"type": "tool", "data": message()}}, "done"),
        ({"output": {"lc": 1, "type": "constructor", "id": ["x", "ToolMessage"], "kwargs": message()}}, "done"),
        ({"output": message(content=[{"type": "text", "text": "done", "id": "lc_1"}])}, "done"),
        (
            {"output": message(content="n is 1", artifact={"structured_content": {"n": 1}})},
            {"content": [{"type": "text", "text": "n is 1"}], "structuredContent": {"n": 1}},
        ),
        ({"output": {"lg_name": "Command", "update": {"messages": [message(), message(content="x")]}}}, "done"),
        ({"output": {"content": ["own"]}}, {"content": ["own"]}),
    ],
)
def test_results_are_read_out_of_what_frameworks_put_around_them(tmp_path, outputs, result):
    [call] = loaded(tmp_path, run(outputs=outputs), strict=True)
    if isinstance(call.result, dict) and "content" in result and "structuredContent" not in result:
        assert call.result["structuredContent"] == result
    else:
        assert call.result == result
    assert not call.is_error


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (
            {"error": "ValueError('no such order')Traceback (most recent call last):\n  File …", "outputs": None},
            "no such order",
        ),
        ({"error": 'KeyError("it\'s gone")', "outputs": None}, "it's gone"),
        ({"error": "connection lost", "outputs": None}, "connection lost"),
        ({"outputs": {"output": message(content="no such order", status="error")}}, "no such order"),
        ({"outputs": {"output": "no such order"}, "status": "error"}, "no such order"),
    ],
)
def test_errors_are_read_as_what_was_said(tmp_path, ended, said):
    [call] = loaded(tmp_path, run(**ended), strict=True)
    assert (call.result, call.is_error) == (said, True)


@pytest.mark.parametrize(
    "document",
    [
        [run(2, name="two"), run(1, name="one")],
        {"runs": [run(2, name="two"), run(1, name="one")], "cursors": {}},
        {**run(3, name="chain", run_type="chain"), "child_runs": [run(2, name="two"), run(1, name="one")]},
    ],
    ids=["list", "answer to a query", "tree"],
)
def test_runs_are_found_in_whatever_holds_them_and_ordered_by_time(tmp_path, document):
    assert [call.tool for call in loaded(tmp_path, document, strict=True)] == ["one", "two"]


def test_runs_of_one_thread_are_one_episode_and_others_are_their_traces(tmp_path):
    thread = {"metadata": {"thread_id": "th"}}
    documents = [
        run(1, name="root", run_type="chain", trace_id="t1", extra=thread),
        run(2, trace_id="t1"),
        run(3, trace_id="t2", extra=json.dumps(thread)),
        run(4, trace_id="t3"),
    ]
    assert {name: len(calls) for name, calls in loaded(tmp_path, *documents).episodes.items()} == {"th": 2, "t3": 1}


def test_the_trace_of_a_run_that_does_not_say_is_its_first_ancestor(tmp_path):
    parent, first, second = str(UUID(int=1)), str(UUID(int=1)), str(UUID(int=2))
    documents = [
        run(1, run_type="chain", trace_id=None),
        run(2, run_type="chain", trace_id=None, parent_run_id=first),
        run(3, trace_id=None, parent_run_id=second),
    ]
    assert list(loaded(tmp_path, *documents).episodes) == [parent]
    looped = [run(1, trace_id=None, parent_run_id=second), run(2, name="put", trace_id=None, parent_run_id=first)]
    assert len(loaded(tmp_path, *looped)) == 2


def test_a_run_that_is_told_of_when_it_begins_and_when_it_ends_is_one_call(tmp_path):
    begun = run(outputs=None, end_time=None)
    ended = {"id": begun["id"], "run_type": "tool", "outputs": {"output": "done"}}
    [call] = loaded(tmp_path, begun, ended, strict=True)
    assert (call.arguments, call.result) == ({"a": 1}, "done")


def test_a_run_that_never_ended_is_named(tmp_path):
    recording = loaded(tmp_path, run(), run(2, outputs=None))
    assert len(recording) == 1
    [finding] = recording.findings
    assert (finding.line, finding.field) == (2, "inputs")
    assert "had not ended" in finding.message


def test_calls_that_only_the_messages_of_a_run_tell_of_are_read(tmp_path):
    calls = [{"name": "get", "args": {"a": 1}, "id": "c1", "type": "tool_call"}]
    messages = [{"type": "ai", "content": "", "tool_calls": calls}, message()]
    [call] = loaded(tmp_path, run(run_type="chain", inputs={}, outputs={"messages": messages}), strict=True)
    assert (call.tool, call.arguments, call.result) == ("get", {"a": 1}, "done")


def test_the_arguments_in_messages_are_surer_than_those_in_text(tmp_path):
    calls = [{"name": "get", "args": {"city": "paris"}, "id": "c1", "type": "tool_call"}]
    documents = [
        run(1, run_type="llm", inputs={}, outputs={"messages": [{"type": "ai", "content": "", "tool_calls": calls}]}),
        run(2, inputs={"input": "paris"}, extra={"tool_call_id": "c1"}),
    ]
    [call] = loaded(tmp_path, *documents, strict=True)
    assert (call.arguments, call.result) == ({"city": "paris"}, "done")
