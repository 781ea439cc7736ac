"""Conversations in the forms of providers and frameworks."""

import json

import pytest
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage, convert_to_openai_messages, messages_to_dict

from envace_sdk.recordings import Recording

ARGUMENTS = {"order_id": "A1", "lines": [1, 2]}


def loaded(tmp_path, *documents, indent=None, **options):
    path = tmp_path / "messages.jsonl"
    path.write_text("".join(json.dumps(document, indent=indent) + "\n" for document in documents))
    return Recording.load(path, **options)


def seen(recording):
    return [(call.tool, call.arguments, call.result, call.is_error) for call in recording]


def openai(call_id="c1", answer="done", arguments=ARGUMENTS):
    function = {"name": "get", "arguments": json.dumps(arguments)}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": call_id, "content": answer},
    ]


FORMS = {
    "openai chat": openai(),
    "openai content parts": openai(answer=[{"type": "text", "text": "done"}]),
    "openai functions": [
        {"role": "assistant", "function_call": {"name": "get", "arguments": json.dumps(ARGUMENTS)}},
        {"role": "function", "name": "get", "content": "done"},
    ],
    "openai responses": [
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "get", "arguments": json.dumps(ARGUMENTS)},
        {"type": "function_call_output", "call_id": "c1", "output": "done"},
    ],
    "anthropic": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "get", "input": ARGUMENTS}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "done"}]},
    ],
    "bedrock": [
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "get", "input": ARGUMENTS}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "done"}]}}]},
    ],
    "gemini": [
        {"role": "model", "parts": [{"functionCall": {"name": "get", "args": ARGUMENTS}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "get", "response": "done"}}]},
    ],
    "gen_ai": [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "get", "arguments": ARGUMENTS}]},
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "done"}]},
    ],
    "langchain without types": [
        {"content": "", "tool_calls": [{"name": "get", "args": ARGUMENTS, "id": "c1"}]},
        {"content": "done", "tool_call_id": "c1"},
    ],
}


@pytest.mark.parametrize("messages", FORMS.values(), ids=FORMS)
def test_calls_and_answers_are_found_in_every_form(tmp_path, messages):
    wanted = [("get", ARGUMENTS, "done", False)]
    assert seen(loaded(tmp_path, messages)) == wanted
    assert seen(loaded(tmp_path, {"request": {"messages": messages}, "model": "m"})) == wanted
    assert seen(loaded(tmp_path, {"messages": [{"role": "user", "content": "hi"}, *messages]}, indent=2)) == wanted


def test_the_messages_of_langchain_are_read_in_all_their_forms(tmp_path):
    messages = [
        HumanMessage("hi"),
        AIMessage("", tool_calls=[{"name": "get", "args": ARGUMENTS, "id": "c1"}]),
        ToolMessage("no such order", tool_call_id="c1", status="error"),
        AIMessage(
            [{"type": "tool_use", "id": "c2", "name": "get", "input": {}}],
            tool_calls=[{"name": "get", "args": ARGUMENTS, "id": "c2"}],
        ),
        ToolMessage([{"type": "text", "text": '{"n": 1}'}], tool_call_id="c2"),
    ]
    wanted = [("get", ARGUMENTS, "no such order", True), ("get", ARGUMENTS, {"n": 1}, False)]
    for dumped in (messages_to_dict(messages), [message.model_dump() for message in messages], dumpd(messages)):
        assert seen(loaded(tmp_path, dumped, strict=True)) == wanted
    told = seen(loaded(tmp_path, convert_to_openai_messages(messages)))
    assert told == [(*call[:3], False) for call in wanted]


def test_errors_are_errors_where_the_form_tells_them(tmp_path):
    messages = [
        FORMS["anthropic"][0],
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}]},
    ]
    assert seen(loaded(tmp_path, messages, strict=True)) == [("get", ARGUMENTS, "no", True)]
    assert loaded(tmp_path, messages).findings == ()
    failed = {"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "no"}]}}
    messages = [FORMS["bedrock"][0], {"role": "user", "content": [failed]}]
    assert seen(loaded(tmp_path, messages)) == [("get", ARGUMENTS, "no", True)]


def test_each_line_is_a_conversation(tmp_path):
    recording = loaded(tmp_path, {"messages": openai()}, {"messages": openai(answer="other")}, {"messages": []})
    assert [call.result for call in recording] == ["done", "other"]
    assert list(recording.episodes) == ["conversation 1", "conversation 2"]


def test_a_conversation_may_say_its_name(tmp_path):
    recording = loaded(tmp_path, {"conversation_id": "c", "messages": openai()})
    assert list(recording.episodes) == ["c"]


def test_lines_that_are_messages_are_one_conversation(tmp_path):
    recording = loaded(tmp_path, {"role": "user", "content": "hi"}, *openai(), *openai("c2", "other"))
    assert [call.result for call in recording] == ["done", "other"]
    assert len(recording.episodes) == 1


def test_a_conversation_that_was_logged_at_every_turn_is_read_once(tmp_path):
    turns = [{"messages": openai()}, {"messages": [*openai(), *openai("c2", "two")]}, {"messages": openai("d1", "own")}]
    recording = loaded(tmp_path, *turns)
    assert [[call.result for call in calls] for calls in recording.episodes.values()] == [["done", "two"], ["own"]]


def test_ids_that_a_model_gives_out_again_are_of_other_calls(tmp_path):
    messages = [*openai("call", "one", {"n": 1}), *openai("call", "two", {"n": 2}), *openai("call", "three", {"n": 2})]
    assert [call.result for call in loaded(tmp_path, messages)] == ["one", "two", "three"]


def test_calls_made_at_once_are_answered_by_id(tmp_path):
    first, second = openai("c1", "one", {"n": 1}), openai("c2", "two", {"n": 2})
    both = {"role": "assistant", "tool_calls": [*first[0]["tool_calls"], *second[0]["tool_calls"]]}
    recording = loaded(tmp_path, [both, second[1], first[1]])
    assert [(call.arguments, call.result) for call in recording] == [({"n": 1}, "one"), ({"n": 2}, "two")]


@pytest.mark.parametrize(
    ("messages", "field", "says"),
    [
        (openai()[:1], "[0].tool_calls[0].function.arguments", "result: not recorded"),
        (openai()[1:], "[0]", "the call that this answers is not there"),
        (openai(arguments=[1]), "[0].tool_calls[0].function.arguments", "get: arguments: expected an object"),
        (
            [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "get", "arguments": '{"a":'}}]}],
            "[0].tool_calls[0].function.arguments",
            "get: arguments: expected an object",
        ),
    ],
)
def test_what_is_wrong_with_a_conversation_is_named_by_its_place(tmp_path, messages, field, says):
    recording = loaded(tmp_path, messages)
    [finding] = recording.findings
    assert (finding.line, finding.field, finding.severity) == (1, field, "error")
    assert says in finding.message
    assert recording.calls == ()
