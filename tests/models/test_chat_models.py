import asyncio
import json
import sys

import pytest

from envace_sdk.errors import ModelError
from envace_sdk.models import Completion, Message, NativeCall, Request, Sampling, ScriptedModel, load_model

ASKED = Request(messages=(Message("user", "Hi"),))


def test_a_message_has_only_the_fields_that_are_set():
    assert Message("user", "Hi").as_json() == {"role": "user", "content": "Hi"}
    call = NativeCall("f", "{}", "c1")
    function = {"name": "f", "arguments": "{}"}
    assert Message("assistant", "", (call,)).as_json() == {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }
    assert Message("tool", "1", tool_call_id="c1", name="f").as_json() == {
        "role": "tool",
        "content": "1",
        "tool_call_id": "c1",
        "name": "f",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_tokens": 0},
        {"temperature": -1.0},
        {"temperature": float("inf")},
        {"temperature": float("nan")},
        {"top_p": 0.0},
        {"top_p": 1.5},
        {"stop": ("",)},
    ],
)
def test_sampling_out_of_range_is_an_error_that_names_the_field(wrong):
    with pytest.raises(ModelError, match=next(iter(wrong))):
        Sampling(**wrong)


def test_a_request_has_messages_or_tokens():
    for wrong in ({}, {"messages": (), "prompt_ids": (1,)}):
        with pytest.raises(ModelError, match="either"):
            Request(**wrong)


def test_a_script_answers_in_order_and_remembers_what_it_was_asked():
    async def run():
        async with ScriptedModel(["one", Completion("two", token_ids=(2,))]) as model:
            return await model.complete([ASKED, ASKED]), model.requests

    answers, requests = asyncio.run(run())
    assert answers == [Completion("one"), Completion("two", token_ids=(2,))]
    assert requests == [ASKED, ASKED]


def test_a_script_that_has_ended_says_so():
    with pytest.raises(ModelError, match="1 answers"):
        asyncio.run(ScriptedModel(["one"]).complete([ASKED, ASKED]))


def test_a_function_may_answer():
    model = ScriptedModel(lambda request: request.messages[0].content.upper())
    assert asyncio.run(model.complete([ASKED]))[0].text == "HI"


def test_a_script_file_holds_texts_and_whole_completions(tmp_path):
    call = {"function": {"name": "f", "arguments": "{}"}, "id": "c1", "type": "function"}
    whole = {"text": "a", "token_ids": [1], "logprobs": [-0.5], "prompt_ids": [3], "finish_reason": "length"}
    lines = ["one\u2028two", whole, {"text": "", "tool_calls": [call]}]
    file = tmp_path / "script.jsonl"
    file.write_text("\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
    model = load_model(f"scripted:{file}")
    assert asyncio.run(model.complete([ASKED] * 3)) == [
        Completion("one\u2028two"),
        Completion("a", (1,), (-0.5,), "length", (3,)),
        Completion("", tool_calls=(NativeCall("f", "{}", "c1"),)),
    ]
    assert model.name == "scripted:script.jsonl"


@pytest.mark.parametrize(
    "line",
    [
        "7",
        "{",
        '{"text": 7}',
        '{"text": "a", "logprobs": [0.5]}',
        '{"words": "a"}',
        '{"text": "a", "x": 1}',
        "[" * 99999,
    ],
)
def test_a_line_that_is_no_answer_is_named(tmp_path, line):
    file = tmp_path / "script.jsonl"
    file.write_text(f'"fine"\n{line}\n')
    with pytest.raises(ModelError, match="line 2"):
        load_model(f"scripted:{file}")


@pytest.mark.parametrize("address", ["", "llama", "magic:x", "scripted:", "transformers:"])
def test_an_address_that_is_none_is_an_error_that_names_the_forms(address):
    with pytest.raises(ModelError, match="smollm2-135m"):
        load_model(address)


def test_an_option_that_the_backend_does_not_have_is_an_error(tmp_path):
    file = tmp_path / "script.jsonl"
    file.write_text('"fine"')
    with pytest.raises(ModelError, match="temperature"):
        load_model(f"scripted:{file}", temperature=1)


def test_a_backend_that_is_not_installed_says_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "envace_sdk.models.transformers", raising=False)
    with pytest.raises(ModelError, match=r"envace-sdk\[train\]"):
        load_model("transformers:./somewhere")
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ModelError, match="vLLM is not installed"):
        load_model("vllm:./somewhere")
